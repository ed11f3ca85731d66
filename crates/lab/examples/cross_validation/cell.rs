//! One half of the feeds of one case, and `tide` compared with its rival on it at equal polls.
//!
//! A poll one minute earlier changes all later ones, so neighbouring prices differ by a few per
//! cent. The result is therefore a line through several prices (five by default) around that of
//! equal polls.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use feed::Time;
use lab::{Phases, PolicyRun, RunProgress, Setting, World, WorldBuilder};
use polling::{Policy, PolicySpec};

const RIVAL: &str = "mavsync@1m..1d";
const WINDOW: u32 = 20;
const DAY: Duration = Duration::from_secs(86_400);
const TRAIN_DAYS: u32 = 7;
/// The distance of the prices of a line, relative to that of equal polls.
const STEP: f64 = 0.05;
/// The first price of the search for equal polls.
const PRICE: f64 = 1800.0;
/// At constant rates, ln(polls) falls half as fast as ln(price) rises.
const SLOPE: f64 = -0.5;
const TRIES: usize = 6;
/// A sufficient distance; the line corrects the rest.
const NEAR: f64 = 0.02;

/// Whether a case is earlier or later than another case of the same trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Earlier,
    Later,
    Alone,
}

pub struct Case {
    name: &'static str,
    trace: &'static str,
    start: i64,
    test_days: u32,
    era: Era,
}

/// The cases of docs/notes/tide.md.
const CASES: [Case; 6] = [
    case("posts 2018", "congress_tweets", 1_524_528_000, 20, Era::Earlier),
    case("posts 2019", "congress_tweets", 1_566_691_200, 20, Era::Later),
    case("commits 2021", "git_commits", 1_614_038_400, 20, Era::Earlier),
    case("commits 2024", "git_commits", 1_708_646_400, 20, Era::Later),
    case("releases 2024", "crates_releases", 1_708_646_400, 60, Era::Alone),
    case("news 2017", "facebook_news_2017", 1_497_916_800, 16, Era::Alone),
];

const fn case(
    name: &'static str,
    trace: &'static str,
    start: i64,
    test_days: u32,
    era: Era,
) -> Case {
    Case { name, trace, start, test_days, era }
}

pub struct Cell {
    pub case: &'static str,
    pub era: Era,
    /// Whether the half has the odd feeds, or the even ones.
    pub odd: bool,
    world: World,
    setting: Setting,
    rival: Point,
}

/// The result of one run.
#[derive(Clone, Copy)]
struct Point {
    ln_polls: f64,
    ln_delay: f64,
    recall: f64,
}

/// `tide` at the rival's polls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The delay of entries relative to the rival's, as a logarithm.
    pub ln_ratio: f64,
    /// The difference in recall.
    pub recall: f64,
    /// The price of that number of polls, in seconds.
    pub price: f64,
}

/// Returns both halves of all cases.
pub fn all(traces: &Path) -> super::Result<Vec<Cell>> {
    some(traces, &CASES)
}

/// Cases at other times, which reduce the noise.
#[allow(dead_code, reason = "only some of the programs that share this file need it")]
pub const OTHER_TIMES: [Case; 14] = [
    case("posts 2017", "congress_tweets", 1_505_001_600, 20, Era::Alone),
    case("posts 2018b", "congress_tweets", 1_544_054_400, 20, Era::Alone),
    case("posts 2020", "congress_tweets", 1_580_601_600, 20, Era::Alone),
    case("commits 2019", "git_commits", 1_570_060_800, 20, Era::Alone),
    case("commits 2020", "git_commits", 1_600_041_600, 20, Era::Alone),
    case("commits 2022", "git_commits", 1_650_067_200, 20, Era::Alone),
    case("commits 2023", "git_commits", 1_680_048_000, 20, Era::Alone),
    case("commits 2025", "git_commits", 1_740_009_600, 20, Era::Alone),
    case("releases 2020", "crates_releases", 1_600_041_600, 60, Era::Alone),
    case("releases 2021", "crates_releases", 1_630_022_400, 60, Era::Alone),
    case("releases 2022", "crates_releases", 1_660_003_200, 60, Era::Alone),
    case("releases 2023", "crates_releases", 1_680_048_000, 60, Era::Alone),
    case("releases 2025", "crates_releases", 1_740_009_600, 60, Era::Alone),
    case("news earlier", "facebook_news_2017", 1_497_312_000, 16, Era::Alone),
];

/// Returns both halves of some cases.
pub fn some(traces: &Path, cases: &[Case]) -> super::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for case in cases {
        let whole = read(&traces.join(format!("{}.csv.gz", case.trace)))?;
        for odd in [false, true] {
            cells.push(Cell::new(case, &whole, odd)?);
            eprintln!("{}, {} feeds: read", case.name, if odd { "odd" } else { "even" });
        }
    }
    Ok(cells)
}

fn read(file: &Path) -> super::Result<World> {
    let mut builder = WorldBuilder::default();
    let name = file.display().to_string();
    let unpacked = flate2::read::MultiGzDecoder::new(File::open(file)?);
    lab::world::trace::read(&name, BufReader::with_capacity(1 << 16, unpacked), &mut builder)?;
    Ok(builder.finish(WINDOW))
}

impl Cell {
    fn new(case: &Case, whole: &World, odd: bool) -> super::Result<Cell> {
        let feeds = whole.feeds.iter().skip(usize::from(!odd)).step_by(2);
        let feeds: Vec<_> = feeds.cloned().collect();
        let domains = (0..feeds.len()).map(|feed| vec![feed]).collect();
        let world = World { feeds, window: WINDOW, domains };
        let start = Some(Time::from_secs(case.start));
        let (train, test) = (TRAIN_DAYS * DAY, case.test_days * DAY);
        let setting = Setting::new(Phases::over(&world, start, train, test, true)?);
        let rival = lab::run(&world, &RIVAL.parse()?, &setting, &RunProgress::default());
        let rival = Point::of(&rival);
        Ok(Cell { case: case.name, era: case.era, odd, world, setting, rival })
    }

    /// Returns the entries per hour of the day of each feed in the days before the case starts.
    #[allow(dead_code, reason = "only some of the programs that share this file need it")]
    pub fn hours_before(&self, days: u32) -> Vec<[u32; 24]> {
        let start = self.setting.phases.start;
        let from = start - days * DAY;
        let before = |feed: &lab::WorldFeed| {
            let mut hours = [0; 24];
            let known = feed.visible().iter().filter(|time| (from..start).contains(*time));
            known.for_each(|time| hours[(time.secs().rem_euclid(86_400) / 3600) as usize] += 1);
            hours
        };
        self.world.feeds.iter().map(before).collect()
    }

    /// Returns whether the cell is of this kind: posts, commits, releases, news.
    pub fn is_of(&self, kind: &str) -> bool {
        self.case.split_once(' ').is_some_and(|(own, _)| own == kind)
    }

    fn run(&self, price: f64) -> Point {
        let price = Duration::from_secs(price.round().max(1.0) as u64);
        let spec = PolicySpec::from(Policy::Tide { price, miss: polling::policy::tide::MISS });
        Point::of(&lab::run(&self.world, &spec, &self.setting, &RunProgress::default()))
    }

    /// Measures under the current factors, by a line through some prices.
    pub fn measure(&self, near: Option<f64>, prices: usize) -> Measured {
        let price = self.equal(near.unwrap_or(PRICE));
        let middle = (prices as f64 - 1.0) / 2.0;
        let factors = (0..prices).map(|i| 1.0 + STEP * (i as f64 - middle));
        let points: Vec<Point> = factors.map(|factor| self.run(price * factor)).collect();
        let at = |of: fn(&Point) -> f64| on_line(&points, of, self.rival.ln_polls);
        Measured {
            ln_ratio: at(|point| point.ln_delay) - self.rival.ln_delay,
            recall: at(|point| point.recall) - self.rival.recall,
            price,
        }
    }

    /// Returns the price at which `tide` makes about as many polls as the rival, by a secant
    /// search.
    fn equal(&self, start: f64) -> f64 {
        let (mut ln_price, mut slope) = (start.ln(), SLOPE);
        let mut before: Option<(f64, f64)> = None;
        for _ in 0..TRIES {
            let off = self.run(ln_price.exp()).ln_polls - self.rival.ln_polls;
            if off.abs() < NEAR {
                break;
            }
            if let Some((price, was)) = before {
                let found = (off - was) / (ln_price - price);
                slope = if (-2.0..-0.1).contains(&found) { found } else { SLOPE };
            }
            before = Some((ln_price, off));
            ln_price = (ln_price - off / slope).clamp(0.0, 21.0);
        }
        ln_price.exp()
    }
}

impl Point {
    fn of(run: &PolicyRun) -> Point {
        Point {
            ln_polls: (run.total.polls as f64).ln(),
            ln_delay: run.by_entry.delay.unwrap_or(f64::NAN).ln(),
            recall: run.by_entry.recall.unwrap_or(f64::NAN),
        }
    }
}

/// Returns the value of the least-squares line through the points at some polls.
fn on_line(points: &[Point], of: fn(&Point) -> f64, ln_polls: f64) -> f64 {
    let mean =
        |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(&|point| point.ln_polls), mean(&of));
    let spread = mean(&|point| (point.ln_polls - x).powi(2));
    let common = mean(&|point| (point.ln_polls - x) * (of(point) - y));
    if spread > 0.0 { y + common / spread * (ln_polls - x) } else { y }
}
