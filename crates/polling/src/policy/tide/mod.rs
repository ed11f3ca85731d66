//! `tide`, `tide:PRICE`, `tide:PRICE,MISS` — poll when waiting longer would cost more than a poll
//! is worth.
//!
//! Entries are expected at the rate λ(s). A poll at t after one at t₀ ends the waiting of W(t₀, t)
//! = ∫ (t − s)·λ(s) ds entry-seconds. The price is the waiting that one poll is worth. The policy
//! plans the polls that minimise waiting plus price over the time ahead, and wishes for the first
//! one ([`lookahead`]). For a constant rate that is W = price, the square-root allocation of the
//! minimal-delay paper (source 002, theorem 1); for a rhythm it satisfies theorem 3. One price for
//! all feeds minimises the total. λ comes from [`crate::model::tide`].
//!
//! An entry that a window loses costs as much as one that waits for two years, or as the operator
//! says (`tide:30m,365d`). Busy feeds are therefore polled long before their windows are full.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "tide:55m".parse().unwrap();
//! let hourly: Vec<Time> = (0..200).map(|h| Time::from_secs(h * 3600)).collect();
//! let seen = Observation::first(Time::from_secs(720_000), &hourly);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! // A timer posts on every hour: the poll comes a minute after the next one.
//! assert_eq!(wish.at.since(seen.at).as_secs(), 3660);
//! ```

mod cheapest;
mod lookahead;
mod overrun;
mod rate_ahead;

use std::time::Duration;

use feed::{Observation, Time};

use crate::model::Model;
use crate::model::tide::PostingTimes;
use crate::policy::wish::Proposal;
use crate::tuning::{Constant, tuned};
use crate::{Fraction, RuleCase, UndefinedCause};
use lookahead::Lookahead;
pub(crate) use lookahead::PlannedPoll;
use overrun::OverrunRisk;

/// The default price. It polls a feed with one entry a day every five hours, and one with an entry
/// in two months every one and a half days.
pub const PRICE: Duration = Duration::from_secs(1800);
/// The default price of a lost entry: two years of waiting.
pub const MISS: Duration = Duration::from_secs(730 * 86_400);

/// The smallest price, in entry-seconds. If only bytes cost something, a poll of an empty document
/// is free, but a price of zero has no horizon.
const PRICE_MIN: f64 = 1e-30;

pub(crate) fn propose(
    price: Duration,
    miss: Duration,
    model: &Model,
    o: &Observation<'_>,
) -> Proposal {
    let (window, posting) = match model {
        Model::Tide(tide) if tide.last().is_none() => {
            return Proposal::Undefined(UndefinedCause::NotSeen);
        }
        Model::Tide(tide) => (tide.window_max(), tide.posting_times()),
        // Other models have no posting times.
        _ => (u32::try_from(o.window.len()).unwrap_or(u32::MAX), PostingTimes::UNKNOWN),
    };
    let Some(poll) = next_poll(model, window, miss, o.at, price.as_secs_f64()) else {
        return Proposal::Undefined(UndefinedCause::ZeroModel);
    };
    let case =
        RuleCase::Tide { expected: poll.expected as f32, waited: poll.waited(), price, posting };
    Proposal::After(Fraction::whole((poll.after_secs * 1000.0) as i128), case)
}

/// Returns the next poll after one at `last` that is worth `price` entry-seconds. `window` is the
/// number of entries shown, and `miss` the cost of losing one. `None` if the model expects nothing,
/// ever.
pub(crate) fn next_poll(
    model: &Model,
    window: u32,
    miss: Duration,
    last: Time,
    price: f64,
) -> Option<PlannedPoll> {
    let repeating_rate = model.repeating_rate()?;
    let price = price.max(PRICE_MIN);
    let miss = tuned(Constant::Miss, miss.as_secs_f64());
    let window = OverrunRisk::new(model, window, miss);
    Some(Lookahead::new(&repeating_rate, last, price, window).first_poll())
}
