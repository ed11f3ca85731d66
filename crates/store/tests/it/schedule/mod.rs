//! The stored schedule.

mod due;
mod replan;
