//! Looks at feeds: one request, then parsing and identification. Input: poll jobs; output: poll
//! results. It has no storage and no schedule, and it decides nothing.
//!
//! # Layout
//! - [`look`]: one job of the controller in this process. `read` turns the body into a reading.
//! - [`errand`]: one request that is not a poll, and the results that wait for their answers.
//! - [`Acceptance`]: the rules by which a terminal on another machine sends a request or not.
//! - `outbox`: results that the controller has not confirmed yet.
//! - `standstill`: notices that the process stood still, and blames no server for it.
//! - `windows`: the bounded cache of windows.
//! - [`Terminal`]: the process that takes its jobs from the bus. `terms` are its settings.

mod acceptance;
mod errand;
mod look;
mod member;
mod outbox;
mod read;
mod standstill;
mod terms;
mod windows;

pub use acceptance::Acceptance;
#[cfg(feature = "mutants")]
pub use acceptance::BrokenRule;
pub use errand::{errand, fetched, post, posted};
pub use look::{Worker, look, run, without_panic};
pub use member::{Terminal, TerminalError, TerminalSettings};
pub use outbox::{Outbox, SendableResult};
pub use read::contained;
pub use terms::{look_terms, same_rule};
pub use windows::{RemoteWindows, WindowCache};
