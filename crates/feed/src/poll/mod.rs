//! The vocabulary of one poll: its cause, the HTTP exchange, the failure, the hints and the
//! observation.

mod cause;
mod exchange;
mod hints;
mod observation;
mod raw;
mod trouble;

pub use cause::Cause;
pub use exchange::{ExchangeFacts, HttpVersion, Links, RetryAfter, Validators};
pub use hints::Hints;
pub use observation::{Observation, Outcome};
pub use raw::{ERROR_BYTES_MAX, RawAnswer};
pub use trouble::Trouble;
