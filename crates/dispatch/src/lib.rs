//! Messages between the parts of an instance: poll jobs to workers, poll results back to the
//! controller, and the commands of people.
//!
//! It moves values and stores none of them. Losing a message loses nothing that was seen, because a
//! feed's next poll stands in the store until its result is recorded there. It decides nothing.
//!
//! # Layout
//! - [`PollJob`] and [`PollResult`]: one request of a poll, there and back.
//! - [`ErrandJob`] and [`ErrandResult`]: a request that is not a poll, there and back.
//! - [`wire`]: their versioned form in bytes. `fields`: the form of single fields.
//! - [`local()`]: the channel within one process.
//! - [`machine`]: the messages between controller and terminals on other machines.
//! - [`Bus`]: NATS, which carries them. [`frame`]: compressed messages and parts of long ones.
//! - [`RoadFigures`]: counts of this work, for operators.
//! - [`BusKey`]: a new key for a machine on the bus.
//! - [`end_at`]: places at which tests end a process.
//! - [`Stopwatch`]: the clock of grants.
//! - [`command`]: what people ask of a running instance.

pub mod command;
pub mod frame;
pub mod machine;
pub mod wire;

mod bus;
mod end_at;
mod errand;
mod fields;
mod figures;
mod job;
mod key;
mod local;
mod result;
mod stopwatch;

pub use bus::{Bus, BusCounts, BusError, BusMessage, BusReceiver, BusSettings};
pub use end_at::{END_AT_VARIABLE, EndPoint, end_at};
pub use errand::{ErrandJob, ErrandReading, ErrandRequest, ErrandResult};
pub use figures::RoadFigures;
pub use job::{GrantId, PassedDomain, PollJob, SoFar};
pub use key::BusKey;
pub use local::{JobSender, LocalForm, ResultReceiver, WorkerEnd, local};
pub use machine::{FetchTerms, LookTerms, ParseTerms};
pub use result::{FeedDescription, PollReading, PollResult, ReadDocument};
pub use stopwatch::Stopwatch;
