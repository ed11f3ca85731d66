//! The subscribers of our hub.

mod hub;
