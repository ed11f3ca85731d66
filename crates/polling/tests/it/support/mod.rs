//! Shared by the tests: vectors, and repeatable random numbers.

pub mod chance;
pub mod draws;
pub mod vectors;
