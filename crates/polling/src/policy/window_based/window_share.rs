//! `window-share:S`, `window-left:N` — poll just before the window overruns, to get every entry
//! with few polls and some delay (dissertation 003, section 5.4.2).
//!
//! - share: poll when the model expects S·|W| new entries;
//! - left: poll when it expects |W| − N, so that N known entries are left.
//!
//! Any model can be used: `window-share:0.8,periodic`. Without one the rate is the window's own, λ
//! = |W|/(τ − t_start), and both are exact. They are u = S·(τ − t_start) and u = (|W| − N)·(τ −
//! t_start)/|W|.
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

/// The part of the window that may be new before a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowTarget {
    Share(Decimal),
    Left(u32),
}

impl WindowTarget {
    /// Returns the number of new entries to wait for.
    pub fn entries(self, window: usize) -> Fraction {
        match self {
            WindowTarget::Share(share) => share.fraction().times(Fraction::whole(window as i128)),
            WindowTarget::Left(left) => Fraction::whole(window as i128 - i128::from(left)),
        }
    }
}

/// Returns the interval, in milliseconds, in which `entries` come at the window's own rate.
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

/// Returns the seconds of an f64 model as whole milliseconds, capped beyond every bound.
fn millis(secs: f64) -> Fraction {
    Fraction::whole((secs * 1000.0).clamp(0.0, 1e15) as i128)
}
