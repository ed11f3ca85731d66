//! The subscribers of our hub, and our subscriptions at clouds.

mod clouds;
mod hub;
