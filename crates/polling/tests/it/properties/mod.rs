//! Properties that hold for every policy, model and allocator.

mod budget;
mod learned;
pub mod policies;
