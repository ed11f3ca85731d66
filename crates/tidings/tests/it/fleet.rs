//! An instance on several machines: controllers, terminals, a bus and a database. Each is a process
//! with a relay in between, or in a network namespace. Everything is killed, stopped and cut apart,
//! at random moments and at named ones.

mod bus_server;
mod ended;
mod entry_reader;
mod machines;
mod member;
mod network;
mod polite;
