//! The text format of Prometheus (version 0.0.4), written by hand: families of samples, each with
//! its help and its type. It knows no figure.

use std::fmt::Write as _;

use store::Distribution;

/// Families, one after the other.
#[derive(Default)]
pub struct Exposition(String);

/// Whether a figure only ever grows.
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
        // Writing to a string does not fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// One figure without labels.
    pub fn one(&mut self, kind: MetricKind, name: &str, help: &str, value: impl Into<f64>) {
        self.family(kind, name, help, "", &[("", value.into())]);
    }

    /// One figure for each value of a label. The values are our own words: nothing that a feed or
    /// a person wrote becomes a label, so that there are never many.
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
                label => writeln!(self.0, "{name}{{{label}=\"{value}\"}} {figure}"),
            };
        }
    }

    /// Durations in seconds, by how many were not above each bound.
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
