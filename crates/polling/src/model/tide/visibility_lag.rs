//! When entries become visible, which is often not when they claim to be born: a cache shows them
//! so long after their date, a generator that runs by a timer shows them all at its next tick.
//!
//! Of an entry that is found by one look and was not there at the one before, the two looks bound
//! how late it was. The last two dozen of such bounds are kept. Each rule that could explain them
//! (at once, after so many minutes, on a clock of so many minutes with some phase, or none) is
//! weighed by how many it contradicts, and the likeliest holds. Who looks often learns it to the
//! minute. It never doubts a feed of which no entry was ever late.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, ModelKind};
//! use polling::model::tide::Visibility;
//!
//! // Looked at every ten minutes; entries show up 25 minutes after their date.
//! let mut model = ModelKind::Tide.start();
//! for look in 0..700 {
//!     let at = Time::from_secs(look * 600);
//!     let dates = [Time::from_secs(look * 600 - 1500 - look * 11 % 600)];
//!     let found = if look % 7 == 0 { &dates[..] } else { &[] };
//!     model.learn(&Observation { overlap: 1, late: found, ..Observation::seen(at, found, &[at; 1][..found.len()]) });
//! }
//! let Model::Tide(tide) = &model else { panic!("another model") };
//! assert!(matches!(tide.posting_times().visibility, Visibility::After { minutes: 23..=27 }), "{:?}", tide.posting_times());
//! ```

use feed::Time;

use super::lag_bound::{CLOCKS, DAY, LagBound, log_weight};
use super::max_overlap;
use super::visibility::Visibility;

/// Bounds that are kept: enough to tell a rule, few enough to follow a feed that changes it.
pub(super) const KEPT: usize = 24;
/// Rules weighed: entries are shown at most so many minutes after their date, or on such a clock.
const MINUTES_MAX: usize = 120;
/// Of the bounds that tell nothing one in so many is kept.
const UNINFORMATIVE_KEPT: u16 = 16;
/// How usual each kind of rule is; few feeds are late, and fewer by a rule.
const AT_ONCE: f64 = 0.8;
const SELDOM: f64 = 0.1;
const AFTER: f64 = 0.02;
const ON_CLOCK: f64 = 0.02;
/// How likely an entry is that goes against its feed's rule.
const CONTRADICTED: f64 = 0.01;

/// The newest bounds, and the rule that follows from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct VisibilityLag {
    pub(super) kept: [LagBound; KEPT],
    /// How many are kept, and where the next one goes.
    pub(super) n: u8,
    pub(super) next: u8,
    pub(super) visibility: Visibility,
}

impl VisibilityLag {
    /// Entries of these dates were found at `at` and not at `last`.
    pub(super) fn learn(&mut self, dates: impl Iterator<Item = Time>, last: Time, at: Time) {
        let mut any = false;
        for date in dates {
            self.note(date, last, at);
            any = true;
        }
        if any {
            self.recompute();
        }
    }

    fn note(&mut self, date: Time, last: Time, at: Time) {
        let bound = LagBound::of(date, last, at);
        // Who looks right after every tick finds no entry late. What the rule and at once explain
        // alike must not push out what told them apart, or only slowly: rules may end.
        let uninformative =
            self.visibility.is_rule() && bound.after == 0 && bound.allows(self.visibility);
        if uninformative && !bound.born.is_multiple_of(UNINFORMATIVE_KEPT) {
            return;
        }
        self.kept[usize::from(self.next) % KEPT] = bound;
        self.next = (self.next + 1) % KEPT as u8;
        self.n = (self.n + 1).min(KEPT as u8);
    }

    /// Draws the rule from the bounds.
    pub(super) fn recompute(&mut self) {
        let bounds = &self.kept[..usize::from(self.n).min(KEPT)];
        let any_late = bounds.iter().any(|bound| bound.after > 0);
        self.visibility = if any_late { likeliest(bounds) } else { Visibility::AtOnce };
    }
}

fn likeliest(bounds: &[LagBound]) -> Visibility {
    // Beside no rule at all: what speaks for a rule that allows a bound, or else against it.
    let against = -log_weight(CONTRADICTED);
    let mut weights = [0; KEPT];
    for (weight, bound) in weights.iter_mut().zip(bounds) {
        *weight = bound.weight() + against;
    }
    let weighed = || bounds.iter().zip(weights);
    let doubt = bounds.len() as i32 * against;
    let mut best = (log_weight(SELDOM), Visibility::Irregular);
    let mut weigh = |log_weight: i32, agree: i32, shown: Visibility| {
        if log_weight + agree - doubt > best.0 {
            best = (log_weight + agree - doubt, shown);
        }
    };
    let allow =
        |shown: Visibility| weighed().filter(|(b, _)| b.allows(shown)).map(|(_, w)| w).sum();
    weigh(log_weight(AT_ONCE), allow(Visibility::AtOnce), Visibility::AtOnce);
    let ranges = weighed().map(|(bound, weight)| (bound.minutes(), weight));
    let found = max_overlap::on_line::<MINUTES_MAX>(ranges);
    let rules = AFTER * found.len as f64 / MINUTES_MAX as f64;
    weigh(log_weight(rules), found.agree, Visibility::After { minutes: found.middle() as u8 });
    // A day has many minutes: it is weighed only where an hour is too short.
    let hourly = bounds.iter().all(|bound| bound.ticks(60).is_some());
    for period in CLOCKS.into_iter().filter(|period| !hourly || *period < DAY) {
        let n = usize::from(period);
        let ranges = weighed().filter_map(|(bound, weight)| Some((bound.ticks(period)?, weight)));
        let found = max_overlap::on_circle(n, ranges);
        let rules = ON_CLOCK / CLOCKS.len() as f64 * found.len as f64 / n as f64;
        let shown = Visibility::OnClock { period, minute: (found.middle() % n) as u16 };
        weigh(log_weight(rules), found.agree, shown);
    }
    best.1
}
