//! The live loop: from a feed that is due to entries that are kept.
//!
//! Every decision is a call into `polling` or `feed`; this crate brings them what they ask for,
//! `now` included, and does what they say. It is the only one that reads the clock.
//!
//! # Layout
//! - [`Engine`]: started with a store and a fetcher, stopped without loss.
//! - `controller`: one task that owns the plan and grants requests; it prepares polls, settles their
//!   results, and concludes and records them.
//! - `worker`: one look at a feed, from a job to a result. It needs no store and no plan.
//! - `context`: the parts that all tasks share.
//! - `plan`: due feeds, domains, pace. Never waits.
//! - `spending`: the feeds under the budget and the strategy that spends it.
//! - `conclude`: what a poll's result means for the feed. Pure.
//! - `matching`: the standing queries, asked inside the transaction of each poll.
//! - `deliver`: what queries kept, handed over. `hub`: published feeds, pushed to subscribers.
//! - `errand`: requests that are not polls, in turn. `lanes`: who is served next.
//! - `indexing`: fills the index of words behind the polls.
//! - `subscriber`: feeds that a hub pushes to us.
//! - [`command`]: what people ask for (add, poll, set, …), here or in another process.

pub mod command;

mod budget;
mod chance;
mod clock;
mod conclude;
mod context;
mod controller;
mod deliver;
mod engine;
mod errand;
mod event;
mod figures;
mod hub;
mod indexing;
mod keys;
mod lanes;
mod matching;
mod network;
mod observe;
mod plan;
mod settings;
mod spending;
mod subscriber;
mod worker;

pub use budget::{BudgetRule, in_force as budget_in_force};
pub use clock::Clock;
pub use conclude::is_push_trusted;
pub use deliver::{DeliverySettings, Letters, Mail, MailSecurity, shown as shown_receiver};
pub use engine::{Engine, EngineError};
pub use event::PollAnswer;
pub use figures::Figures;
pub use hub::{Lookup, Rendered, Topics};
pub use indexing::run_once as index_once;
pub use plan::Gaps;
pub use settings::{PushSettings, Settings, Watch};
