//! What is told of a feed to those who decide: how often it posts, when, and how sure that is. It
//! learns nothing and reckons nothing.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, ModelKind};
//!
//! let mut model = ModelKind::Tide.start();
//! let hourly: Vec<Time> = (0..20).map(|h| Time::from_secs(h * 3600)).collect();
//! model.learn(&Observation::first(Time::from_secs(72_000), &hourly));
//! let Model::Tide(tide) = model else { unreachable!("asked for") };
//! assert_eq!((tide.window_max(), tide.last()), (20, Some(Time::from_secs(72_000))));
//! assert!((20.0..28.0).contains(&(tide.rate() * 86_400.0)));
//! ```

use feed::Time;

use super::{Bursts, Minutes, Tide};
use crate::model::Rates;
use crate::model::slots::Slots;

impl Tide {
    /// The mean rate, in entries per second.
    pub fn rate(&self) -> f64 {
        self.level.rate()
    }

    /// How many entries that rests on.
    pub(crate) fn n_known(&self) -> f64 {
        self.level.n_known()
    }

    pub fn last(&self) -> Option<Time> {
        self.last
    }

    pub fn window_max(&self) -> u32 {
        self.window_max
    }

    pub(crate) fn bursts(&self) -> &Bursts {
        &self.bursts
    }

    pub(crate) fn slots(&self) -> Slots<'_> {
        self.week.slots()
    }

    pub(crate) fn minutes(&self) -> &Minutes {
        &self.minutes
    }

    pub(in crate::model) fn week(&self) -> &Rates {
        &self.week
    }
}
