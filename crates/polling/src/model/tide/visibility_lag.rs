//! Learns the visibility lag: the time from an entry's date until the feed shows it. A cache delays
//! entries by a constant time. A generator that runs by a timer shows them at its next tick.
//!
//! Two polls bound the lag of an entry that only the second one found. The last 24 bounds are kept.
//! Each rule (at once, after some minutes, on a clock with some period and phase, or none) is
//! scored by the bounds that it contradicts. The likeliest rule holds. Frequent polls learn the
//! rule to the minute. A feed without a late entry always counts as "at once".
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, ModelKind};
//! use polling::model::tide::Visibility;
//!
//! // Polled every ten minutes; entries become visible 25 minutes after their date.
//! let mut model = ModelKind::Tide.start();
//! for poll in 0..700 {
//!     let at = Time::from_secs(poll * 600);
//!     let dates = [Time::from_secs(poll * 600 - 1500 - poll * 11 % 600)];
//!     let found = if poll % 7 == 0 { &dates[..] } else { &[] };
//!     let new = &[at][..found.len()];
//!     let seen = Observation::seen(at, found, new).with_overlap(1);
//!     model.learn(&Observation { late: found, ..seen });
//! }
//! let Model::Tide(tide) = &model else { panic!("another model") };
//! let rule = tide.posting_times().visibility;
//! assert!(matches!(rule, Visibility::After { minutes: 23..=27 }), "{rule:?}");
//! ```

use feed::Time;

use super::lag_bound::{CLOCKS, DAY, LagBound, log_weight};
use super::max_overlap;
use super::visibility::Visibility;

/// The number of bounds that are kept: enough to identify a rule, few enough to follow a change.
pub(super) const KEPT: usize = 24;
/// The longest constant lag that is tested, in minutes.
const MINUTES_MAX: usize = 120;
/// One in this many uninformative bounds is kept.
const UNINFORMATIVE_KEPT: u16 = 16;
/// The prior probability of each kind of rule. Few feeds are late, and fewer by a rule.
const AT_ONCE: f64 = 0.8;
const IRREGULAR: f64 = 0.1;
const AFTER: f64 = 0.02;
const ON_CLOCK: f64 = 0.02;
/// The probability of an entry that contradicts its feed's rule.
const CONTRADICTED: f64 = 0.01;

/// The newest bounds, and the rule that explains them best.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct VisibilityLag {
    pub(super) kept: [LagBound; KEPT],
    /// The number of bounds, and the index of the next one.
    pub(super) n: u8,
    pub(super) next: u8,
    pub(super) visibility: Visibility,
}

impl VisibilityLag {
    /// Learns from entries of these dates that were found at `at` but not at `last`.
    pub(super) fn learn(&mut self, dates: impl Iterator<Item = Time>, last: Time, at: Time) {
        let mut any = false;
        for date in dates {
            self.add_bound(date, last, at);
            any = true;
        }
        if any {
            self.recompute();
        }
    }

    fn add_bound(&mut self, date: Time, last: Time, at: Time) {
        let bound = LagBound::of(date, last, at);
        // Polls right after every tick find no entry late. Bounds that fit both the rule and "at
        // once" must not replace the bounds that proved the rule, or only slowly: rules may end.
        let uninformative =
            self.visibility.is_rule() && bound.after == 0 && bound.allows(self.visibility);
        if uninformative && !bound.born.is_multiple_of(UNINFORMATIVE_KEPT) {
            return;
        }
        self.kept[usize::from(self.next) % KEPT] = bound;
        self.next = (self.next + 1) % KEPT as u8;
        self.n = (self.n + 1).min(KEPT as u8);
    }

    /// Recomputes the rule from the bounds.
    pub(super) fn recompute(&mut self) {
        let bounds = &self.kept[..usize::from(self.n).min(KEPT)];
        let any_late = bounds.iter().any(|bound| bound.after > 0);
        self.visibility = if any_late { likeliest(bounds) } else { Visibility::AtOnce };
    }
}

fn likeliest(bounds: &[LagBound]) -> Visibility {
    // The score of a rule relative to no rule: gain for each bound that it allows, loss for each
    // other one.
    let against = -log_weight(CONTRADICTED);
    let mut weights = [0; KEPT];
    for (weight, bound) in weights.iter_mut().zip(bounds) {
        *weight = bound.weight() + against;
    }
    let weighted = || bounds.iter().zip(weights);
    let penalty = bounds.len() as i32 * against;
    let mut best = (log_weight(IRREGULAR), Visibility::Irregular);
    let mut consider = |log_weight: i32, agree: i32, rule: Visibility| {
        if log_weight + agree - penalty > best.0 {
            best = (log_weight + agree - penalty, rule);
        }
    };
    let allow = |rule: Visibility| weighted().filter(|(b, _)| b.allows(rule)).map(|(_, w)| w).sum();
    consider(log_weight(AT_ONCE), allow(Visibility::AtOnce), Visibility::AtOnce);
    let ranges = weighted().map(|(bound, weight)| (bound.minutes(), weight));
    let found = max_overlap::on_line::<MINUTES_MAX>(ranges);
    let rules = AFTER * found.len as f64 / MINUTES_MAX as f64;
    consider(log_weight(rules), found.agree, Visibility::After { minutes: found.middle() as u8 });
    // A day has many minutes: it is tested only if some lag exceeds an hour.
    let hourly = bounds.iter().all(|bound| bound.ticks(60).is_some());
    for period in CLOCKS.into_iter().filter(|period| !hourly || *period < DAY) {
        let n = usize::from(period);
        let ranges = weighted().filter_map(|(bound, weight)| Some((bound.ticks(period)?, weight)));
        let found = max_overlap::on_circle(n, ranges);
        let rules = ON_CLOCK / CLOCKS.len() as f64 * found.len as f64 / n as f64;
        let rule = Visibility::OnClock { period, minute: (found.middle() % n) as u16 };
        consider(log_weight(rules), found.agree, rule);
    }
    best.1
}
