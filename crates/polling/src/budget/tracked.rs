//! How a feed stands between two polls: its expected divergence and utility (Horincar, Amann and
//! Artières 2010, sections 3 and 4; source 001).
//!
//! - Div_A = sel·min(Div_est, W_s): relevant entries published since the last poll and still shown.
//! - Saturated: Div_est ≥ W_s. From then on entries are lost.
//! - U(t) = sel·∫ (x − t_k) dDiv(x) over the entries still shown: it grows until saturation.
//!
//! Weights multiply both. A feed that feeds no query, or weighs nothing, has nothing to offer. A
//! model that saw no entry counts as λ = 0.5 per 14 days (002): at zero it would never be looked
//! at again, and so never learn that the feed woke up.
//!
//! ```
//! use feed::Time;
//! use polling::budget::Tracked;
//! use polling::model::{Model, homogeneous::Homogeneous};
//!
//! let model = Model::Homogeneous(Homogeneous { rate: 2.0 });
//! let feed = Tracked { last: Some(Time::from_secs(0)), window: 10, ..Tracked::new(model) };
//! let now = feed.standing(Time::from_secs(3));
//! assert_eq!((now.divergence, now.saturated, now.utility), (6.0, false, 9.0));
//! assert!(feed.standing(Time::from_secs(5)).saturated);
//! ```

use feed::{Observation, Time};

use crate::model::Model;
use crate::model::homogeneous::Homogeneous;

/// Where a feed stands at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedUrgency {
    /// Relevant entries waiting in the window, weighted.
    pub divergence: f64,
    /// Entries are being lost.
    pub saturated: bool,
    /// The waiting that a look would end, in weighted entry-seconds.
    pub utility: f64,
}

/// A feed as a strategy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    pub model: Model,
    /// The last poll that succeeded; a feed never polled is due at once.
    pub last: Option<Time>,
    /// W_s: how many entries its window shows.
    pub window: u32,
    /// Subscribers, importance, relevance reported back.
    pub weight: f64,
    /// The share of its entries that any query keeps, 0 to 1.
    pub selectivity: f64,
    /// The bytes that one poll is expected to cost; they count where the budget limits bytes.
    pub cost: f64,
}

/// λ of a feed without entries in what its model learned from, per second: half an entry in the
/// fourteen days of the paper's learning window.
pub const RATE_UNKNOWN: f64 = 0.5 / (14.0 * 86_400.0);
const UNKNOWN: &Model = &Model::Homogeneous(Homogeneous { rate: RATE_UNKNOWN });

/// What an entry may count where it counts at all. A weight beyond is a slip of the keyboard; no
/// product or quotient of a strategy leaves the numbers within.
const VALUES: (f64, f64) = (1e-12, 1e12);

/// Where nothing was seen yet; the usual window of the paper's evaluation.
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

    /// Takes in one poll. A failed one leaves everything as it was.
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

    /// What each of its entries counts.
    pub fn value(&self) -> f64 {
        let value = self.weight * self.selectivity;
        if value > 0.0 && value.is_finite() { value.clamp(VALUES.0, VALUES.1) } else { 0.0 }
    }

    /// The model that decisions are made on: the learned one, unless it expects nothing, ever.
    pub fn believed(&self) -> &Model {
        if self.model.expects_nothing() { UNKNOWN } else { &self.model }
    }

    pub fn standing(&self, now: Time) -> FeedUrgency {
        let value = self.value();
        let Some(last) = self.last else {
            // Nothing is known: it goes before everything else.
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
        // What is published from then on only pushes older entries out.
        let full = model.until_expected(last, window).unwrap_or(0.0);
        let full_at = last.shifted((full * 1000.0) as i64).min(now);
        let utility = value * model.utility(last, full_at);
        FeedUrgency { divergence: value * window, saturated: true, utility }
    }
}
