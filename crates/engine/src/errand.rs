//! Errands: requests that are not polls. The caller chooses the request and its class. This module
//! waits for a turn at the domain of each hop, follows redirects and reports the end of each
//! request to the plan. It does not interpret answers and does not retry.

mod alone;
mod follow;
mod no_turn;
mod picture;
mod turn;

pub use follow::follow;
pub use no_turn::NoTurn;
pub use picture::{Errands, PAGE_HOPS_MAX, picture_settings};
pub use turn::{PlanHandle, turn};
