//! The model of `tide`: λ(s) = level · hour of the day · weekday · minute of the hour, each with as
//! much belief in the feed's own history as there is history, and in what feeds are like where
//! there is little.
//!
//! - [`Level`]: entries over time watched, forgotten slowly; a Gamma–Poisson rate.
//! - [`Habits`]: how busy each hour and weekday is beside the mean, learned as entries seen over
//!   entries expected there, so that a window of half a day does not tell a rhythm of the week.
//! - [`Minutes`]: at which minutes of the hour timers post. What is expected between two moments
//!   leaves them out; the policy, that chooses the moment, does not.
//!
//! What counts is when an entry became visible. Feeds that show entries late are known by entries
//! that a look did not find though they claim to be older ([`late`]); entries without a date are
//! laid where they are expected ([`undated`]), for the looks themselves must not become a habit.
//! Hours are those of the feed's own clock, where that is set twice a year ([`clock`]). A feed that
//! changed is unlearned as fast as the evidence allows ([`doubt`], [`turned`]). How fast windows
//! fill is kept beside them ([`bursts`]).
//! Where a window was overrun, nobody watched between the last look and its oldest entry. The
//! model has no wish and no price.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! let mut model = ModelKind::Tide.start();
//! // Every day at ten, for twenty days.
//! let daily: Vec<Time> = (0..20).map(|d| Time::from_secs(d * 86_400 + 36_000)).collect();
//! let at = Time::from_secs(20 * 86_400);
//! model.learn(&Observation::first(at, &daily));
//! let hour = |h: i64| model.expect(at.shifted(h * 3_600_000), at.shifted((h + 1) * 3_600_000));
//! assert!(hour(10) > 8.0 * hour(3));
//! ```

mod bound;
mod bursts;
mod busy;
mod clock;
mod doubt;
mod first;
mod follow;
mod habits;
mod halves;
mod late;
mod level;
mod minutes;
mod mixture;
mod news;
mod shapes;
mod shown;
mod stored;
mod told;
mod turned;
mod undated;
mod votes;

use feed::{Observation, Time};

pub(crate) use bursts::{Bursts, WINDOW_MIN};
pub use busy::{Busy, Weekdays};
use clock::Clock;
use doubt::Doubt;
use habits::Habits;
use late::Late;
use level::Level;
pub(crate) use minutes::Minutes;
use news::News;
pub use shown::Shown;
pub(super) use stored::Layout;
use turned::Turned;

use super::Rates;

const HOUR_SECS: f64 = 3600.0;
const WEEK_HOURS: usize = 168;
/// Hours further back than four weeks are not told apart: they weigh little, and a feed that
/// shows entries of years would cost years of hours.
const APART_SECS: f64 = 28.0 * 86_400.0;
/// Of a flood only the newest entries are looked at: no window that people write is longer.
const FLOOD: usize = 512;

/// What was learned of one feed, and the week that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tide {
    last: Option<Time>,
    /// The longest window seen: how many entries fit before one is missed.
    window_max: u32,
    level: Level,
    habits: Habits,
    minutes: Minutes,
    late: Late,
    clock: Clock,
    doubt: Doubt,
    turned: Turned,
    bursts: Bursts,
    /// Entries per second in each hour of the week, from the epoch's Thursday on.
    week: Rates,
}

impl Default for Tide {
    fn default() -> Tide {
        let week = Rates { hours: vec![0.0; WEEK_HOURS], zone_secs: 0 };
        let (last, window_max, bursts) = Default::default();
        let (level, habits, minutes, late, clock, doubt, turned) = Default::default();
        let mut tide = Tide {
            last,
            window_max,
            level,
            habits,
            minutes,
            late,
            clock,
            doubt,
            turned,
            bursts,
            week,
        };
        tide.settle();
        tide
    }
}

impl Tide {
    /// Takes in one poll. What was not answered teaches nothing.
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        if self.last.is_some_and(|last| o.at < last) {
            // A clock that was set back has watched nothing; the next gap begins here.
            self.last = Some(o.at);
            self.clock.turn(o.at);
            return self.settle();
        }
        if !o.partial {
            self.window_max =
                self.window_max.max(u32::try_from(o.window.len()).unwrap_or(u32::MAX));
        }
        self.clock.turn(o.at);
        self.notice_burst(o);
        match (self.last, o.window.split_first()) {
            (Some(last), _) => {
                let news = News::new(o.new, o.late, o.at);
                self.late.learn(news.dates(), last, o.at);
                self.set_clock(&news, o.at);
                self.ask_hours(&news, last, o.at);
                let rate = self.level.rate();
                let gap = self.follow(last, &news, o.at, o.suspected_miss, rate);
                self.doubt.look(gap, rate);
                if !self.turned.is_doubted() {
                    self.doubt.changed().into_iter().for_each(|since| self.level.renew(since));
                }
                self.lay(news.n_undated, last, o.at);
            }
            (None, Some((oldest, rest))) if *oldest < o.at => self.begin(*oldest, rest, o.at),
            // Without dates a first window says only how many entries fit.
            (None, _) => {}
        }
        self.last = Some(o.at);
        self.settle();
    }

    /// Draws from what was counted what is to be expected.
    fn settle(&mut self) {
        self.habits.settle();
        self.minutes.settle(self.late.shown);
        self.habits.factors.lay(self.level.rate(), &mut self.week.hours);
        // They are those of the feed's clock.
        self.week.hours.rotate_left(self.clock.ahead);
    }
}
