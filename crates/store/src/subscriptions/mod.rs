//! Subscriptions of accounts: which feeds an account reads, under which titles and tags, and in
//! which order. Account 0 is the person at the machine without accounts: they read every feed, with
//! the tags of the feeds.
//!
//! Nothing here adds or removes a feed: `feeds` does that.

pub(crate) mod account_tags;
pub(crate) mod limits;
pub(crate) mod readers;
pub(crate) mod rows;
pub(crate) mod scope;
