//! One guarded HTTP exchange. Input: a URL and its validators. Output: the answer, or the reason
//! why there is none.
//!
//! The crate does not parse XML, schedule or pace requests, keep cookies or follow redirects: each
//! hop goes back to the caller for a grant. It never repeats a request; the next poll is the retry.
//!
//! Layout, in reading order:
//! - `settings`: every limit with its reason. `limits`: those that one exchange applies.
//! - `exchange`: the types that callers get back.
//! - `fetcher`: the GET exchange. `post`: the POST exchange. `client`: the HTTP library's settings.
//! - `place`: how many exchanges run at once.
//! - `answer`: from status line to outcome. `decode`: content encodings under a limit.
//! - `header`: dates and freshness. `link`: the hub that pushes the document. `heads`: both heads
//!   as text.
//! - `causes`: errors in plain words.
//! - `guard` and `names`: the addresses that may be reached.
//! - `tailored`: requests with headers, a login or a proxy of their own.
//! - `lease`: the number of idle connections. `tls` and `descriptors`: trust and open files.
//! - `uptime`: a clock that goes on while the machine sleeps.

mod answer;
mod causes;
mod client;
mod decode;
mod descriptors;
mod exchange;
mod fetcher;
mod guard;
mod header;
mod heads;
mod lease;
mod limits;
mod link;
mod names;
mod part;
mod place;
mod post;
mod settings;
mod tailored;
mod tls;
mod uptime;

pub use answer::LOCATION_BYTES_MAX;
pub use exchange::{Exchange, Failure, FailureKind, Fetched};
pub use feed::{ExchangeFacts, HttpVersion, Links, RetryAfter, Validators};
pub use fetcher::Fetcher;
pub use guard::is_public;
pub use header::VALIDATOR_BYTES_MAX;
pub use part::{FilePart, PartOutcome};
pub use place::ExchangePlace;
pub use post::{Parcel, Posted};
pub use settings::{Settings, SetupError};
