//! Estimators and descriptions of feeds that are not models themselves.

pub mod behaviour;
mod behaviour_words;
pub mod change_rate;
pub mod pattern;
pub mod profile;
pub mod shape;
pub mod smoothing;
