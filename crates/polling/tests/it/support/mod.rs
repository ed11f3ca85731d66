//! Test vectors and repeatable random numbers, shared by the tests.

pub mod chance;
pub mod draws;
pub mod vectors;
