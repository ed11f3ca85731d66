//! Messages between the parts of an instance: poll jobs to workers, poll results back to the
//! controller, and the commands of people.
//!
//! It moves values and stores none of them. Losing a message loses nothing that was seen, because a
//! feed's next poll stands in the store until its result is recorded there. It decides nothing.
//!
//! # Layout
//! - [`PollJob`] and [`PollResult`]: one request of a poll, there and back.
//! - [`wire`]: their versioned form in bytes. `fields`: the form of single fields.
//! - [`local()`]: the channel within one process.
//! - [`Stopwatch`]: the clock of grants.
//! - [`command`]: what people ask of a running instance.

pub mod command;
pub mod wire;

mod fields;
mod job;
mod local;
mod result;
mod stopwatch;

pub use job::{GrantId, PassedDomain, PollJob, SoFar};
pub use local::{JobSender, LocalForm, ResultReceiver, WorkerEnd, local};
pub use result::{FeedDescription, PollReading, PollResult, ReadDocument};
pub use stopwatch::Stopwatch;
