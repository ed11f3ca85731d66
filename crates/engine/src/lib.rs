//! The live engine: polls feeds when they are due and records what they bring.
//!
//! Every decision is a call into `polling` or `feed`. This crate reads the clock and the store for
//! them and carries the decisions out.
//!
//! # Layout
//!
//! [`Engine`] starts all tasks and stops them without loss.
//!
//! A poll: `controller` owns the plan, prepares polls, settles their results and records them.
//! `plan` knows due feeds, domains and pace. `spending` plans the feeds under the budget. `worker`
//! makes one request and reads the answer. `conclude` decides what is kept and when the feed is
//! polled next.
//!
//! Entries: `matching` asks the standing queries inside the transaction of each poll. `deliver`
//! sends what they kept. `indexing` fills the index of words.
//!
//! Other requests: `errand` gives each its turn at its domain. `hub` pushes published feeds to
//! subscribers. `subscriber` receives pushes from other hubs.
//!
//! `upkeep` drops old entries, and tries to write again after the store could not be written.
//!
//! [`command`] carries out the commands of people. `context` holds the parts that all tasks share.

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
mod upkeep;
mod worker;

pub use budget::{BudgetRule, in_force as budget_in_force};
pub use clock::Clock;
pub use conclude::is_push_trusted;
pub use deliver::MatchMessages;
pub use engine::{Engine, EngineError};
pub use errand::{Errands, PAGE_HOPS_MAX, picture_settings};
pub use event::PollAnswer;
pub use figures::Figures;
pub use hub::{Lookup, Rendered, Topics};
pub use indexing::run_once as index_once;
pub use plan::Gaps;
pub use settings::{DeliverySettings, Mail, MailSecurity, PushSettings, Settings, Watch};
