//! Routes for machines that watch the program: probes and Prometheus metrics.
//!
//! - `probe`: health and readiness. `metrics`: the figures; `exposition`: their text format.
//! - `process`: figures of the operating system about this process. `machines`: of all processes.

mod exposition;
mod machines;
pub mod metrics;
pub mod probe;
mod process;
