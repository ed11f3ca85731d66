//! Errands: requests beside polls. The caller chooses the request and its class; this module waits
//! for a turn at the domain of each hop, follows redirects and tells the plan how each request
//! ended. It does not interpret answers, and it repeats nothing.

mod alone;
mod follow;
mod picture;
mod turn;

pub use follow::follow;
pub use picture::{Errands, PAGE_HOPS_MAX, picture_settings};
pub use turn::{PlanHandle, turn};
