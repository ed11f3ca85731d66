//! The parts of an experiment. Each file runs one part, and adds its figures and sections to one
//! [`ExperimentReport`].

mod budget;
mod changes;
mod curves;
mod cycles;
mod habits;
mod oracle;
mod run;
mod shapes;
mod showing;
mod stats;
mod trajectories;
mod volume;

use feed::Time;

use super::Values;
use crate::World;
use crate::report::{Palette, Plot, ReportFigure, ReportSection};
pub(super) use budget::budget;
pub(super) use changes::changes;
pub(super) use curves::{budgets, learning};
pub(super) use cycles::cycles;
pub(super) use habits::habits;
pub(super) use oracle::oracle;
pub(super) use run::run;
pub(super) use shapes::shapes;
pub(super) use showing::showing;
pub(super) use stats::stats;
pub(super) use trajectories::trajectories;

/// The inputs of all parts, and their results.
pub(in crate::experiment) struct ExperimentReport<'w> {
    pub(in crate::experiment) world: &'w World,
    pub(in crate::experiment) start: Option<Time>,
    pub(in crate::experiment) threads: usize,
    pub(in crate::experiment) values: Values,
    /// One colour per policy and strategy, over all parts.
    pub(in crate::experiment) palette: Palette,
    pub(in crate::experiment) sections: Vec<ReportSection>,
}

impl ExperimentReport<'_> {
    pub(super) fn heading(&mut self, text: &str) {
        self.sections.push(ReportSection::Heading(text.to_owned()));
    }

    pub(super) fn plot(&mut self, name: &str, caption: &str, plot: &Plot) {
        self.sections.push(ReportSection::Figure(ReportFigure {
            name: name.to_owned(),
            caption: caption.to_owned(),
            svg: plot.svg(),
            csv: plot.csv(),
        }));
    }
}

/// Returns the subject of a figure within its part.
fn subject(label: &str, name: &str) -> String {
    if label.is_empty() { name.to_owned() } else { format!("{label}/{name}") }
}
