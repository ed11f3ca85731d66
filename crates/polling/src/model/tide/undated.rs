//! Distributes entries without a date over the hours, weekdays and minutes between two polls, in
//! proportion to what the model expects there.
//!
//! This is one step of expectation maximisation per poll. An even spread would give a quiet night
//! its share of the entries before and after it. Polls at different hours each day separate the
//! hours. The level counts these entries elsewhere.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // Every day at ten, without a date; polled every seven hours.
//! let mut model = ModelKind::Tide.start();
//! let n_by = |secs: i64| (secs - 36_000).div_euclid(86_400);
//! for poll in 0..400 {
//!     let (last, at) = ((poll - 1) * 25_200, poll * 25_200);
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

use super::{DISTINCT_SECS, HOUR_SECS, TideModel, WEEK_HOURS};

const HOUR_MS: i64 = 3_600_000;

/// The part of an hour between two polls, in seconds from the start of the hour.
#[derive(Clone, Copy)]
struct HourPart {
    /// The hour of the week, from Thursday on.
    hour: usize,
    from: f64,
    to: f64,
}

fn parts(last: Time, at: Time) -> impl Iterator<Item = HourPart> {
    let first = last.max(at.shifted(-(DISTINCT_SECS as i64) * 1000)).millis();
    let hours = first.div_euclid(HOUR_MS)..=at.millis().div_euclid(HOUR_MS);
    hours.map(move |hour| {
        let within = |ms: i64| (ms - hour * HOUR_MS).clamp(0, HOUR_MS) as f64 / 1000.0;
        let of_week = hour.rem_euclid(WEEK_HOURS as i64) as usize;
        HourPart { hour: of_week, from: within(first), to: within(at.millis()) }
    })
}

impl TideModel {
    /// Distributes `n` entries that became visible in (last, at].
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
                // Only the first and the last hour are partial.
                cut[usize::from(cut[0].is_some())] = Some((part, share * week[part.hour]));
            }
        }
        self.minutes.count_parts(whole, &cut.map(|cut| cut.map(|(p, rate)| (p.from..p.to, rate))));
    }
}
