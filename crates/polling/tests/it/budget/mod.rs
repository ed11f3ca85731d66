//! The planner under a budget.

pub mod crossings;
mod offered;
mod periods;
mod restart;
pub mod running;
mod spending;
