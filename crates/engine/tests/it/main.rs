//! The live loop as a whole, over a real store and real sockets, on a clock that the test moves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod articles;
mod bulk;
mod clock;
mod deliver;
mod hub;
mod icons;
mod indexing;
mod kept_articles;
mod live;
mod mail;
mod page_kinds;
mod page_limits;
mod page_turns;
mod parity;
mod people;
mod private_feeds;
mod publisher;
mod pushes;
mod regions;
mod rules;
mod scripted;
mod site_looks;
mod stories;
mod subscriptions;
mod terminals;
