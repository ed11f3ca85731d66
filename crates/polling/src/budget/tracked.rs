//! The urgency of a feed between two polls: its expected divergence and utility (Horincar, Amann
//! and Artières 2010, sections 3 and 4; source 001).
//!
//! - Div_A = sel·min(Div_est, W_s): relevant entries published since the last poll and still shown.
//! - Saturated: Div_est ≥ W_s. From then on entries are lost.
//! - U(t) = sel·∫ (x − t_k) dDiv(x) over the entries still shown: it grows until saturation.
//!
//! Weights multiply both. A feed without weight, or that no query reads, has neither. A model that
//! saw no entry counts as λ = 0.5 per 14 days (002). At zero the feed would never be polled again,
//! and its next entry never found.
//!
//! ```
//! use feed::Time;
//! use polling::budget::Tracked;
//! use polling::model::{Model, homogeneous::Homogeneous};
//!
//! let model = Model::Homogeneous(Homogeneous { rate: 2.0 });
//! let feed = Tracked { last: Some(Time::from_secs(0)), window: 10, ..Tracked::new(model) };
//! let now = feed.urgency(Time::from_secs(3));
//! assert_eq!((now.divergence, now.saturated, now.utility), (6.0, false, 9.0));
//! assert!(feed.urgency(Time::from_secs(5)).saturated);
//! ```

use feed::{Observation, Time};

use crate::model::Model;
use crate::model::homogeneous::Homogeneous;

/// The expected gain of polling a feed at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedUrgency {
    /// Relevant entries waiting in the window, weighted.
    pub divergence: f64,
    /// Entries are being lost.
    pub saturated: bool,
    /// The waiting that a poll would end, in weighted entry-seconds.
    pub utility: f64,
}

/// The state of one feed in a strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    pub model: Model,
    /// The last successful poll; a feed that was never polled is due at once.
    pub last: Option<Time>,
    /// W_s: the number of entries in its window.
    pub window: u32,
    /// Subscribers, importance, reported relevance.
    pub weight: f64,
    /// The share of its entries that any query keeps, 0 to 1.
    pub selectivity: f64,
    /// The expected bytes of one poll, for budgets that limit bytes.
    pub cost: f64,
}

/// λ of a feed whose model saw no entry, per second: half an entry in the fourteen days of the
/// paper's learning window.
pub const RATE_UNKNOWN: f64 = 0.5 / (14.0 * 86_400.0);
const UNKNOWN: &Model = &Model::Homogeneous(Homogeneous { rate: RATE_UNKNOWN });

/// The range of the value of an entry. A larger weight is a typing error. Within the range no
/// product or quotient of a strategy overflows.
const VALUES: (f64, f64) = (1e-12, 1e12);

/// The window of a feed before its first poll: the usual one of the paper's evaluation.
const WINDOW_DEFAULT: u32 = 20;

impl Tracked {
    pub const fn new(model: Model) -> Tracked {
        Tracked {
            model,
            last: None,
            window: WINDOW_DEFAULT,
            weight: 1.0,
            selectivity: 1.0,
            cost: 1.0,
        }
    }

    /// Learns from one poll. A failed one changes nothing.
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        self.model.learn(o);
        self.last = Some(o.at);
        if !o.partial && !o.window.is_empty() {
            self.window = u32::try_from(o.window.len()).unwrap_or(u32::MAX);
        }
    }

    /// Returns the value of each of its entries.
    pub fn value(&self) -> f64 {
        let value = self.weight * self.selectivity;
        if value > 0.0 && value.is_finite() { value.clamp(VALUES.0, VALUES.1) } else { 0.0 }
    }

    /// Returns the model for decisions: the learned one, unless it expects nothing, ever.
    pub fn believed(&self) -> &Model {
        if self.model.expects_nothing() { UNKNOWN } else { &self.model }
    }

    pub fn urgency(&self, now: Time) -> FeedUrgency {
        let value = self.value();
        let Some(last) = self.last else {
            // An unknown feed goes first.
            let divergence = if value > 0.0 { f64::MAX } else { 0.0 };
            return FeedUrgency { divergence, saturated: true, utility: divergence };
        };
        let model = self.believed();
        let expected = model.expect(last, now);
        let window = f64::from(self.window);
        if expected < window {
            let utility = value * model.utility(last, now);
            return FeedUrgency { divergence: value * expected, saturated: false, utility };
        }
        // Later entries only push older ones out.
        let full = model.until_expected(last, window).unwrap_or(0.0);
        let full_at = last.shifted((full * 1000.0) as i64).min(now);
        let utility = value * model.utility(last, full_at);
        FeedUrgency { divergence: value * window, saturated: true, utility }
    }
}
