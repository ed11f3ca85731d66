//! The program as a black box: the real binary against real servers on loopback. The tests know
//! only the documented behaviour, not the inside of the program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends where it stands")]

mod browser;
mod clients;
mod commands;
mod durability;
mod page;
mod polling;
mod push;
mod support;

use support::{documents, faults, hub, needed, program, publisher, receiver, score, wire};
