//! A synthetic population of feeds after the published distributions of 200,000 recorded ones
//! (dissertation 003, chapter 3).
//!
//! Shares of update patterns, windows, formats, hints and gaps in ids and dates are the published
//! ones. Entries in four weeks follow the published power law x^−0.74, cut into the ranges that
//! the patterns imply (a spontaneous feed's median gap is about a day, a constant feed's gaps stay
//! below two hours); so mixed, median and mean come out as published, 12 and 289. It claims
//! nothing about single feeds, and knows no text: only when something is published.

mod claims;
mod names;
mod publishing;

use std::io::{self, Write};
use std::time::Duration;

use feed::Time;

use crate::Chance;
pub use claims::ClaimErrors;
use publishing::PublishingProcess;

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationSpec {
    pub seed: u64,
    pub feeds: usize,
    /// Windows are full at this moment: history lies before it.
    pub start: Time,
    pub days: u16,
}

/// Feeds as drawn. The same spec gives the same population on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    pub feeds: Vec<SynthFeed>,
}

/// One synthetic feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthFeed {
    /// Unique within the population, fit for a path: `amber-gazette`.
    pub name: String,
    pub title: String,
    /// Under `.test`, which never resolves; some feeds share one.
    pub domain: String,
    pub pattern: SynthPattern,
    pub format: SynthFormat,
    /// Publication times, oldest first.
    pub times: Vec<Time>,
    /// What each entry claims instead, where some claim another time than that of their
    /// publication; beside `times`.
    pub claims: Option<Vec<Time>>,
    /// The most entries it shows at once.
    pub window: usize,
    pub varies: Option<WindowVariation>,
    pub ids: bool,
    pub dates: SynthDates,
    pub ttl: Option<Duration>,
    pub supports_304: bool,
    /// Size of the whole document.
    pub bytes: u32,
}

/// How a feed publishes (dissertation 003, 3.7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SynthPattern {
    /// Never an entry.
    Empty,
    /// Shows one entry at a time.
    Single,
    /// Several entries under one timestamp.
    Chunked,
    /// SynthDates made when the document is asked for.
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

/// What its entries say about when they were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SynthDates {
    True,
    Absent,
    /// Every entry carries the moment of the request.
    OnTheFly,
}

/// How a window's size varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowVariation {
    /// Grows with every entry.
    Grows,
    /// Holds what was published within this time.
    Holds(Duration),
    /// Alternates with an empty one.
    WithEmpty,
}

/// Spontaneous a third, zombie a quarter, sliced 18 %, empty or single 18 %; the rest as their
/// rates need it for the published mean.
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

/// Median 10, mean 17 together with the single ones, peaks at 10, 15, 20, 25, 50, 100.
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
            // A third shares a domain with an earlier feed: large sites grow larger.
            if number > 0 && chance.percent(33.0) {
                drawn.domain = feeds[chance.below(number)].domain.clone();
            }
            feeds.push(drawn);
        }
        Population { feeds }
    }

    /// Writes the population as a trace: one row per entry, feed by feed, oldest first.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let claims = self.feeds.iter().any(|feed| feed.claims.is_some());
        let visible = if claims { "visible," } else { "" };
        writeln!(out, "feed,published,{visible}window,bytes,ttl,domain,title")?;
        for f in &self.feeds {
            let ttl = f.ttl.map_or(String::new(), |t| t.as_secs().to_string());
            let rest = format!("{},{},{ttl},{},{}", f.window, f.bytes, f.domain, f.title);
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
        // Atom demands a date.
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

/// Two thirds of all hints say ten minutes.
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

/// Documents have a median of 17 kB and a mean of 43 kB: a long tail of full texts.
fn bytes(window: usize, chance: &mut Chance) -> u32 {
    let per_entry = chance.power_law(600.0, 15_000.0, 1.8);
    (900.0 + per_entry * window as f64) as u32
}
