//! Walks from one poll to the next, entry by entry, and updates level, rhythm and minutes. Input:
//! the new entries and when they became visible. Output: the exposure between the two polls. It
//! does not compute the resulting week.

use feed::Time;

use super::TideModel;
use super::new_entries::NewEntries;
use super::rate_change::PollGap;
use super::rhythm::WeeklyRhythm;

impl TideModel {
    /// Learns from the time since the last poll, compared with what `rate` predicts. Undated
    /// entries count for the level only.
    pub(super) fn learn_interval(
        &mut self,
        last: Time,
        new: &NewEntries<'_>,
        at: Time,
        missed: bool,
        rate: f64,
    ) -> PollGap {
        let missed = missed || new.truncated;
        let mut now = last;
        let mut gap = PollGap { secs: at.since(last).as_secs_f64(), entries: 0.0, watched: 0.0 };
        for (i, entry) in new.visible(self.lag.visibility, last, at).into_iter().enumerate() {
            let time = entry.at.clamp(now, at);
            if i == 0 && missed {
                self.skip_unwatched(now, time);
            } else {
                gap.watched += self.watch(now, time, rate);
                gap.entries += 1.0;
                self.level.count_entry();
                #[cfg(feature = "tuning")]
                self.recent.count_entry(time);
                if entry.known {
                    self.rhythm.count_entry(self.local_time(time));
                    self.minutes.count_entry(time);
                }
            }
            now = time;
        }
        gap.watched += self.watch(now, at, rate);
        #[cfg(feature = "tuning")]
        self.recent.end_interval(gap.secs, gap.entries);
        gap
    }

    /// Counts time in which every entry would have been seen. Returns its seconds of mean activity.
    fn watch(&mut self, from: Time, to: Time, rate: f64) -> f64 {
        let secs = to.since(from).as_secs_f64();
        let (from, to) = (self.local_time(from), self.local_time(to));
        let activity = self.rhythm.activity(from, to);
        self.level.decay(secs, activity);
        self.rhythm.watch(from, to, rate);
        #[cfg(feature = "tuning")]
        self.recent.pass(secs, rate * activity);
        self.minutes.decay(WeeklyRhythm::retention(secs));
        activity
    }

    /// Skips time in which entries may have been missed.
    fn skip_unwatched(&mut self, from: Time, to: Time) {
        let secs = to.since(from).as_secs_f64();
        self.level.decay(secs, 0.0);
        #[cfg(feature = "tuning")]
        self.recent.pass(secs, 0.0);
        self.rhythm.decay(secs);
        self.minutes.decay(WeeklyRhythm::retention(secs));
    }
}
