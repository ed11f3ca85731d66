//! polling
