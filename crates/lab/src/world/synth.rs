//! A synthetic population of feeds with the published distributions of 200,000 recorded feeds
//! (dissertation 003, chapter 3).
//!
//! Update patterns, windows, formats, hints, and missing ids and dates have the published shares.
//! The number of entries in four weeks follows the published power law x^−0.74, within the range of
//! each pattern. The median gap of a spontaneous feed is about a day, and a constant feed has gaps
//! below two hours. Median and mean of the whole population are as published: 12 and 289. Single
//! feeds do not represent real ones. The population has times only; [`EntryTopics`] adds titles.

mod claims;
mod names;
mod publishing;
mod topics;

use std::io::{self, Write};
use std::time::Duration;

use feed::Time;

use crate::{Chance, WorldFeed};
pub use claims::ClaimErrors;
use publishing::PublishingProcess;
pub use topics::EntryTopics;

/// The parameters of a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationSpec {
    pub seed: u64,
    pub feeds: usize,
    /// The time at which windows are full. History is before it.
    pub start: Time,
    pub days: u16,
}

/// A population. The same parameters give the same population on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    pub feeds: Vec<SynthFeed>,
}

/// One synthetic feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthFeed {
    /// A unique name that is valid in a path: `amber-gazette`.
    pub name: String,
    pub title: String,
    /// A domain under `.test`, which never resolves. Some feeds share a domain.
    pub domain: String,
    pub pattern: SynthPattern,
    pub format: SynthFormat,
    /// Publication times, oldest first.
    pub times: Vec<Time>,
    /// The times that entries claim, in the order of `times`, if any differ from the publication
    /// time.
    pub claims: Option<Vec<Time>>,
    /// The largest number of entries shown at once.
    pub window: usize,
    pub varies: Option<WindowVariation>,
    pub ids: bool,
    pub dates: SynthDates,
    pub ttl: Option<Duration>,
    pub supports_304: bool,
    /// Size of the whole document.
    pub bytes: u32,
}

/// The update pattern of a feed (dissertation 003, 3.7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SynthPattern {
    /// Publishes no entries.
    Empty,
    /// Shows one entry at a time.
    Single,
    /// Several entries under one timestamp.
    Chunked,
    /// Generates dates at the time of the request.
    OnTheFly,
    /// Silent for at least eight weeks.
    Zombie,
    /// No gap over two hours.
    Constant,
    /// Active and quiet hours.
    Sliced,
    /// Irregular, a day or more between most entries.
    Spontaneous,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SynthFormat {
    Rss20,
    Rss10,
    Atom10,
}

/// The dates of a feed's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SynthDates {
    True,
    Absent,
    /// Every entry has the time of the request.
    OnTheFly,
}

/// The variation of a window size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowVariation {
    /// Grows with every entry.
    Grows,
    /// Shows the entries of this period.
    Holds(Duration),
    /// Alternates with an empty one.
    WithEmpty,
}

/// Spontaneous 33 %, zombie 25 %, sliced 18 %, empty or single 18 %. The other shares are chosen to
/// reach the published mean.
const PATTERNS: [(SynthPattern, u32); 8] = [
    (SynthPattern::Spontaneous, 33),
    (SynthPattern::Zombie, 25),
    (SynthPattern::Sliced, 18),
    (SynthPattern::Single, 12),
    (SynthPattern::Empty, 6),
    (SynthPattern::Constant, 3),
    (SynthPattern::Chunked, 2),
    (SynthPattern::OnTheFly, 1),
];

/// Median 10, mean 17 including single feeds, peaks at 10, 15, 20, 25, 50, 100.
const WINDOWS: [(usize, u32); 11] = [
    (5, 9),
    (7, 3),
    (8, 5),
    (10, 24),
    (12, 3),
    (15, 10),
    (20, 10),
    (25, 6),
    (30, 3),
    (50, 5),
    (100, 4),
];

impl Population {
    pub fn draw(spec: &PopulationSpec) -> Population {
        let mut feeds: Vec<SynthFeed> = Vec::with_capacity(spec.feeds);
        for number in 0..spec.feeds {
            let mut chance = Chance::new(spec.seed, number as u64);
            let mut drawn = draw(spec, number, &mut chance);
            // A third of the feeds share a domain with an earlier feed, so large sites grow larger.
            if number > 0 && chance.percent(33.0) {
                drawn.domain = feeds[chance.below(number)].domain.clone();
            }
            feeds.push(drawn);
        }
        Population { feeds }
    }

    /// Returns the feeds without entries. A trace has no row for them; they are never polled, but
    /// statistics count them.
    pub fn without_entries(&self) -> impl Iterator<Item = WorldFeed> {
        let empty = self.feeds.iter().filter(|feed| feed.times.is_empty());
        empty.map(|feed| WorldFeed::new(&feed.name, Vec::new()))
    }

    /// Writes the population as a trace: one row per entry, by feed, oldest first.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let claims = self.feeds.iter().any(|feed| feed.claims.is_some());
        let visible = if claims { "visible," } else { "" };
        let dates = self.feeds.iter().any(|feed| feed.dates == SynthDates::OnTheFly);
        let dates_column = if dates { ",dates" } else { "" };
        writeln!(out, "feed,published,{visible}window,bytes,ttl,domain,title{dates_column}")?;
        for f in &self.feeds {
            let ttl = f.ttl.map_or(String::new(), |t| t.as_secs().to_string());
            let dated = match f.dates {
                _ if !dates => "",
                SynthDates::OnTheFly => ",on-the-fly",
                SynthDates::True | SynthDates::Absent => ",",
            };
            let (window, bytes, domain, title) = (f.window, f.bytes, &f.domain, &f.title);
            let rest = format!("{window},{bytes},{ttl},{domain},{title}{dated}");
            for (i, time) in f.times.iter().enumerate() {
                match &f.claims {
                    Some(claims) => writeln!(out, "{},{},{time},{rest}", f.name, claims[i])?,
                    None if claims => writeln!(out, "{},{time},{time},{rest}", f.name)?,
                    None => writeln!(out, "{},{time},{rest}", f.name)?,
                }
            }
        }
        Ok(())
    }
}

fn draw(spec: &PopulationSpec, number: usize, chance: &mut Chance) -> SynthFeed {
    let pattern = chance.weighted(&PATTERNS).unwrap_or(SynthPattern::Spontaneous);
    let window = match pattern {
        SynthPattern::Single => 1,
        _ => chance.weighted(&WINDOWS).unwrap_or(10),
    };
    let format = chance
        .weighted(&[(SynthFormat::Rss20, 75), (SynthFormat::Atom10, 21), (SynthFormat::Rss10, 4)])
        .unwrap_or(SynthFormat::Rss20);
    let dates = match pattern {
        SynthPattern::OnTheFly => SynthDates::OnTheFly,
        // Atom requires a date.
        _ if format != SynthFormat::Atom10 && chance.percent(14.0) => SynthDates::Absent,
        _ => SynthDates::True,
    };
    let ids = format == SynthFormat::Atom10 || !chance.percent(14.0);
    let ttl = chance.percent(11.0).then(|| ttl(chance));
    let varies = match pattern {
        SynthPattern::Single | SynthPattern::Empty => None,
        _ => chance.percent(12.0).then(|| varies(chance)),
    };
    let process = PublishingProcess::draw(pattern, window, chance);
    let name = names::name(number, chance);
    SynthFeed {
        title: names::title(&name),
        domain: format!("{name}.test"),
        name,
        pattern,
        format,
        times: process.times(spec.start, spec.days, chance),
        claims: None,
        window,
        varies,
        ids,
        dates,
        ttl,
        supports_304: chance.percent(60.0),
        bytes: bytes(window, chance),
    }
}

/// Two thirds of all hints are ten minutes.
fn ttl(chance: &mut Chance) -> Duration {
    let minutes = chance.weighted(&[(10, 66), (15, 4), (30, 6), (60, 16), (120, 4), (1440, 4)]);
    Duration::from_secs(60 * minutes.unwrap_or(10))
}

fn varies(chance: &mut Chance) -> WindowVariation {
    let (day, week) = (Duration::from_secs(86_400), Duration::from_secs(7 * 86_400));
    let choices = [
        (WindowVariation::Grows, 3),
        (WindowVariation::Holds(day), 3),
        (WindowVariation::Holds(week), 3),
        (WindowVariation::WithEmpty, 1),
    ];
    chance.weighted(&choices).unwrap_or(WindowVariation::Grows)
}

/// The median size is 17 kB and the mean 43 kB: a long tail of full texts.
fn bytes(window: usize, chance: &mut Chance) -> u32 {
    let per_entry = chance.power_law(600.0, 15_000.0, 1.8);
    (900.0 + per_entry * window as f64) as u32
}
