//! Comparison with simple reference implementations on random cases.

pub mod histograms;
mod steps;
