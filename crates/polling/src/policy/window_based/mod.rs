//! Policies that read the interval from the window or from a parameter.

pub mod adaptive_ttl;
pub mod empirical;
pub mod fix;
pub mod fix_learned;
pub mod lru_2;
pub mod mavsync;
pub mod recording;
pub mod window_share;
