//! What the lab promises: the published examples to the second, the same figures on any number of
//! threads, and messages that name what is wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budget;
mod counted;
mod examples;
mod experiments;
mod matched;
mod parity;
mod quality;
mod reports;
mod runs;
mod shapes;
mod synth;
mod table_two;
mod traces;
mod vectors;
