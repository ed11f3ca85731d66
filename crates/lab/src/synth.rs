//! A synthetic population of feeds after the published distributions of 200,000 recorded ones
//! (dissertation 003, chapter 3).
//!
//! Shares of update patterns, windows, formats, hints and gaps in ids and dates are the published
//! ones. Entries in four weeks follow the published power law x^−0.74, cut into the ranges that
//! the patterns imply (a spontaneous feed's median gap is about a day, a constant feed's gaps stay
//! below two hours); so mixed, median and mean come out as published, 12 and 289. It claims
//! nothing about single feeds, and knows no text: only when something is published.

mod appearing;
mod names;
mod rhythm;

use std::io::{self, Write};
use std::time::Duration;

use feed::Time;

use crate::Chance;
pub use appearing::Appearing;
use rhythm::Rhythm;

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
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
    pub pattern: Pattern,
    pub format: Format,
    /// Publication times, oldest first.
    pub times: Vec<Time>,
    /// What each entry claims instead, where some claim another time than that of their
    /// publication; beside `times`.
    pub claims: Option<Vec<Time>>,
    /// The most entries it shows at once.
    pub window: usize,
    pub varies: Option<Varies>,
    pub ids: bool,
    pub dates: Dates,
    pub ttl: Option<Duration>,
    pub supports_304: bool,
    /// Size of the whole document.
    pub bytes: u32,
}

/// How a feed publishes (dissertation 003, 3.7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Never an entry.
    Empty,
    /// Shows one entry at a time.
    Single,
    /// Several entries under one timestamp.
    Chunked,
    /// Dates made when the document is asked for.
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
pub enum Format {
    Rss20,
    Rss10,
    Atom10,
}

/// What its entries say about when they were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dates {
    True,
    Absent,
    /// Every entry carries the moment of the request.
    OnTheFly,
}

/// How a window's size varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Varies {
    /// Grows with every entry.
    Grows,
    /// Holds what was published within this time.
    Holds(Duration),
    /// Alternates with an empty one.
    WithEmpty,
}

/// Spontaneous a third, zombie a quarter, sliced 18 %, empty or single 18 %; the rest as their
/// rates need it for the published mean.
const PATTERNS: [(Pattern, u32); 8] = [
    (Pattern::Spontaneous, 33),
    (Pattern::Zombie, 25),
    (Pattern::Sliced, 18),
    (Pattern::Single, 12),
    (Pattern::Empty, 6),
    (Pattern::Constant, 3),
    (Pattern::Chunked, 2),
    (Pattern::OnTheFly, 1),
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
    pub fn draw(spec: &Spec) -> Population {
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

fn draw(spec: &Spec, number: usize, chance: &mut Chance) -> SynthFeed {
    let pattern = chance.weighted(&PATTERNS).unwrap_or(Pattern::Spontaneous);
    let window = match pattern {
        Pattern::Single => 1,
        _ => chance.weighted(&WINDOWS).unwrap_or(10),
    };
    let format = chance
        .weighted(&[(Format::Rss20, 75), (Format::Atom10, 21), (Format::Rss10, 4)])
        .unwrap_or(Format::Rss20);
    let dates = match pattern {
        Pattern::OnTheFly => Dates::OnTheFly,
        // Atom demands a date.
        _ if format != Format::Atom10 && chance.percent(14.0) => Dates::Absent,
        _ => Dates::True,
    };
    let ids = format == Format::Atom10 || !chance.percent(14.0);
    let ttl = chance.percent(11.0).then(|| ttl(chance));
    let varies = match pattern {
        Pattern::Single | Pattern::Empty => None,
        _ => chance.percent(12.0).then(|| varies(chance)),
    };
    let rhythm = Rhythm::draw(pattern, window, chance);
    let name = names::name(number, chance);
    SynthFeed {
        title: names::title(&name),
        domain: format!("{name}.test"),
        name,
        pattern,
        format,
        times: rhythm.times(spec.start, spec.days, chance),
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

fn varies(chance: &mut Chance) -> Varies {
    let (day, week) = (Duration::from_secs(86_400), Duration::from_secs(7 * 86_400));
    let choices = [
        (Varies::Grows, 3),
        (Varies::Holds(day), 3),
        (Varies::Holds(week), 3),
        (Varies::WithEmpty, 1),
    ];
    chance.weighted(&choices).unwrap_or(Varies::Grows)
}

/// Documents have a median of 17 kB and a mean of 43 kB: a long tail of full texts.
fn bytes(window: usize, chance: &mut Chance) -> u32 {
    let per_entry = chance.power_law(600.0, 15_000.0, 1.8);
    (900.0 + per_entry * window as f64) as u32
}
