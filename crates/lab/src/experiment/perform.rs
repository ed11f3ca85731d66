//! Performs a definition: runs each part, collects figures and sections, and judges expectations.

use crate::World;
use crate::report::{Palette, ReportSection, ReportTable};

use super::parts::{self, ExperimentReport};
use super::{Definition, JudgedExpectation, Values};

/// The result of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentResult {
    pub sections: Vec<ReportSection>,
    pub values: Values,
    pub judged: Vec<JudgedExpectation>,
}

/// Performs every part. `world` is the world of the definition, or an empty one if it has none. The
/// error names a fault of the definition.
pub fn perform(
    definition: &Definition,
    world: &World,
    threads: usize,
) -> Result<ExperimentResult, String> {
    let start = definition.start();
    let (values, palette, sections) = (Values::default(), Palette::default(), Vec::new());
    let mut report = ExperimentReport { world, start, threads, values, palette, sections };
    if definition.stats {
        parts::stats(&mut report);
    }
    for run in &definition.run {
        parts::run(&mut report, run)?;
    }
    for trajectories in &definition.trajectories {
        parts::trajectories(&mut report, trajectories)?;
    }
    for budget in &definition.budget {
        parts::budget(&mut report, budget)?;
    }
    for budgets in &definition.budgets {
        parts::budgets(&mut report, budgets)?;
    }
    for learning in &definition.learning {
        parts::learning(&mut report, learning)?;
    }
    for habits in &definition.habits {
        parts::habits(&mut report, habits);
    }
    for cycles in &definition.cycles {
        parts::cycles(&mut report, cycles);
    }
    for oracle in &definition.oracle {
        parts::oracle(&mut report, oracle)?;
    }
    for changes in &definition.changes {
        parts::changes(&mut report, changes)?;
    }
    for showing in &definition.showing {
        parts::showing(&mut report, showing)?;
    }
    for shapes in &definition.shapes {
        parts::shapes(&mut report, shapes);
    }
    let ExperimentReport { values, sections: parts, .. } = report;
    if let Some(name) = values.twice() {
        return Err(format!("two figures are called `{name}`; give their parts a label each"));
    }
    let judged: Vec<JudgedExpectation> =
        definition.expect.iter().map(|e| e.judge(&values)).collect();
    let mut sections = vec![
        ReportSection::Prose(definition.analysis.trim().to_owned()),
        ReportSection::Heading("What was expected".to_owned()),
        ReportSection::Table(verdicts(&judged)),
    ];
    sections.extend(parts);
    Ok(ExperimentResult { sections, values, judged })
}

fn verdicts(judged: &[JudgedExpectation]) -> ReportTable {
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
    let row = |judged: &JudgedExpectation| {
        let verdict = if judged.holds { "holds" } else { "does not hold" };
        vec![judged.text.clone(), shown(judged.left), shown(judged.right), verdict.to_owned()]
    };
    let holding = judged.iter().enumerate().filter(|(_, j)| j.holds).map(|(i, _)| (i, 3));
    ReportTable {
        header: ["Expectation", "Left", "Right", "Verdict"].map(str::to_owned).to_vec(),
        rows: judged.iter().map(row).collect(),
        marked: holding.collect(),
        data: String::new(),
    }
}
