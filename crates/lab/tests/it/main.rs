//! Tests of the lab: the published examples to the second, the same figures on any number of
//! threads, and error messages that name the fault.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod experiment;
mod run;
mod vectors;
mod world;
