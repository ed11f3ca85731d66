//! From one look to the next, entry by entry: what was watched, what was seen, what nobody saw.
//! When entries became visible is told to it; what follows for the week is drawn elsewhere.

use feed::Time;

use super::Tide;
use super::doubt::Gap;
use super::habits::Habits;
use super::news::News;

impl Tide {
    /// The time since the last look, beside what `rate` let expect. Undated entries count for the
    /// level only.
    pub(super) fn follow(
        &mut self,
        last: Time,
        news: &News<'_>,
        at: Time,
        missed: bool,
        rate: f64,
    ) -> Gap {
        let missed = missed || news.cut;
        let mut now = last;
        let mut gap = Gap { secs: at.since(last).as_secs_f64(), entries: 0.0, watched: 0.0 };
        for (i, moment) in news.moments(self.late.shown, last, at).into_iter().enumerate() {
            let time = moment.at.clamp(now, at);
            if i == 0 && missed {
                self.forget(now, time);
            } else {
                gap.watched += self.watch(now, time, rate);
                gap.entries += 1.0;
                self.level.see();
                if moment.known {
                    self.habits.see(self.by_clock(time));
                    self.minutes.see(time);
                }
            }
            now = time;
        }
        gap.watched += self.watch(now, at, rate);
        gap
    }

    /// Time in which every entry would have been seen; answers its seconds of mean activity.
    fn watch(&mut self, from: Time, to: Time, rate: f64) -> f64 {
        let secs = to.since(from).as_secs_f64();
        let (from, to) = (self.by_clock(from), self.by_clock(to));
        let activity = self.habits.activity(from, to);
        self.level.pass(secs, activity);
        self.habits.watch(from, to, rate);
        self.minutes.fade(Habits::kept(secs));
        activity
    }

    /// Time of which nobody knows what it held.
    fn forget(&mut self, from: Time, to: Time) {
        let secs = to.since(from).as_secs_f64();
        self.level.pass(secs, 0.0);
        self.habits.pass(secs);
        self.minutes.fade(Habits::kept(secs));
    }
}
