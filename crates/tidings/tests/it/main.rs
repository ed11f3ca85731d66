//! The program as a black box: the real binary against real servers on loopback, judged by the
//! contract alone. Nothing here knows how the program is built inside.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends where it stands")]

mod documents;
mod experiments;
mod faults;
mod hub;
mod program;
mod publisher;
mod receiver;
mod score;
mod wire;

mod adding;
mod attacks;
mod backup;
mod browser;
mod budget;
mod calls;
mod clients;
mod configuration;
mod deliveries;
mod disk;
mod faulty;
mod guard;
mod images;
mod lab;
mod log;
mod manual;
mod moves;
mod needed;
mod outage;
mod page;
mod people;
mod polite;
mod pushed;
mod queries;
mod reading;
mod replaced;
mod replay;
mod ring;
mod secrets;
mod soak;
mod started;
mod subscriptions;
mod together;
mod units;
mod websub;
mod websub_subscriber;
