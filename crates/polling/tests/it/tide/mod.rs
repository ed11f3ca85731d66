//! The policy, model and strategy `tide`.

pub mod behaviour;
mod budget;
mod change;
mod daylight_saving;
mod days;
mod steady;
mod visibility_lag;
