//! One guarded HTTP exchange: a URL and its validators go out, what came is handed back.
//!
//! It knows no XML, holds no schedule and no pace, keeps no cookies, and follows no redirect:
//! each hop goes back to the caller for a grant. What a server has seen is never sent twice; the
//! next poll is the retry.
//!
//! Layout, in reading order: `settings` (every limit with its reason), `exchange` (what is handed
//! back), `fetcher` (the exchange itself), `post` (handing something over), `answer` (status line
//! to outcome), `decode` (content encodings under a limit), `header` (dates and freshness), `link`
//! (who pushes the document), `causes` (errors in plain words), `guard` and `names` (which
//! addresses may be reached), `lease` (how many connections may idle), `tls` and `descriptors`
//! (what the machine offers).

mod answer;
mod causes;
mod decode;
mod descriptors;
mod exchange;
mod fetcher;
mod guard;
mod header;
mod lease;
mod link;
mod names;
mod post;
mod settings;
mod tls;

pub use exchange::{
    Exchange, Facts, Failure, FailureKind, Fetched, HttpVersion, RetryAfter, Validators,
};
pub use fetcher::Fetcher;
pub use guard::is_public;
pub use link::Links;
pub use post::{Parcel, Posted};
pub use settings::{Settings, SetupError};
