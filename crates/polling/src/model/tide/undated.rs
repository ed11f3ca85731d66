//! Entries without a date, of which two looks say only that they came between them: they are laid
//! where the model expects them, in shares over the hours, weekdays and minutes between the looks.
//!
//! This is one step of expectation maximisation for each poll. Spread evenly instead, a night that
//! lies between two looks would get its share of what came before and after it. Looks that come at
//! other hours every day tell the hours apart. It counts no entry: the level does.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // Every day at ten, without a date; looked at every seven hours.
//! let mut model = ModelKind::Tide.start();
//! let n_by = |secs: i64| (secs - 36_000).div_euclid(86_400);
//! for look in 0..400 {
//!     let (last, at) = ((look - 1) * 25_200, look * 25_200);
//!     let new = vec![Time::from_secs(at); (n_by(at) - n_by(last)) as usize];
//!     model.learn(&Observation::first(Time::from_secs(at), &new).with_overlap(1));
//! }
//! let hour = |h: i64| {
//!     let day = Time::from_secs(200 * 86_400);
//!     model.expect(day.shifted(h * 3_600_000), day.shifted((h + 1) * 3_600_000))
//! };
//! assert!(hour(9) > 4.0 * hour(2), "{} {}", hour(9), hour(2));
//! ```

use feed::Time;

use super::{APART_SECS, HOUR_SECS, TideModel, WEEK_HOURS};

const HOUR_MS: i64 = 3_600_000;

/// What lies between two looks of one hour, in seconds from its beginning.
#[derive(Clone, Copy)]
struct HourPart {
    /// Of the week, from the epoch's Thursday on.
    hour: usize,
    from: f64,
    to: f64,
}

fn parts(last: Time, at: Time) -> impl Iterator<Item = HourPart> {
    let first = last.max(at.shifted(-(APART_SECS as i64) * 1000)).millis();
    let hours = first.div_euclid(HOUR_MS)..=at.millis().div_euclid(HOUR_MS);
    hours.map(move |hour| {
        let within = |ms: i64| (ms - hour * HOUR_MS).clamp(0, HOUR_MS) as f64 / 1000.0;
        let of_week = hour.rem_euclid(WEEK_HOURS as i64) as usize;
        HourPart { hour: of_week, from: within(first), to: within(at.millis()) }
    })
}

impl TideModel {
    /// `n` entries became visible in (last, at], nobody knows when.
    pub(super) fn distribute_undated(&mut self, n: usize, last: Time, at: Time) {
        if n == 0 {
            return;
        }
        let (week, minutes) = (&self.week.hours, &self.minutes);
        let expected = |part: &HourPart| {
            week[part.hour] * (minutes.sums(part.to).0 - minutes.sums(part.from).0)
        };
        let all: f64 = parts(last, at).map(|part| expected(&part)).sum();
        if all <= 0.0 {
            return;
        }
        let share = n as f64 / all;
        let mut whole = 0.0;
        let mut cut = [None; 2];
        for part in parts(last, at) {
            let entries = share * expected(&part);
            self.rhythm.count_part((part.hour + self.dst.ahead) % WEEK_HOURS, entries);
            if part.to - part.from >= HOUR_SECS {
                whole += entries;
            } else {
                // Only the first and the last hour are cut.
                cut[usize::from(cut[0].is_some())] = Some((part, share * week[part.hour]));
            }
        }
        self.minutes.count_parts(whole, &cut.map(|cut| cut.map(|(p, rate)| (p.from..p.to, rate))));
    }
}
