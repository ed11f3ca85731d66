//! `window-share:S`, `window-left:N` — just before the window overruns, for those who want
//! everything with few polls and do not mind delay (dissertation 003, section 5.4.2).
//!
//! - share: look when the model expects S·|W| new entries;
//! - left: look when it expects |W| − N, so that N known entries are left.
//!
//! On any model: `window-share:0.8,periodic`. Without one the rate is the window's own,
//! λ = |W|/(τ − t_start), and both are exact: u = S·(τ − t_start), u = (|W| − N)·(τ − t_start)/|W|.
//!
//! ```
//! use feed::Time;
//! use polling::{Fraction, policy::window_share};
//!
//! let window = [0, 50].map(Time::from_secs);
//! let u = window_share::interval(Time::from_secs(100), &window, Fraction::new(8, 5));
//! assert_eq!(u, Some(Fraction::whole(80_000)));
//! ```

use feed::{Observation, Time};

use crate::model::Model;
use crate::model::homogeneous::Homogeneous;
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, RuleCase, UndefinedCause};

/// How much of the window may be new before we look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowTarget {
    Share(Decimal),
    Left(u32),
}

impl WindowTarget {
    /// The new entries to wait for.
    pub fn entries(self, window: usize) -> Fraction {
        match self {
            WindowTarget::Share(share) => share.fraction().times(Fraction::whole(window as i128)),
            WindowTarget::Left(left) => Fraction::whole(window as i128 - i128::from(left)),
        }
    }
}

/// The interval, in milliseconds, in which `entries` come at the window's own rate.
pub fn interval(at: Time, window: &[Time], entries: Fraction) -> Option<Fraction> {
    let age = at.millis_since(*window.first()?);
    let per_entry = Fraction::new(age.into(), window.len() as i128);
    (age > 0).then(|| per_entry.times(entries))
}

pub(crate) fn propose(room: WindowTarget, model: &Model, o: &Observation<'_>) -> Proposal {
    let n = o.window.len() as u32;
    if n == 0 {
        return Proposal::Undefined(UndefinedCause::TooFew);
    }
    let entries = room.entries(o.window.len());
    let interval = match model {
        Model::Homogeneous(Homogeneous { .. }) => interval(o.at, o.window, entries),
        model => model.until_expected(o.at, entries.to_f64()).map(millis),
    };
    match interval {
        Some(u) => {
            Proposal::After(u, RuleCase::WindowRoom { n, wait_for: entries.to_f64() as f32 })
        }
        None => Proposal::Undefined(UndefinedCause::ZeroModel),
    }
}

/// Seconds of an f64 model as whole milliseconds; longer than any bound is as good as for ever.
fn millis(secs: f64) -> Fraction {
    Fraction::whole((secs * 1000.0).clamp(0.0, 1e15) as i128)
}
