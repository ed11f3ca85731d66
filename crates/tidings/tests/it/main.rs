//! The program as a black box: the real binary against real servers on loopback. The tests know
//! only the documented behaviour, not the inside of the program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends where it stands")]

mod browser;
mod clients;
mod commands;
mod durability;
mod fleet;
mod on_server;
mod page;
mod polling;
mod push;
mod recording;
mod support;

use support::{certificate, cut_relay, database, documents, faults, hub, needed, postgres_server};
use support::{program, publisher, receiver, relay, scene, score, served, turns, wire};
