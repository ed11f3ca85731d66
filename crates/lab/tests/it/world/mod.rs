//! Worlds: traces as input, synthetic populations, and the parity with live polls.

mod parity;
mod synth;
mod traces;
