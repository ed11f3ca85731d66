//! Facts: a figure with its name, and the published figure where there is one.

use serde::Serialize;

/// All figures of a population.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopulationStats {
    pub feeds: u64,
    pub polls: u64,
    pub entries: u64,
    pub sections: Vec<StatSection>,
}

/// One topic, with the place in the dissertation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatSection {
    /// A name for programs and files.
    pub name: &'static str,
    pub title: &'static str,
    /// The section, figure or table of the dissertation.
    pub source: &'static str,
    pub facts: Vec<StatFact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<StatCurve>,
    /// Sentences that a reader of the figures must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatFact {
    pub name: String,
    #[serde(flatten)]
    pub value: FactValue,
    /// The published figure, as it was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<&'static str>,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FactValue {
    Share {
        n: u64,
        of: u64,
    },
    Number {
        /// `None` where it is not defined.
        value: Option<f64>,
        unit: &'static str,
    },
    Words {
        words: String,
    },
}

impl FactValue {
    /// Returns the share or the number.
    pub fn number(&self) -> Option<f64> {
        match self {
            FactValue::Share { of: 0, .. } | FactValue::Words { .. } => None,
            FactValue::Share { n, of } => Some(*n as f64 / *of as f64),
            FactValue::Number { value, .. } => *value,
        }
    }
}

/// How the points of a figure are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveShape {
    Line,
    /// Each point is a bar with a name.
    Bars,
    /// Each point is a mark: x on the axis, y the number of its lane, which has a name.
    Lanes,
}

/// The points of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatCurve {
    pub x: &'static str,
    pub y: &'static str,
    /// Both axes are logarithmic.
    pub log: bool,
    pub shape: CurveShape,
    pub points: Vec<(f64, f64)>,
    /// The names of bars or lanes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Straight lines in a logarithmic figure: name, a and b of y = a·x^b.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<(&'static str, f64, f64)>,
}

impl StatSection {
    pub(super) fn new(
        name: &'static str,
        title: &'static str,
        source: &'static str,
        facts: Vec<StatFact>,
    ) -> StatSection {
        StatSection { name, title, source, facts, curve: None, remarks: Vec::new() }
    }

    pub(super) fn with_curve(self, curve: StatCurve) -> StatSection {
        StatSection { curve: Some(curve), ..self }
    }

    pub(super) fn with_remark(mut self, remark: &str) -> StatSection {
        self.remarks.push(remark.to_owned());
        self
    }
}

impl PopulationStats {
    /// Returns a fact of a section by their names.
    pub fn fact(&self, section: &str, name: &str) -> Option<&StatFact> {
        let section = self.sections.iter().find(|found| found.name == section)?;
        section.facts.iter().find(|fact| fact.name == name)
    }
}

impl StatCurve {
    pub(super) fn bars(x: &'static str, y: &'static str, bars: Vec<(String, f64)>) -> StatCurve {
        let points = bars.iter().enumerate().map(|(i, (_, y))| (i as f64, *y)).collect();
        let names = bars.into_iter().map(|(name, _)| name).collect();
        StatCurve { x, y, log: false, shape: CurveShape::Bars, points, names, laws: Vec::new() }
    }

    pub(super) fn line(x: &'static str, y: &'static str, points: Vec<(f64, f64)>) -> StatCurve {
        let (names, laws) = (Vec::new(), Vec::new());
        StatCurve { x, y, log: false, shape: CurveShape::Line, points, names, laws }
    }

    pub(super) fn lanes(
        x: &'static str,
        y: &'static str,
        lanes: &[(String, Vec<f64>)],
    ) -> StatCurve {
        let marks = |(lane, (_, marks)): (usize, &(String, Vec<f64>))| {
            marks.iter().map(|mark| (*mark, lane as f64)).collect::<Vec<_>>()
        };
        let points = lanes.iter().enumerate().flat_map(marks).collect();
        let names = lanes.iter().map(|(name, _)| name.clone()).collect();
        StatCurve { x, y, log: false, shape: CurveShape::Lanes, points, names, laws: Vec::new() }
    }
}

pub(super) fn share(
    name: impl Into<String>,
    n: u64,
    of: u64,
    published: Option<&'static str>,
) -> StatFact {
    StatFact { name: name.into(), value: FactValue::Share { n, of }, published }
}

pub(super) fn number(
    name: impl Into<String>,
    value: Option<f64>,
    unit: &'static str,
    published: Option<&'static str>,
) -> StatFact {
    let value = value.filter(|value| value.is_finite());
    StatFact { name: name.into(), value: FactValue::Number { value, unit }, published }
}

pub(super) fn words(
    name: impl Into<String>,
    words: String,
    published: Option<&'static str>,
) -> StatFact {
    StatFact { name: name.into(), value: FactValue::Words { words }, published }
}
