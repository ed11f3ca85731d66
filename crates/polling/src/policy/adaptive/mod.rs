//! Policies whose interval grows while nothing changes and shrinks after a change.

pub mod adaptive_fetch;
pub mod advarss;
pub mod advarss_hybrid;
