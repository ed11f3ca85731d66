//! Decides when to poll: models, policies, budgets, pace.
//!
//! Everything here is pure: time, chance and settings are arguments. This crate reads no clock,
//! does no I/O, and does not know whether it is simulated. The live engine and the lab run the same
//! code.
//!
//! # Layout
//! - [`Policy`]: the rule that turns the observations of one feed into a [`Wish`], within
//!   [`Bounds`].
//! - [`model`]: predicts how many entries a feed publishes between two times.
//! - [`Learned`]: the state of a policy for one feed; a versioned value that can be stored.
//! - [`budget`]: chooses which of the wanted polls are made now, over all feeds.
//! - [`hints`], [`backoff`], [`pace`], [`restart`]: adjust a wish afterwards, in this order.
//! - [`relevance`]: reduces observations to the relevant entries.
//! - [`outage`]: distinguishes a failure of our network from failures of feeds.
//!
//! The feature `tuning`, off by default, lets an experiment scale the constants of `tide` in its
//! process (module `tuning`, used by `crates/lab/examples/cross_validation`).
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // Entries at 0:00, 1:00, 2:00 and 3:00, first polled at 6:00: the next poll is at 7:30.
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
