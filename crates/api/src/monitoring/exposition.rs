//! The text format of Prometheus (version 0.0.4): families of samples, each with a help text and a
//! type. This module knows the format and no metric.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use store::Distribution;

/// The text of all families so far.
#[derive(Default)]
pub struct Exposition(String);

/// The type of a metric: counters only grow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
}

impl Exposition {
    pub fn text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Adds a metric without labels.
    pub fn one(&mut self, kind: MetricKind, name: &str, help: &str, value: impl Into<f64>) {
        self.family(kind, name, help, "", &[("", value.into())]);
    }

    /// Adds a metric with one sample for each value of a label. Label values are words of our own,
    /// never texts of feeds or people, so their number stays small.
    pub fn family(
        &mut self,
        kind: MetricKind,
        name: &str,
        help: &str,
        label: &str,
        samples: &[(&str, f64)],
    ) {
        self.head(name, if kind == MetricKind::Counter { "counter" } else { "gauge" }, help);
        for (value, figure) in samples {
            let _ = match label {
                "" => writeln!(self.0, "{name} {figure}"),
                label => {
                    let value = escaped(value);
                    writeln!(self.0, "{name}{{{label}=\"{value}\"}} {figure}")
                }
            };
        }
    }

    /// Adds the number and the sum of durations in seconds.
    pub fn summary(&mut self, name: &str, help: &str, count: u64, total: Duration) {
        self.head(name, "summary", help);
        let total = total.as_secs_f64();
        let _ = write!(self.0, "{name}_sum {total}\n{name}_count {count}\n");
    }

    /// Adds a histogram of durations in seconds.
    pub fn histogram(&mut self, name: &str, help: &str, found: &Distribution) {
        self.head(name, "histogram", help);
        for (bound, n) in &found.up_to {
            let _ = writeln!(self.0, "{name}_bucket{{le=\"{}\"}} {n}", bound.as_secs_f64());
        }
        let _ = writeln!(self.0, "{name}_bucket{{le=\"+Inf\"}} {}", found.count);
        let _ = writeln!(self.0, "{name}_sum {}", found.total.as_secs_f64());
        let _ = writeln!(self.0, "{name}_count {}", found.count);
    }
}

/// Returns the value of a label as the format wants it.
fn escaped(value: &str) -> Cow<'_, str> {
    if !value.contains(['\\', '"', '\n']) {
        return value.into();
    }
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_label_cannot_end_its_line() {
        let mut text = Exposition::default();
        text.family(MetricKind::Gauge, "m", "Help.", "l", &[("a\"} 1\nx \\", 2.0)]);
        assert!(text.text().ends_with("m{l=\"a\\\"} 1\\nx \\\\\"} 2\n"));
    }

    #[test]
    fn a_summary_has_a_sum_and_a_count() {
        let mut text = Exposition::default();
        text.summary("m", "Help.", 3, Duration::from_millis(1500));
        assert_eq!(text.text(), "# HELP m Help.\n# TYPE m summary\nm_sum 1.5\nm_count 3\n");
    }
}
