//! Counts answers of the server by status class and by the time until they begin. It stores neither
//! paths nor names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use store::{Distribution, DurationHistogram};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Bounds of the histogram: from a cached page to a store query that lacks an index.
const BOUNDS: &[Duration] = &[
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

pub struct Traffic {
    answers: [AtomicU64; CLASSES.len()],
    took: DurationHistogram,
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic { answers: Default::default(), took: DurationHistogram::new(BOUNDS) }
    }
}

impl Traffic {
    pub fn answers(&self) -> [(&'static str, f64); CLASSES.len()] {
        std::array::from_fn(|at| (CLASSES[at], self.answers[at].load(Ordering::Relaxed) as f64))
    }

    pub fn took(&self) -> Distribution {
        self.took.read()
    }
}

/// Counts an answer and its time.
#[expect(clippy::disallowed_methods, reason = "measures the server; nothing is decided by it")]
pub async fn count(State(traffic): State<Arc<Traffic>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let response = next.run(request).await;
    // Statuses are 100 to 999, and we never send one above 599.
    let class = usize::from(response.status().as_u16() / 100) - 1;
    traffic.answers[class.min(CLASSES.len() - 1)].fetch_add(1, Ordering::Relaxed);
    traffic.took.note(begun.elapsed());
    response
}
