//! From one look to the next, entry by entry: what was watched, what was seen, what nobody saw.
//! When entries became visible is told to it; what follows for the week is drawn elsewhere.

use feed::Time;

use super::TideModel;
use super::new_entries::NewEntries;
use super::rate_change::PollGap;
use super::rhythm::WeeklyRhythm;

impl TideModel {
    /// The time since the last look, beside what `rate` let expect. Undated entries count for the
    /// level only.
    pub(super) fn learn_interval(
        &mut self,
        last: Time,
        new: &NewEntries<'_>,
        at: Time,
        missed: bool,
        rate: f64,
    ) -> PollGap {
        let missed = missed || new.cut;
        let mut now = last;
        let mut gap = PollGap { secs: at.since(last).as_secs_f64(), entries: 0.0, watched: 0.0 };
        for (i, entry) in new.visible(self.lag.visibility, last, at).into_iter().enumerate() {
            let time = entry.at.clamp(now, at);
            if i == 0 && missed {
                self.forget(now, time);
            } else {
                gap.watched += self.watch(now, time, rate);
                gap.entries += 1.0;
                self.level.count_entry();
                if entry.known {
                    self.rhythm.count_entry(self.local_time(time));
                    self.minutes.count_entry(time);
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
        let (from, to) = (self.local_time(from), self.local_time(to));
        let activity = self.rhythm.activity(from, to);
        self.level.decay(secs, activity);
        self.rhythm.watch(from, to, rate);
        self.minutes.decay(WeeklyRhythm::retention(secs));
        activity
    }

    /// Time of which nobody knows what it held.
    fn forget(&mut self, from: Time, to: Time) {
        let secs = to.since(from).as_secs_f64();
        self.level.decay(secs, 0.0);
        self.rhythm.decay(secs);
        self.minutes.decay(WeeklyRhythm::retention(secs));
    }
}
