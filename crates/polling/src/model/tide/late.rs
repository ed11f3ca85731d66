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
//! use feed::{Observation, Outcome, Time};
//! use polling::model::{Model, ModelKind};
//! use polling::model::tide::Shown;
//!
//! // Looked at every ten minutes; entries show up 25 minutes after their date.
//! let mut model = ModelKind::Tide.start();
//! for look in 0..700 {
//!     let at = Time::from_secs(look * 600);
//!     let dates = [Time::from_secs(look * 600 - 1500 - look * 11 % 600)];
//!     let found = if look % 7 == 0 { &dates[..] } else { &[] };
//!     model.learn(&Observation {
//!         at, outcome: Outcome::Seen, window: found, new: &[at; 1][..found.len()],
//!         overlap: 1, suspected_miss: false, partial: false, late: found,
//!     });
//! }
//! let Model::Tide(tide) = &model else { panic!("another model") };
//! assert!(matches!(tide.busy().shown, Shown::After { minutes: 23..=27 }), "{:?}", tide.busy());
//! ```

use feed::Time;

use super::shown::Shown;
use super::votes;

/// Bounds that are kept: enough to tell a rule, few enough to follow a feed that changes it.
pub(super) const KEPT: usize = 24;
/// Bounds are kept in units of ten seconds.
const UNIT_MS: i64 = 10_000;
const UNITS_IN_MINUTE: u16 = 6;
pub(super) const UNITS_IN_HOUR: u16 = 60 * UNITS_IN_MINUTE;
const HOUR_MS: i64 = 3_600_000;
/// Rules weighed: entries are shown at most so many minutes after their date, or on such a clock.
const MINUTES_MAX: usize = 120;
const PERIODS: [u8; 5] = [60, 30, 20, 15, 10];
/// Of the bounds that tell nothing one in so many is kept.
const UNTOLD_KEPT: u16 = 16;
/// How usual each kind of rule is; few feeds are late, and fewer by a rule.
const AT_ONCE: f64 = 0.8;
const SELDOM: f64 = 0.1;
const AFTER: f64 = 0.02;
const ON_CLOCK: f64 = 0.02;
/// How likely an entry is that goes against its feed's rule.
const CONTRADICTED: f64 = 0.01;
/// Weights are logarithms, in whole parts of this: sums are exact, and so equal ones are equal.
const WEIGHT_UNIT: f64 = 256.0;
/// No bound is less likely than this without a rule.
const SHARE_MIN: f64 = 0.02;
const DAY_MINUTES: f64 = 1440.0;

/// One entry: when it claims to be born, and how late it was: more than `after`, at most `by`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    /// Since the hour's beginning.
    pub(super) born: u16,
    /// Zero where it may have been visible at once.
    pub(super) after: u16,
    pub(super) by: u16,
}

/// The newest bounds, and the rule that follows from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Late {
    pub(super) kept: [Bound; KEPT],
    /// How many are kept, and where the next one goes.
    pub(super) n: u8,
    pub(super) next: u8,
    pub(super) shown: Shown,
}

fn units(ms: i64) -> u16 {
    u16::try_from((ms / UNIT_MS).max(0)).unwrap_or(u16::MAX)
}

impl Late {
    /// Entries of these dates were found at `at` and not at `last`.
    pub(super) fn learn(&mut self, dates: impl Iterator<Item = Time>, last: Time, at: Time) {
        let mut any = false;
        for date in dates {
            self.note(date, last, at);
            any = true;
        }
        if any {
            self.settle();
        }
    }

    fn note(&mut self, date: Time, last: Time, at: Time) {
        let unseen_ms = last.millis_since(date);
        let after = if unseen_ms > 0 { units(unseen_ms).max(1) } else { 0 };
        let by = units(at.millis_since(date)).max(after);
        let born = units(date.millis().rem_euclid(HOUR_MS));
        let bound = Bound { born, after, by };
        // Who looks right after every tick finds no entry late. What the rule and at once explain
        // alike must not push out what told them apart, or only slowly: rules may end.
        let untold = self.shown.is_rule() && after == 0 && bound.allows(self.shown);
        if untold && !born.is_multiple_of(UNTOLD_KEPT) {
            return;
        }
        self.kept[usize::from(self.next) % KEPT] = bound;
        self.next = (self.next + 1) % KEPT as u8;
        self.n = (self.n + 1).min(KEPT as u8);
    }

    /// Draws the rule from the bounds.
    pub(super) fn settle(&mut self) {
        let bounds = &self.kept[..usize::from(self.n).min(KEPT)];
        let any_late = bounds.iter().any(|bound| bound.after > 0);
        self.shown = if any_late { likeliest(bounds) } else { Shown::AtOnce };
    }
}

fn likeliest(bounds: &[Bound]) -> Shown {
    // Beside no rule at all: what speaks for a rule that allows a bound, or else against it.
    let against = (-CONTRADICTED.ln() * WEIGHT_UNIT) as i32;
    let weighed = || bounds.iter().map(|bound| (bound, bound.weight() + against));
    let doubt = bounds.len() as i32 * against;
    let mut best = (usual(SELDOM), Shown::Unruly);
    let mut weigh = |usual: i32, agree: i32, shown: Shown| {
        if usual + agree - doubt > best.0 {
            best = (usual + agree - doubt, shown);
        }
    };
    let allow = |shown: Shown| weighed().filter(|(b, _)| b.allows(shown)).map(|(_, w)| w).sum();
    weigh(usual(AT_ONCE), allow(Shown::AtOnce), Shown::AtOnce);
    let ranges = weighed().map(|(bound, weight)| (bound.minutes(), weight));
    let found = votes::on_line::<MINUTES_MAX>(ranges);
    let rules = AFTER * found.len as f64 / MINUTES_MAX as f64;
    weigh(usual(rules), found.agree, Shown::After { minutes: found.middle() as u8 });
    for period in PERIODS {
        let n = usize::from(period);
        let ranges = weighed().filter_map(|(bound, weight)| Some((bound.ticks(period)?, weight)));
        let found = votes::on_circle(n, ranges);
        let rules = ON_CLOCK / PERIODS.len() as f64 * found.len as f64 / n as f64;
        let shown = Shown::OnClock { period, minute: (found.middle() % n) as u8 };
        weigh(usual(rules), found.agree, shown);
    }
    best.1
}

/// A probability as a weight.
fn usual(probability: f64) -> i32 {
    (probability.ln() * WEIGHT_UNIT) as i32
}

impl Bound {
    /// How unlikely it is where there is no rule, and any lateness up to a day as likely as one
    /// twice as long.
    fn weight(&self) -> i32 {
        let share = |units: u16| {
            (f64::from(units) / f64::from(UNITS_IN_MINUTE)).ln_1p() / DAY_MINUTES.ln_1p()
        };
        -usual((share(self.by) - share(self.after)).clamp(SHARE_MIN, 1.0))
    }

    /// The whole minutes that it may have been late, first and last, half a minute more or less.
    fn minutes(&self) -> (usize, usize) {
        let half = UNITS_IN_MINUTE / 2;
        let first = self.after.saturating_sub(half).div_ceil(UNITS_IN_MINUTE);
        let last = self.by.saturating_add(half) / UNITS_IN_MINUTE;
        (usize::from(first), usize::from(last))
    }

    /// Whether an entry that is shown by this rule could have been found so.
    fn allows(&self, shown: Shown) -> bool {
        match shown {
            Shown::AtOnce => self.after == 0,
            Shown::Unruly => true,
            Shown::After { minutes } => {
                let (first, last) = self.minutes();
                (first..=last).contains(&usize::from(minutes))
            }
            Shown::OnClock { period, minute } => {
                let (n, minute) = (usize::from(period), usize::from(minute));
                self.ticks(period).is_some_and(|(first, last)| {
                    // The first tick of that clock from the first minute on.
                    first + (minute + n - first % n) % n <= last
                })
            }
        }
    }

    /// The minutes past the hour, first and last, in which the next tick of such a clock may lie;
    /// `None` where it was later than the next tick.
    fn ticks(&self, period: u8) -> Option<(usize, usize)> {
        let by = self.by.min(u16::from(period) * UNITS_IN_MINUTE);
        let minute = |late: u16| usize::from((self.born + late) / UNITS_IN_MINUTE);
        (self.after <= by).then(|| (minute(self.after), minute(by)))
    }
}
