//! WebSub in both directions: our subscriptions at other hubs with the pushes that they send, and
//! the subscribers of our own hub.
//!
//! Nothing here sends a request, checks a signature or parses a document.

pub(crate) mod clouds;
pub(crate) mod hub;
pub(crate) mod hub_requests;
pub(crate) mod inbox;
pub(crate) mod subscriptions;
