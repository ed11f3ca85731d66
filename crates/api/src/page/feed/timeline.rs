//! The timeline of one feed: positions of its polls and entries for an SVG. Pure geometry, without
//! HTML and without reads of the store.

use std::time::Duration;

use feed::{Outcome, Time};
use polling::model::Model;

use super::waiting;
use crate::words::{LocalNow, ahead, plural, span, strftime};
use crate::zone::Zone;

/// The width of the drawing in units. The view box of the template has the same width.
pub const WIDTH: f64 = 1000.0;
/// The height of the line of polls, and of the area above it.
const BASE_Y: f64 = 140.0;
const WAITING_HEIGHT: f64 = 44.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;

/// More ticks would overlap at 1,000 units.
pub const POLLS_MAX: usize = 120;
/// More dots would overlap. The newest are drawn.
pub const ENTRIES_MAX: usize = 200;

/// The future takes at most this share of the past, so that a feed with a distant next poll still
/// shows its last polls.
const AHEAD_SHARE: f64 = 0.3;

/// A poll on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePoll {
    pub at: Time,
    pub outcome: Outcome,
    pub n_new: u32,
}

/// An entry on the timeline: its repaired date of publication, and the time of our fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    pub published_at: Time,
    pub seen_at: Time,
}

/// All shapes of the timeline, in units of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub ticks: Vec<Tick>,
    pub dots: Vec<Dot>,
    pub labels: Vec<AxisLabel>,
    /// Radius of the dots, smaller if there are many.
    pub dot_r: &'static str,
    pub now_x: String,
    pub next: Option<NextPollMark>,
    pub waiting: Option<ExpectedWait>,
    /// The content in words, for screen readers.
    pub summary: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub x: String,
    /// The class in the stylesheet: `news`, `unchanged`, `refused`, `failed`, `gone`.
    pub class: &'static str,
    pub hint: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// `None`: published before the start of the timeline.
    pub published_x: Option<String>,
    pub seen_x: String,
    pub hint: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisLabel {
    pub x: String,
    pub text: String,
    /// A new day begins here.
    pub day: bool,
}

/// The waiting that a model expects between polls.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedWait {
    /// The outline of the area, as an SVG path.
    pub path: String,
    /// Its highest point, in words.
    pub most: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NextPollMark {
    pub x: String,
    pub hint: String,
    /// The poll is beyond the right end.
    pub beyond: bool,
}

/// Places polls (newest first) and entries. `None` if there is no poll yet.
pub fn timeline(
    polls: &[TimelinePoll],
    entries: &[TimelineEntry],
    next_at: Option<Time>,
    now: impl Into<LocalNow>,
    model: Option<&Model>,
) -> Option<Timeline> {
    let LocalNow { at: now, zone } = now.into();
    let polls = &polls[..polls.len().min(POLLS_MAX)];
    let scale = TimeScale::over(polls.last()?.at, now, next_at);
    let ticks = polls.iter().rev().map(|poll| tick(poll, &scale)).collect();
    let within = entries.iter().filter(|e| e.seen_at >= scale.from).take(ENTRIES_MAX);
    let dots: Vec<Dot> = within.map(|entry| dot(entry, &scale)).collect();
    let next = next_at.map(|at| NextPollMark {
        x: units(scale.x(at.min(scale.to))),
        hint: format!("next poll {}, {at}", ahead(at, now)),
        beyond: at > scale.to,
    });
    let summary = summary(polls, dots.len(), next_at, now);
    let dot_r = if dots.len() > 80 { "2.5" } else { "4" };
    let now_x = units(scale.x(now));
    let waiting = model.and_then(|model| waiting(model, polls, next_at, &scale));
    Some(Timeline { ticks, dots, labels: scale.labels(zone), dot_r, now_x, next, waiting, summary })
}

/// Draws the area above the line of polls. It falls to zero at each successful poll.
fn waiting(
    model: &Model,
    polls: &[TimelinePoll],
    next_at: Option<Time>,
    scale: &TimeScale,
) -> Option<ExpectedWait> {
    let answered = polls.iter().rev().filter(|p| p.outcome.is_success()).map(|p| p.at);
    let mut polled_at: Vec<Time> = answered.collect();
    polled_at.push(next_at?.min(scale.to));
    let curve = |pair: &[Time]| waiting::curve(model, pair[0], pair[1]);
    let curves: Vec<Vec<(Time, f64)>> = polled_at.windows(2).map(curve).collect();
    let most = curves.iter().flatten().map(|(_, waited)| *waited).fold(0.0, f64::max);
    if most < 1.0 {
        return None;
    }
    let mut path = String::new();
    for points in curves.iter().filter(|points| !points.is_empty()) {
        let point = |(at, waited): &(Time, f64)| {
            let y = BASE_Y - WAITING_HEIGHT * waited / most;
            format!("{} {}", units(scale.x(*at)), units(y))
        };
        let line: Vec<String> = points.iter().map(point).collect();
        path += &format!("M{}V{}H{}Z", line.join("L"), units(BASE_Y), units(scale.x(points[0].0)));
    }
    let most = format!("at most {} in total", span(Duration::from_secs_f64(most)));
    Some(ExpectedWait { path, most })
}

/// Returns the class of a poll in the stylesheet.
pub const fn class(outcome: Outcome, n_new: u32) -> &'static str {
    match outcome {
        Outcome::Seen if n_new > 0 => "news",
        Outcome::Seen | Outcome::Unchanged => "unchanged",
        Outcome::Refused => "refused",
        Outcome::Failed | Outcome::Damaged => "failed",
        Outcome::Gone => "gone",
    }
}

fn tick(poll: &TimelinePoll, scale: &TimeScale) -> Tick {
    let what = match class(poll.outcome, poll.n_new) {
        "news" => format!("{} new", poll.n_new),
        "unchanged" => "nothing new".to_owned(),
        other => other.to_owned(),
    };
    Tick {
        x: units(scale.x(poll.at)),
        class: class(poll.outcome, poll.n_new),
        hint: format!("poll at {}: {what}", poll.at),
    }
}

fn dot(entry: &TimelineEntry, scale: &TimeScale) -> Dot {
    let delay = span(entry.seen_at.since(entry.published_at));
    Dot {
        published_x: (entry.published_at >= scale.from)
            .then(|| units(scale.x(entry.published_at.min(scale.to)))),
        seen_x: units(scale.x(entry.seen_at)),
        hint: format!("published {}, fetched {delay} later", entry.published_at),
    }
}

fn summary(polls: &[TimelinePoll], dots: usize, next_at: Option<Time>, now: Time) -> String {
    let of =
        |wanted: &str| polls.iter().filter(|p| class(p.outcome, p.n_new) == wanted).count() as u64;
    let trouble = of("failed") + of("refused") + of("gone");
    let from = polls.last().map_or(now, |p| p.at);
    let next = next_at.map_or(String::new(), |at| format!(" The next poll is {}.", ahead(at, now)));
    format!(
        "{} since {from}: {} with new entries, {} without, {trouble} failed; {} shown.{next}",
        plural(polls.len() as u64, "poll", "polls"),
        of("news"),
        of("unchanged"),
        plural(dots as u64, "entry", "entries"),
    )
}

/// The times at the ends of the drawing.
struct TimeScale {
    from: Time,
    to: Time,
}

impl TimeScale {
    fn over(oldest: Time, now: Time, next_at: Option<Time>) -> TimeScale {
        // A feed that was polled once, just now, still gets a line of 10 minutes.
        let past = now.since(oldest).max(Duration::from_secs(600));
        let ahead_max = past.mul_f64(AHEAD_SHARE).max(Duration::from_secs(120));
        let ahead = next_at.map_or(Duration::ZERO, |at| at.since(now)).min(ahead_max);
        TimeScale { from: now - past.mul_f64(1.03), to: now + ahead.max(past.mul_f64(0.02)) }
    }

    fn x(&self, at: Time) -> f64 {
        let whole = self.to.millis_since(self.from).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * at.millis_since(self.from) as f64 / whole
    }

    /// Returns at most nine labels at round times.
    fn labels(&self, zone: Zone) -> Vec<AxisLabel> {
        const STEPS: [i64; 13] = [
            60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_419_200,
            7_257_600, 31_536_000,
        ];
        let whole = self.to.secs() - self.from.secs();
        let step = STEPS.into_iter().find(|s| whole / s < 9).unwrap_or(whole / 8 + 1);
        // The times are round in the zone of the reader.
        let ahead = zone.ahead(self.to);
        let first = ((self.from.secs() + ahead).div_euclid(step) + 1) * step - ahead;
        let moments = (0..9).map(|n| first + n * step).take_while(|s| *s <= self.to.secs());
        moments
            .map(|secs| {
                let at = Time::from_secs(secs);
                let day = (secs + ahead).rem_euclid(86_400) == 0;
                let text = strftime(at, if day { "%-d %b" } else { "%H:%M" }, zone);
                AxisLabel { x: units(self.x(at)), text, day }
            })
            .collect()
    }
}

/// Writes a coordinate. One decimal is finer than a pixel.
fn units(x: f64) -> String {
    format!("{x:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn now() -> Time {
        "2011-07-16T05:00:00Z".parse().unwrap()
    }

    fn polls(n: u32) -> Vec<TimelinePoll> {
        let poll = |k| TimelinePoll { at: now() - HOUR * k, outcome: Outcome::Seen, n_new: k % 2 };
        (0..n).map(poll).collect()
    }

    fn number(x: &str) -> f64 {
        x.parse().unwrap()
    }

    #[test]
    fn a_feed_that_was_never_polled_has_no_timeline() {
        assert_eq!(timeline(&[], &[], Some(now()), now(), None), None);
    }

    #[test]
    fn everything_drawn_lies_within_the_drawing_and_in_order() {
        let entries = [
            TimelineEntry { published_at: now() - HOUR * 3, seen_at: now() - HOUR },
            TimelineEntry { published_at: Time::from_secs(0), seen_at: now() - HOUR * 2 },
            TimelineEntry { published_at: now() + HOUR * 99, seen_at: now() },
        ];
        let line = timeline(&polls(30), &entries, Some(now() + HOUR), now(), None).unwrap();
        let xs: Vec<f64> = line.ticks.iter().map(|t| number(&t.x)).collect();
        assert_eq!(xs.len(), 30);
        assert!(xs.is_sorted());
        let dots = line.dots.iter().flat_map(|d| [Some(&d.seen_x), d.published_x.as_ref()]);
        let drawn = dots.flatten().map(|x| number(x)).chain(xs);
        assert!(
            drawn.clone().all(|x| (0.0..=WIDTH).contains(&x)),
            "{:?}",
            drawn.collect::<Vec<_>>()
        );
        assert_eq!(line.dots[1].published_x, None, "published long before the line begins");
    }

    #[test]
    fn a_next_poll_far_ahead_is_marked_at_the_edge() {
        let near =
            timeline(&polls(10), &[], Some(now() + HOUR), now(), None).unwrap().next.unwrap();
        let far =
            timeline(&polls(10), &[], Some(now() + HOUR * 24), now(), None).unwrap().next.unwrap();
        assert_eq!((near.beyond, far.beyond), (false, true));
        assert!(number(&far.x) <= WIDTH);
    }

    #[test]
    fn labels_are_few_and_round() {
        for n in [1, 2, 30, 5000, 100_000] {
            let polls =
                [TimelinePoll { at: now() - HOUR * n, outcome: Outcome::Unchanged, n_new: 0 }];
            let labels = timeline(&polls, &[], None, now(), None).unwrap().labels;
            assert!((2..=9).contains(&labels.len()), "{n} hours: {labels:?}");
        }
    }

    #[test]
    fn the_summary_counts_what_the_colours_say() {
        let mut polls = polls(4);
        polls[0].outcome = Outcome::Failed;
        let line = timeline(&polls, &[], Some(now() + HOUR), now(), None).unwrap();
        assert_eq!(
            line.summary,
            "4 polls since 2011-07-16T02:00:00Z: 2 with new entries, 1 without, 1 failed; \
             0 entries shown. The next poll is in 60 min."
        );
    }

    #[test]
    fn no_more_ticks_than_can_be_told_apart() {
        assert_eq!(timeline(&polls(500), &[], None, now(), None).unwrap().ticks.len(), POLLS_MAX);
    }

    #[test]
    fn expected_waiting_is_drawn_between_polls_and_up_to_the_next() {
        let model = Model::Homogeneous(polling::model::homogeneous::Homogeneous { rate: 0.01 });
        let draw =
            |polls: &[TimelinePoll], next| timeline(polls, &[], next, now(), Some(&model)).unwrap();
        let line = draw(&polls(3), Some(now() + HOUR));
        let waiting = line.waiting.unwrap();
        assert_eq!(waiting.path.matches('M').count(), 3, "two gaps and the one ahead");
        assert_eq!(waiting.most, "at most 18 h in total");
        let numbers = waiting.path.split(|c: char| !c.is_ascii_digit() && c != '.');
        let drawn = numbers.filter(|n| !n.is_empty()).map(number);
        assert!(drawn.into_iter().all(|n| (0.0..=WIDTH).contains(&n)));
        assert_eq!(draw(&polls(3), None).waiting, None, "the end of the wait is unknown");
    }
}
