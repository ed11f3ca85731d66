//! When to look: models, policies, budgets, pace.
//!
//! Everything here is pure: time, chance and settings are arguments. This crate never learns what
//! time it is, never asks whether it is simulated, and does no I/O. The live engine and the lab
//! run the same code.
//!
//! # Layout
//! - [`Policy`]: the rule that turns what was seen of one feed into a [`Wish`], within [`Bounds`].
//! - [`model`]: what a feed will do; how many entries to expect between two moments.
//! - [`Learned`]: what a policy remembers of one feed; a versioned value that can be stored.
//! - [`budget`]: which of the wanted polls are made now, over all feeds.
//! - [`hints`], [`backoff`], [`pace`], [`restart`]: what acts on a wish afterwards, in this order.
//! - [`relevance`]: observations reduced to what somebody wants.
//! - [`outage`]: tells a broken network of ours from broken feeds.
//!
//! The feature `tuning`, off by default, lets an experiment scale the constants of `tide` for its
//! process (module `tuning`): `crates/lab/examples/cross_validation`.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // Entries at 0:00, 1:00, 2:00 and 3:00, first polled at 6:00: the next look is at 7:30.
//! let policy: Policy = "mavsync".parse().unwrap();
//! let window = [0, 3600, 7200, 10_800].map(Time::from_secs);
//! let seen = Observation::first(Time::from_secs(6 * 3600), &window);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.at, Time::from_secs(7 * 3600 + 1800));
//! ```

mod bounds;
pub mod budget;
mod bytes;
mod explanation;
pub mod model;
mod numbers;
pub mod policy;
mod spec;
#[cfg(not(feature = "tuning"))]
mod tuning;
#[cfg(feature = "tuning")]
pub mod tuning;

pub mod backoff;
pub mod hints;
pub mod outage;
pub mod pace;
pub mod relevance;
pub mod restart;

pub use bounds::{Bounds, BoundsError, Limit};
pub use explanation::explain;
pub use numbers::{
    Decimal, DecimalError, DurationError, Fraction, parse_duration, spoken, written,
};
pub use policy::{Learned, Policy, PolicySpec, RuleCase, UndefinedCause, Why, Wish};
pub use spec::SpecError;
