//! Performing a definition: each part in turn, figures and sections gathered, expectations judged.

use crate::World;
use crate::report::{Palette, Section, Table};

use super::parts::{self, Part};
use super::{Definition, Judged, Values};

/// What came out of an experiment.
#[derive(Clone, Debug)]
pub struct Performed {
    pub sections: Vec<Section>,
    pub values: Values,
    pub judged: Vec<Judged>,
}

/// Performs every part. `world` is the one that the definition names; an empty one where it names
/// none. Fails with what is wrong about the definition.
pub fn perform(
    definition: &Definition,
    world: &World,
    threads: usize,
) -> Result<Performed, String> {
    let start = definition.start();
    let (values, palette, sections) = (Values::default(), Palette::default(), Vec::new());
    let mut part = Part { world, start, threads, values, palette, sections };
    if definition.stats {
        parts::stats(&mut part);
    }
    for run in &definition.run {
        parts::run(&mut part, run)?;
    }
    for trajectories in &definition.trajectories {
        parts::trajectories(&mut part, trajectories)?;
    }
    for budget in &definition.budget {
        parts::budget(&mut part, budget)?;
    }
    for budgets in &definition.budgets {
        parts::budgets(&mut part, budgets)?;
    }
    for learning in &definition.learning {
        parts::learning(&mut part, learning)?;
    }
    for habits in &definition.habits {
        parts::habits(&mut part, habits);
    }
    for cycles in &definition.cycles {
        parts::cycles(&mut part, cycles);
    }
    for oracle in &definition.oracle {
        parts::oracle(&mut part, oracle)?;
    }
    for changes in &definition.changes {
        parts::changes(&mut part, changes)?;
    }
    for showing in &definition.showing {
        parts::showing(&mut part, showing)?;
    }
    for shapes in &definition.shapes {
        parts::shapes(&mut part, shapes);
    }
    let Part { values, sections: parts, .. } = part;
    if let Some(name) = values.twice() {
        return Err(format!("two figures are called `{name}`; give their parts a label each"));
    }
    let judged: Vec<Judged> = definition.expect.iter().map(|e| e.judge(&values)).collect();
    let mut sections = vec![
        Section::Prose(definition.analysis.trim().to_owned()),
        Section::Heading("What was expected".to_owned()),
        Section::Table(verdicts(&judged)),
    ];
    sections.extend(parts);
    Ok(Performed { sections, values, judged })
}

fn verdicts(judged: &[Judged]) -> Table {
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
    let row = |judged: &Judged| {
        let verdict = if judged.holds { "holds" } else { "does not hold" };
        vec![judged.text.clone(), shown(judged.left), shown(judged.right), verdict.to_owned()]
    };
    let holding = judged.iter().enumerate().filter(|(_, j)| j.holds).map(|(i, _)| (i, 3));
    Table {
        header: ["Expectation", "Left", "Right", "Verdict"].map(str::to_owned).to_vec(),
        rows: judged.iter().map(row).collect(),
        marked: holding.collect(),
        data: String::new(),
    }
}
