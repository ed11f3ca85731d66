//! The parts that draw strategies over several budgets or training lengths, one curve each.

use std::time::Duration;

use feed::Time;
use polling::budget::{LearnShare, Spender};
use polling::model::shape::{ActivityShape, shape_of};

use super::{ExperimentReport, subject};
use crate::budget::{BudgetOptions, BudgetSetting, PollAllowance, StrategyRun, spend};
use crate::experiment::definition::{BudgetsPart, LearningPart};
use crate::report::{Axis, Plot, Series, SeriesStyle, Unit};
use crate::shapes::DayShape;
use crate::world::stats::hours_of;
use crate::{Phases, World, WorldFeed, parallel};

const DAY: Duration = Duration::from_secs(86_400);

/// One run of a curve.
struct CurvePoint {
    curve: String,
    spender: Spender,
    /// The abscissa as a number, and as text in the names of figures.
    x: f64,
    at: String,
    setting: BudgetSetting,
}

/// One drawing: its measure and its axis.
struct CurveMeasure {
    word: &'static str,
    axis: &'static str,
    unit: Unit,
    of: fn(&StrategyRun) -> Option<f64>,
}

const DELAY: CurveMeasure =
    CurveMeasure { word: "delay", axis: "mean delay", unit: Unit::Seconds, of: |s| s.delay };
const COMPLETENESS: CurveMeasure = CurveMeasure {
    word: "completeness",
    axis: "feed completeness",
    unit: Unit::Plain,
    of: |s| s.completeness,
};
const WINDOW_FRESHNESS: CurveMeasure = CurveMeasure {
    word: "window_freshness",
    axis: "window freshness",
    unit: Unit::Plain,
    of: |s| s.window_freshness,
};
const DIVERGENCE: CurveMeasure = CurveMeasure {
    word: "divergence_error",
    axis: "divergence error, in entries",
    unit: Unit::Plain,
    of: |s| s.divergence_error,
};

const POLLS: CurveMeasure = CurveMeasure {
    word: "polls",
    axis: "polls in the test",
    unit: Unit::Plain,
    of: |s| Some(s.polls as f64),
};

/// Draws delay, completeness, freshness and model error over polls per day. If learning shares are
/// given, it draws them over the share instead, from a cold start.
pub(in crate::experiment) fn budgets(
    report: &mut ExperimentReport<'_>,
    given: &BudgetsPart,
) -> Result<(), String> {
    let cold = !given.learn.is_empty();
    let phases = Phases::over(report.world, report.start, given.train, given.test, cold);
    let phases = phases.map_err(|e| e.to_string())?;
    let world = chosen(report.world, given, &phases)?;
    let n = taking_part(&world, &phases);
    let mut points = Vec::new();
    for spender in &given.strategies {
        for estimator in &given.estimators {
            let curve = match given.estimators.len() {
                1 => spender.to_string(),
                _ => format!("{spender}/{estimator}"),
            };
            let options = BudgetOptions { true_counts: given.true_counts, ..given.options };
            for looks in &given.looks {
                let allowance = PollAllowance { polls: polls(*looks, n)?, per: DAY };
                let (cycle, estimator) = (given.cycle, *estimator);
                let setting = BudgetSetting { phases, allowance, cycle, estimator, options };
                let point = CurvePoint {
                    curve: curve.clone(),
                    spender: *spender,
                    x: *looks,
                    at: looks.to_string(),
                    setting,
                };
                if cold {
                    points.extend(given.learn.iter().map(|share| with_share(&point, *share)));
                } else {
                    points.push(point);
                }
            }
        }
    }
    let by = if cold { "learning share" } else { "looks a day" };
    report.heading(&format!("{} by {by}, {n} feeds", titled(&given.label, "Strategies")));
    let x = match cold {
        true => "learning polls, in percent of all polls",
        false => "looks a day per feed",
    };
    let x = Axis::new(x, Unit::Plain, false);
    let mut measures = vec![DELAY, COMPLETENESS, WINDOW_FRESHNESS, DIVERGENCE];
    measures.extend(cold.then_some(POLLS));
    let label = &given.label;
    Curves { world: &world, label, points: &points, x, measures: &measures }.draw(report);
    Ok(())
}

/// Returns a point with a learning share as its abscissa. `auto` has none and is not drawn.
fn with_share(point: &CurvePoint, share: LearnShare) -> CurvePoint {
    let options = BudgetOptions { learn: share, ..point.setting.options };
    let x = match share {
        LearnShare::Off => 0.0,
        LearnShare::Percent(percent) => f64::from(percent),
        LearnShare::Auto => f64::NAN,
    };
    let setting = BudgetSetting { options, ..point.setting };
    let (curve, spender) = (point.curve.clone(), point.spender);
    CurvePoint { curve, spender, x, at: share.to_string(), setting }
}

/// Draws delay over training lengths, tested on the same days.
pub(in crate::experiment) fn learning(
    report: &mut ExperimentReport<'_>,
    given: &LearningPart,
) -> Result<(), String> {
    let longest = given.train.iter().max().copied().ok_or("`train` names no length of learning")?;
    let whole = Phases::over(report.world, report.start, longest, given.test, false);
    let whole = whole.map_err(|e| e.to_string())?;
    let polls = polls(given.looks, taking_part(report.world, &whole))?;
    let mut points = Vec::new();
    for spender in &given.strategies {
        for train in &given.train {
            let start = whole.start + (longest - *train);
            points.push(CurvePoint {
                curve: spender.to_string(),
                spender: *spender,
                x: train.as_secs_f64() / DAY.as_secs_f64(),
                at: polling::written(*train),
                setting: BudgetSetting {
                    phases: Phases { start, train: *train, ..whole },
                    allowance: PollAllowance { polls, per: DAY },
                    cycle: given.cycle,
                    estimator: given.estimator,
                    options: given.options,
                },
            });
        }
    }
    report.heading(&format!("{} by days of learning", titled(&given.label, "Strategies")));
    let x = Axis::new("days of learning", Unit::Plain, false);
    let world = report.world;
    let label = &given.label;
    Curves { world, label, points: &points, x, measures: &[DELAY] }.draw(report);
    Ok(())
}

/// The curves of one part: the points to run, and the measures to draw.
struct Curves<'a> {
    world: &'a World,
    label: &'a str,
    points: &'a [CurvePoint],
    x: Axis,
    measures: &'a [CurveMeasure],
}

impl Curves<'_> {
    /// Runs every point, records its figures, and draws each measure.
    fn draw(&self, report: &mut ExperimentReport<'_>) {
        let one = |i: usize, _: &mut ()| {
            let point = &self.points[i];
            spend(self.world, point.spender, &point.setting)
        };
        let runs = parallel::map_each(self.points.len(), report.threads, one);
        for measure in self.measures {
            self.draw_measure(measure, &runs, report);
        }
    }

    fn draw_measure(
        &self,
        measure: &CurveMeasure,
        runs: &[StrategyRun],
        report: &mut ExperimentReport<'_>,
    ) {
        let mut series: Vec<Series> = Vec::new();
        for (point, run) in self.points.iter().zip(runs) {
            let Some(value) = (measure.of)(run) else { continue };
            let name = format!("{}@{}", measure.word, point.at);
            report.values.add(&subject(self.label, &point.curve), &name, Some(value));
            if !point.x.is_finite() {
                continue;
            }
            let drawn = (point.x, value, format!("{}, {}", point.curve, point.at));
            match series.iter_mut().find(|s| s.name == point.curve) {
                Some(curve) => curve.points.push(drawn),
                None => {
                    let hue = report.palette.hue(&point.curve);
                    series.push(Series::new(&point.curve, hue, vec![drawn], SeriesStyle::Dotted));
                }
            }
        }
        let (x, y) = (self.x.clone(), Axis::new(measure.axis, measure.unit, false));
        let plot = Plot { x, y, series, ..Plot::default() };
        let prefix = if self.label.is_empty() { String::new() } else { format!("{}-", self.label) };
        let file = format!("{prefix}{}", measure.word.replace('_', "-"));
        report.plot(&file, &format!("{} over {}.", measure.axis, self.x.label), &plot);
    }
}

fn titled(label: &str, plain: &str) -> String {
    if label.is_empty() { plain.to_owned() } else { format!("“{label}”") }
}

fn taking_part(world: &World, phases: &Phases) -> usize {
    world.feeds.iter().filter(|f| phases.first_poll(f.visible()).is_some()).count()
}

/// Returns the polls per day for some polls of each of `n` feeds.
fn polls(looks: f64, n: usize) -> Result<usize, String> {
    let polls = (looks * n as f64).round();
    if polls >= 1.0 {
        Ok(polls as usize)
    } else {
        Err(format!("{looks} polls per feed and day are less than one poll"))
    }
}

/// Returns the feeds of the part, chosen by their training phase.
fn chosen(world: &World, given: &BudgetsPart, phases: &Phases) -> Result<World, String> {
    if given.shape.is_none() && given.above_per_day <= 0.0 {
        return Ok(world.clone());
    }
    let days = given.train.as_secs_f64() / DAY.as_secs_f64();
    let fits = |feed: &&WorldFeed| {
        let trained = feed.between(phases.start, phases.test_start());
        let busy = trained.len() as f64 > given.above_per_day * days;
        busy && given.shape.is_none_or(|shape| shape_of_day(trained) == Some(shape))
    };
    let feeds: Vec<WorldFeed> = world.feeds.iter().filter(fits).cloned().collect();
    if feeds.is_empty() {
        return Err(format!("no feed of the world is meant by the part “{}”", given.label));
    }
    let domains = (0..feeds.len()).map(|i| vec![i]).collect();
    Ok(World { feeds, window: world.window, domains })
}

fn shape_of_day(times: &[Time]) -> Option<DayShape> {
    shape_of(&hours_of(times).map(f64::from)).map(|shape| match shape {
        ActivityShape::Peaks => DayShape::Peaks,
        ActivityShape::Uniform => DayShape::Uniform,
        ActivityShape::Waves => DayShape::Waves,
    })
}
