//! Specifications, hints and stored state of policies.

mod clock_jump;
mod hints;
mod specs;
mod upgrade;
