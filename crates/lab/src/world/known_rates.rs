//! Worlds with known rates. Each feed has a random rate for each hour of the week, and its entries
//! are a Poisson process with that rate. So the best possible result is known too: the same policy
//! with the true rate.
//!
//! All feeds may change their behaviour at one moment. These worlds do not represent real feeds.

use feed::Time;
use polling::model::{HourlyRates, Model};
use serde::Deserialize;

use crate::{Chance, World, WorldFeed};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const WEEK_HOURS: usize = 168;
/// History before the start, so that windows are full.
const HISTORY_DAYS: i64 = 60;
/// Entries per day: from one in three weeks to two per hour, by the published power law.
const PER_DAY: (f64, f64) = (0.05, 50.0);
const EXPONENT: f64 = 0.74;
/// The epoch was a Thursday.
const SATURDAY: usize = 2;
const WINDOW: u32 = 20;

/// A change of the rates of all feeds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WorldChange {
    /// Ten times as many entries.
    Faster,
    /// A tenth of them.
    Slower,
    /// Day becomes night.
    Turned,
    /// No entries for two months, then ten times as many for a day, then as before. The change is
    /// the end of the silence.
    Woken,
}

impl WorldChange {
    pub const ALL: [WorldChange; 4] =
        [WorldChange::Faster, WorldChange::Slower, WorldChange::Turned, WorldChange::Woken];

    pub const fn word(self) -> &'static str {
        match self {
            WorldChange::Faster => "faster",
            WorldChange::Slower => "slower",
            WorldChange::Turned => "turned",
            WorldChange::Woken => "woken",
        }
    }

    /// Returns the factor of the rate and the shift of the day in hours, at some seconds after the
    /// change.
    fn at(self, secs: i64) -> (f64, usize) {
        match self {
            WorldChange::Woken if (-60 * DAY..0).contains(&secs) => (0.0, 0),
            WorldChange::Woken if (0..DAY).contains(&secs) => (10.0, 0),
            WorldChange::Faster if secs >= 0 => (10.0, 0),
            WorldChange::Slower if secs >= 0 => (0.1, 0),
            WorldChange::Turned if secs >= 0 => (1.0, 12),
            _ => (1.0, 0),
        }
    }
}

/// The parameters of a world.
#[derive(Clone, Copy, Debug)]
pub struct KnownWorldSpec {
    pub seed: u64,
    pub feeds: usize,
    pub start: Time,
    pub days: i64,
    /// The change and its time.
    pub change: Option<(WorldChange, Time)>,
}

/// A world, and the true models of its feeds before any change.
#[derive(Clone, Debug)]
pub struct KnownWorld {
    pub world: World,
    pub models: Vec<Model>,
}

impl KnownWorld {
    pub fn draw(spec: &KnownWorldSpec) -> KnownWorld {
        let (mut feeds, mut models) = (Vec::new(), Vec::new());
        for number in 0..spec.feeds {
            let mut chance = Chance::new(spec.seed, number as u64);
            let hours = rates(&mut chance);
            let times = entries(spec, &hours, &mut chance);
            feeds.push(WorldFeed::new(&format!("feed-{number}"), times));
            models.push(Model::Frozen(HourlyRates { hours, zone_secs: 0 }));
        }
        let domains = (0..feeds.len()).map(|feed| vec![feed]).collect();
        KnownWorld { world: World { feeds, window: WINDOW, domains }, models }
    }
}

/// Returns the entries per second in each hour of the week.
fn rates(chance: &mut Chance) -> Vec<f64> {
    let per_day = chance.power_law(PER_DAY.0, PER_DAY.1, EXPONENT);
    let (from, busy) = (chance.below(24), 3 + chance.below(18));
    let night = chance.between(0.0, 0.15);
    let weekend = if chance.percent(45.0) { chance.between(0.05, 0.4) } else { 1.0 };
    let shape = |hour: usize| {
        let is_busy = (hour + 24 - from) % 24 < busy;
        let is_weekend = (SATURDAY..SATURDAY + 2).contains(&(hour / 24));
        (if is_busy { 1.0 } else { night }) * (if is_weekend { weekend } else { 1.0 })
    };
    let mean = (0..WEEK_HOURS).map(shape).sum::<f64>() / WEEK_HOURS as f64;
    (0..WEEK_HOURS).map(|hour| per_day / DAY as f64 * shape(hour) / mean).collect()
}

/// Draws the entries: the next one comes when the cumulative rate reaches a random value.
fn entries(spec: &KnownWorldSpec, hours: &[f64], chance: &mut Chance) -> Vec<Time> {
    let (mut times, mut left) = (Vec::new(), chance.exponential(1.0));
    let first = spec.start.secs().div_euclid(HOUR) - HISTORY_DAYS * 24;
    for hour in first..first + (HISTORY_DAYS + spec.days) * 24 {
        let since = |(change, at): (WorldChange, Time)| change.at(hour * HOUR - at.secs());
        let (factor, shift) = spec.change.map_or((1.0, 0), since);
        let slot = (hour.rem_euclid(WEEK_HOURS as i64) as usize + shift) % WEEK_HOURS;
        let rate = hours[slot] * factor;
        let mut from = 0.0;
        while rate > 0.0 && left <= rate * (HOUR as f64 - from) {
            from += left / rate;
            times.push(Time::from_secs(hour * HOUR + from as i64));
            left = chance.exponential(1.0);
        }
        left -= rate * (HOUR as f64 - from);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_entries_come_as_the_rates_say_and_changes_are_kept() {
        let start = Time::from_secs(1_499_990_400);
        let at = start.shifted(60 * DAY * 1000);
        let count = |change: Option<WorldChange>, from: i64, to: i64| {
            let change = change.map(|change| (change, at));
            let known =
                KnownWorld::draw(&KnownWorldSpec { seed: 5, feeds: 60, start, days: 120, change });
            let day = |d: i64| at.shifted(d * DAY * 1000);
            let found = known.world.feeds.iter().map(|f| f.between(day(from), day(to)).len());
            let expected = known.models.iter().map(|m| m.expect(day(from), day(to)));
            found.sum::<usize>() as f64 / expected.sum::<f64>()
        };
        assert!((0.93..1.07).contains(&count(None, -56, 56)));
        assert!((9.5..10.5).contains(&count(Some(WorldChange::Faster), 0, 56)));
        assert!((0.07..0.13).contains(&count(Some(WorldChange::Slower), 0, 56)));
        assert!((0.9..1.1).contains(&count(Some(WorldChange::Turned), 0, 56)));
        assert_eq!(count(Some(WorldChange::Woken), -60, 0), 0.0);
        assert!((8.0..12.0).contains(&count(Some(WorldChange::Woken), 0, 1)));
    }
}
