//! Axes: the positions of values, and the values with labels.

/// The unit of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    #[default]
    Plain,
    /// Seconds, with labels such as `5 min`.
    Seconds,
}

/// One axis of a plot.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub label: String,
    pub unit: Unit,
    pub log: bool,
}

impl Axis {
    pub fn new(label: &str, unit: Unit, log: bool) -> Axis {
        Axis { label: label.to_owned(), unit, log }
    }

    /// Returns the name of its column in a CSV file.
    pub(super) fn column(&self) -> String {
        let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
        let name: String = self.label.replace(", ", " ").chars().map(plain).collect();
        match self.unit {
            Unit::Seconds => name + "_seconds",
            Unit::Plain => name,
        }
    }
}

/// An axis fitted to the values that it must show.
pub(super) struct Scale {
    log: bool,
    unit: Unit,
    low: f64,
    high: f64,
}

/// Delays with labels.
const SECONDS: [f64; 14] = [
    1.0,
    10.0,
    60.0,
    300.0,
    900.0,
    3600.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    259_200.0,
    604_800.0,
    2_419_200.0,
    31_536_000.0,
];

/// Labels nearer to each other than this share of the axis would overlap.
const APART: f64 = 0.085;

impl Scale {
    pub(super) fn over(axis: &Axis, values: impl Iterator<Item = f64>) -> Scale {
        let usable = values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0));
        let bounds = usable.fold(None, |bounds: Option<(f64, f64)>, v| match bounds {
            None => Some((v, v)),
            Some((low, high)) => Some((low.min(v), high.max(v))),
        });
        let (mut low, mut high) = bounds.unwrap_or((1.0, 10.0));
        if axis.log {
            (low, high) = (low / 1.3, high * 1.3);
        } else {
            low = low.min(0.0);
            high = if high > low { high + (high - low) * 0.05 } else { low + 1.0 };
        }
        Scale { log: axis.log, unit: axis.unit, low, high }
    }

    /// Returns the position of a value, from 0 to 1; `None` if it has no logarithm.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if self.log && value <= 0.0 {
            return None;
        }
        let of = |v: f64| if self.log { v.ln() } else { v };
        Some((of(value) - of(self.low)) / (of(self.high) - of(self.low)))
    }

    /// Returns the values with labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let named: Vec<f64> = match (self.unit, self.log) {
            (Unit::Seconds, true) => SECONDS.to_vec(),
            (_, true) => decades(self.low, self.high),
            (Unit::Seconds, false) => even(self.low, self.high, seconds_step),
            (Unit::Plain, false) => even(self.low, self.high, plain_step),
        };
        let mut ticks: Vec<(f64, String)> = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for value in named.into_iter().filter(|v| (self.low..=self.high).contains(v)) {
            let Some(place) = self.place(value).filter(|place| place - last >= APART) else {
                continue;
            };
            last = place;
            ticks.push((value, name(value, self.unit)));
        }
        ticks
    }
}

/// Returns 1, 2 and 5 of every power of ten; only the powers if there are many.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let steps: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    (first..=last).flat_map(|power| steps.iter().map(move |s| s * 10_f64.powi(power))).collect()
}

fn even(low: f64, high: f64, step: fn(f64) -> f64) -> Vec<f64> {
    let step = step((high - low) / 6.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

fn plain_step(about: f64) -> f64 {
    let power = 10_f64.powf(about.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|s| s * power >= about);
    step.unwrap_or(10.0) * power
}

fn seconds_step(about: f64) -> f64 {
    SECONDS.into_iter().find(|s| *s >= about).unwrap_or(31_536_000.0)
}

pub(super) fn name(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => {
            polling::spoken(std::time::Duration::from_secs_f64(value.max(0.0).round()))
        }
        Unit::Plain if value != 0.0 && value.abs() < 0.01 => format!("{value:.0e}"),
        Unit::Plain if value.abs() >= 10_000.0 => format!("{:.0}k", value / 1000.0),
        Unit::Plain => {
            let text = format!("{value:.2}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_lie_within() {
        let scale = Scale::over(&Axis::new("", Unit::Plain, false), [0.0, 0.93].into_iter());
        let names: Vec<String> = scale.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(names, ["0", "0.2", "0.4", "0.6", "0.8"]);
        let log = Scale::over(&Axis::new("", Unit::Seconds, true), [50.0, 90_000.0].into_iter());
        let names: Vec<String> = log.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(names[0], "1 min");
        assert_eq!(names.last().map(String::as_str), Some("1 d"));
        assert_eq!(log.place(0.0), None);
    }
}
