//! Calibration: sets the free parameter of a policy so that it makes a given number of polls, or
//! reaches a given mean delay. Delays are comparable only at equal polls, and polls only at equal
//! delay.
//!
//! The factor of `entry-frequency` and the price of `tide` are always free. For other policies, `?`
//! marks the free parameter: `indhist:?`, `fix:?@1m..7d`. Polls and delay are monotonic in the
//! parameter, so bisection finds the value.

use polling::SpecError;
use polling::{Decimal, PolicySpec};

use crate::{PolicyRun, RunProgress, Setting, World, run};

/// The relative error at which the goal counts as reached.
pub const TOLERANCE: f64 = 0.005;
/// Bisection steps. 40 would separate values that differ in the twelfth digit.
const STEPS_MAX: u32 = 40;
/// The factor between two values while the range is searched.
const STRIDE: f64 = 8.0;

/// A policy with a free parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTemplate {
    /// The specification with `?` in place of the parameter.
    template: String,
    kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterKind {
    /// A decimal fraction.
    Number,
    /// Whole seconds.
    Seconds,
}

/// The goal of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    Polls(u64),
    /// The mean over entries, in seconds.
    Delay(f64),
}

impl Goal {
    /// Returns the number of polls of another run as a goal.
    pub fn polls_of(run: &PolicyRun) -> Goal {
        Goal::Polls(run.total.polls)
    }

    /// Returns the delay of another run as a goal; `None` if it found no entry.
    pub fn delay_of(run: &PolicyRun) -> Option<Goal> {
        run.by_entry.delay.map(Goal::Delay)
    }

    /// Returns the result of a run divided by the goal.
    fn ratio(&self, run: &PolicyRun) -> f64 {
        match self {
            Goal::Polls(polls) => run.total.polls as f64 / (*polls).max(1) as f64,
            Goal::Delay(delay) => {
                run.by_entry.delay.unwrap_or(f64::INFINITY) / delay.max(f64::MIN_POSITIVE)
            }
        }
    }
}

/// A calibrated policy.
#[derive(Clone, Debug)]
pub struct CalibratedRun {
    pub run: PolicyRun,
    /// Whether the run is within the tolerance. Bounds can make that impossible.
    pub reached: bool,
}

impl PolicyTemplate {
    /// Returns the template of a policy, if it has a free parameter.
    pub fn of(text: &str) -> Option<PolicyTemplate> {
        let text = text.trim();
        let (policy, bounds) = match text.split_once('@') {
            Some((policy, bounds)) => (policy, format!("@{bounds}")),
            None => (text, String::new()),
        };
        let name = policy.split(':').next().unwrap_or(policy);
        let kind = if matches!(name, "fix" | "tide") {
            ParameterKind::Seconds
        } else {
            ParameterKind::Number
        };
        let template = match name {
            "entry-frequency" => format!("{name}:?{bounds}"),
            // The price of a miss is fixed; only the price of a poll is free.
            "tide" => match policy.split_once(',') {
                Some((_, miss)) => format!("{name}:?,{miss}{bounds}"),
                None => format!("{name}:?{bounds}"),
            },
            _ if policy.matches('?').count() == 1 => text.to_owned(),
            _ => return None,
        };
        Some(PolicyTemplate { template, kind })
    }

    /// Returns the policy with this value of its parameter.
    fn with(&self, value: f64) -> Result<PolicySpec, SpecError> {
        let written = match self.kind {
            ParameterKind::Seconds => format!("{}s", value.round() as u64),
            ParameterKind::Number => number(value).to_string(),
        };
        self.template.replace('?', &written).parse()
    }

    /// Returns the range of the search. It is wider than any useful value.
    const fn range(&self) -> (f64, f64) {
        match self.kind {
            ParameterKind::Seconds => (1.0, 3e8),
            ParameterKind::Number => (1e-6, 1e6),
        }
    }
}

impl PolicyTemplate {
    /// Returns a typical value.
    const fn middle(&self) -> f64 {
        match self.kind {
            ParameterKind::Seconds => 1800.0,
            ParameterKind::Number => 0.5,
        }
    }
}

/// Rounds to six significant digits, with as few decimals as possible.
fn number(value: f64) -> Decimal {
    let magnitude = value.abs().log10().floor() as i32;
    let scale = (5 - magnitude).clamp(0, 9);
    let mut digits = (value * 10_f64.powi(scale)).round() as i64;
    let mut scale = scale as u8;
    while scale > 0 && digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    Decimal::new(digits.max(1), scale)
}

/// Runs the policy with the parameter that comes nearest to the goal.
pub fn calibrate(
    world: &World,
    free: &PolicyTemplate,
    goal: Goal,
    setting: &Setting,
    progress: &RunProgress,
) -> Result<CalibratedRun, SpecError> {
    calibrate_by(free, goal, |spec| run(world, spec, setting, progress))
}

/// Like [`calibrate`], but the caller runs the policy.
pub fn calibrate_by(
    free: &PolicyTemplate,
    goal: Goal,
    mut run: impl FnMut(&PolicySpec) -> PolicyRun,
) -> Result<CalibratedRun, SpecError> {
    let mut try_value =
        |value: f64| -> Result<PolicyRun, SpecError> { Ok(run(&free.with(value)?)) };
    let (least, most) = free.range();
    // Search outwards from the middle, because runs at the ends of the range take longest.
    let (mut low, mut high) = (free.middle(), (free.middle() * STRIDE).min(most));
    let (mut at_low, mut at_high) = (try_value(low)?, try_value(high)?);
    if goal.ratio(&at_low) == goal.ratio(&at_high) {
        (low, high) = (least, most);
        (at_low, at_high) = (try_value(low)?, try_value(high)?);
    }
    let grows = goal.ratio(&at_high) >= goal.ratio(&at_low);
    while (goal.ratio(&at_high) < 1.0) == grows && high < most {
        (low, at_low, high) = (high, at_high, (high * STRIDE).min(most));
        at_high = try_value(high)?;
    }
    while (goal.ratio(&at_low) > 1.0) == grows && low > least {
        (high, at_high, low) = (low, at_low, (low / STRIDE).max(least));
        at_low = try_value(low)?;
    }
    let mut best = nearer(at_low, at_high, goal);
    for _ in 0..STEPS_MAX {
        if off(&best, goal) <= TOLERANCE / 2.0 {
            break;
        }
        let middle = (low * high).sqrt();
        if free.with(middle)? == free.with(low)? || free.with(middle)? == free.with(high)? {
            break;
        }
        let found = try_value(middle)?;
        if (goal.ratio(&found) < 1.0) == grows {
            low = middle;
        } else {
            high = middle;
        }
        best = nearer(best, found, goal);
    }
    let reached = off(&best, goal) <= TOLERANCE;
    Ok(CalibratedRun { run: best, reached })
}

/// Returns the relative distance of a run from the goal.
fn off(run: &PolicyRun, goal: Goal) -> f64 {
    (goal.ratio(run) - 1.0).abs()
}

fn nearer(a: PolicyRun, b: PolicyRun, goal: Goal) -> PolicyRun {
    if off(&b, goal) < off(&a, goal) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_parameters_are_found_where_they_stand() {
        let template = |text| PolicyTemplate::of(text).map(|free| free.template);
        assert_eq!(template("entry-frequency").unwrap(), "entry-frequency:?");
        assert_eq!(template("entry-frequency:2@1m..1d").unwrap(), "entry-frequency:?@1m..1d");
        assert_eq!(template("tide:300s").unwrap(), "tide:?");
        assert_eq!(template("tide:300s,7d@1m..1d").unwrap(), "tide:?,7d@1m..1d");
        assert_eq!(template("tide:?,7d").unwrap(), "tide:?,7d");
        assert_eq!(template("indhist-ttl:?,0.1,1h,2").unwrap(), "indhist-ttl:?,0.1,1h,2");
        assert_eq!(template("mavsync"), None);
        assert_eq!(template("fix:1h"), None);
    }

    #[test]
    fn values_are_written_with_six_digits() {
        let text =
            |value| PolicyTemplate::of("adaptive-ttl:?").unwrap().with(value).unwrap().to_string();
        assert_eq!(text(0.123_456_789), "adaptive-ttl:0.123457");
        assert_eq!(text(2.5), "adaptive-ttl:2.5");
        assert_eq!(text(1e6), "adaptive-ttl:1000000");
        assert_eq!(text(1e-6), "adaptive-ttl:0.000001");
        assert_eq!(
            PolicyTemplate::of("fix:?").unwrap().with(3294.4).unwrap().to_string(),
            "fix:3294s"
        );
    }
}
