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
//! `plan` knows due feeds, domains and pace. `spending` plans the feeds under the budget. The crate
//! `terminal` makes one request and reads the answer. `terminals` picks a machine for each request,
//! `road` reaches those on the bus, and `grants` are the rows of requests under way. `conclude`
//! decides what is kept and when the feed is polled next.
//!
//! `fetch_book` has the settings for requests of feeds, with their secrets.
//!
//! Entries: `matching` asks the standing queries inside the transaction of each poll. `deliver`
//! sends what they kept. `indexing` fills the index of words, and `stories` finds entries that tell
//! the same; both follow the stream `behind` the polls.
//!
//! Other requests: `errand` gives each its turn at its domain. `errand_road` reaches the terminals
//! that send them. `hub` pushes published feeds to subscribers. `subscriber` receives pushes from
//! other hubs.
//!
//! `moved_in` applies marks that people bring from other readers.
//!
//! `upkeep` drops old entries, and tries to write again after the store could not be written.
//! `people` counts readers and removes feeds that nobody needs.
//!
//! [`command`] carries out the commands of people. `context` holds the parts that all tasks share.

pub mod command;

mod articles;
mod behind;
mod budget;
mod chance;
mod clock;
mod clusters;
mod conclude;
mod confirmation;
mod context;
mod controller;
mod deliver;
mod engine;
mod errand;
mod errand_road;
mod event;
mod facts;
mod fetch_book;
mod figures;
mod grants;
mod hub;
mod icons;
mod indexing;
mod keys;
mod lanes;
mod linked_site;
mod matching;
mod moved_in;
mod network;
mod observe;
mod page_room;
mod page_work;
mod people;
mod plan;
mod record_trouble;
mod road;
mod rules;
mod settings;
#[cfg(test)]
mod simulation;
mod site_looks;
mod spending;
mod stories;
mod subscriber;
mod tally;
mod tasks;
mod terminals;
mod titles;
mod upkeep;
mod web_push;

pub use budget::{BudgetRule, in_force as budget_in_force};
pub use clock::Clock;
pub use conclude::is_push_trusted;
pub use deliver::MatchMessages;
pub use engine::{Engine, EngineError, EngineMachine};
pub use errand::{Errands, PAGE_HOPS_MAX, picture_settings};
pub use event::PollAnswer;
pub use figures::Figures;
pub use grants::EarlierEpochs;
pub use hub::{Lookup, Rendered, Topics};
pub use indexing::run_once as index_once;
pub use people::calculate_figures;
pub use plan::Gaps;
pub use road::BusRoad;
pub use rules::RulesRunner;
pub use settings::{
    ArticlesSettings, DeliverySettings, Mail, MailSecurity, PeopleSettings, PushSettings, Settings,
    Watch, WeightRule,
};
pub use stories::run_once as find_stories_once;
pub use terminals::TerminalView;
pub use web_push::{PushSender, VapidKey};
