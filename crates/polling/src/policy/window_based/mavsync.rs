//! `mavsync`, `mavsync:kappa=D` — synchronise with the feed's mean gap (dissertation 003,
//! eq. 4.9–4.11, algorithm 2).
//!
//! 1. |W_z| ≥ 2: u_W = (t_end − t_start)/(|W_z| − 1) and τ_sync = t_end + u_W + κ. If α ≤ τ_sync −
//!    τ_z ≤ β, poll at τ_sync.
//! 2. Otherwise insert a virtual entry now: u_A = (τ_z − t_start)/|W_z|, η for an empty window.
//!
//! κ is for slow servers; 0 in the lab. The code follows the algorithm exactly, even if all times
//! are equal.
//!
//! ```
//! use feed::Time;
//! use polling::{Bounds, Fraction, policy::mavsync};
//!
//! let hourly = [0, 3600, 7200].map(Time::from_secs);
//! let now = Time::from_secs(9000);
//! let sync = mavsync::sync(now, &hourly, std::time::Duration::ZERO, &Bounds::EVALUATION);
//! assert_eq!(sync, Some(Fraction::whole(10_800_000)));
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::policy::wish::Proposal;
use crate::{Bounds, Fraction, RuleCase, UndefinedCause};

/// Step 1: returns τ_sync in milliseconds since 1970, if it lies within the bounds.
pub fn sync(at: Time, window: &[Time], kappa: Duration, bounds: &Bounds) -> Option<Fraction> {
    let gaps = window.len().checked_sub(1).filter(|&n| n > 0)? as i128;
    let (start, end) = (window.first()?.millis(), window.last()?.millis());
    let (kappa, kappa_den) = Fraction::millis(kappa).parts();
    let mean_gap = Fraction::new(i128::from(end) - i128::from(start), gaps);
    let sync = mean_gap.plus(end.into()).add(Fraction::new(kappa, kappa_den));
    let wait = sync.plus(-i128::from(at.millis()));
    let allowed = Fraction::millis(bounds.alpha)..=Fraction::millis(bounds.beta);
    allowed.contains(&wait).then_some(sync)
}

/// Step 2: returns u_A in milliseconds.
pub fn virtual_interval(at: Time, window: &[Time]) -> Option<Fraction> {
    let age = at.millis_since(*window.first()?);
    Some(Fraction::new(age.into(), window.len() as i128))
}

pub(crate) fn propose(kappa: Duration, o: &Observation<'_>, bounds: &Bounds) -> Proposal {
    let n = o.window.len() as u32;
    if let (Some(sync), Some((start, end))) = (sync(o.at, o.window, kappa, bounds), o.span()) {
        let gap = end.since(start) / n.saturating_sub(1).max(1);
        return Proposal::At(sync, RuleCase::MavSync { n, gap });
    }
    match virtual_interval(o.at, o.window) {
        Some(u) => Proposal::After(u, RuleCase::MavSyncVirtual { n, gap: u.duration() }),
        None => Proposal::Undefined(UndefinedCause::TooFew),
    }
}
