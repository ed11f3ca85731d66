//! Which queries exist and who reads whom: says whether a file of statements fits, and refuses
//! cycles with their path. All of a file is taken, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::ast::{Create, Name, Query, Statement};
use crate::limits::CHAIN_MAX;
use crate::suggest::meant_name;

/// The names of all queries, each with the names it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    reads: BTreeMap<String, Vec<String>>,
}

/// What a statement does to the set of queries, in the order of the file. The number is that of
/// the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Created(usize),
    Replaced(usize),
    Dropped(usize),
    /// `DROP FEED IF EXISTS` of one that does not.
    Nothing(usize),
}

impl Catalog {
    pub fn new() -> Catalog {
        Catalog::default()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.reads.contains_key(name)
    }

    /// Takes in a query that is known to fit: one that was stored.
    pub fn insert(&mut self, name: &str, query: &Query) {
        self.reads.insert(name.to_owned(), names_read(query));
    }

    /// Whether a file would be taken. Changes nothing.
    pub fn check(&mut self, statements: &[Statement]) -> Result<Vec<Effect>, Vec<Fault>> {
        let (checked, undo) = self.try_apply(statements);
        self.restore(undo);
        checked
    }

    /// Takes a file of statements, or refuses it and stays as it was. Queries of one file may read
    /// each other in any order.
    pub fn apply(&mut self, statements: &[Statement]) -> Result<Vec<Effect>, Vec<Fault>> {
        let (checked, undo) = self.try_apply(statements);
        if checked.is_err() {
            self.restore(undo);
        }
        checked
    }

    fn try_apply(&mut self, statements: &[Statement]) -> (Result<Vec<Effect>, Vec<Fault>>, Undo) {
        let (mut effects, mut faults, mut undo) = (Vec::new(), Vec::new(), Undo::new());
        for (number, statement) in statements.iter().enumerate() {
            match self.take(number, statement, &mut undo) {
                Ok(effect) => effects.push(effect),
                Err(fault) => faults.push(fault),
            }
        }
        for statement in statements {
            match statement {
                Statement::Create(create) => faults.extend(self.check_reads(create)),
                Statement::Drop(drop) => faults.extend(self.check_dropped(&drop.name)),
            }
        }
        faults.sort_by_key(|fault| fault.at);
        (if faults.is_empty() { Ok(effects) } else { Err(faults) }, undo)
    }

    fn take(
        &mut self,
        number: usize,
        statement: &Statement,
        undo: &mut Undo,
    ) -> Result<Effect, Fault> {
        match statement {
            Statement::Create(create) => {
                let name = &create.name;
                let exists = self.contains(&name.text);
                if exists && !create.replace {
                    let help = "write CREATE OR REPLACE FEED, or choose another name";
                    let message = format!("a query named `{}` exists already", name.text);
                    return Err(Fault::new(name.at, message).help(help));
                }
                let before = self.reads.insert(name.text.clone(), names_read(&create.query));
                undo.push((name.text.clone(), before));
                Ok(if exists { Effect::Replaced(number) } else { Effect::Created(number) })
            }
            Statement::Drop(drop) => {
                let name = &drop.name;
                let Some(before) = self.reads.remove(&name.text) else {
                    let missing = || Err(self.missing(name));
                    return if drop.if_exists { Ok(Effect::Nothing(number)) } else { missing() };
                };
                undo.push((name.text.clone(), Some(before)));
                Ok(Effect::Dropped(number))
            }
        }
    }

    fn restore(&mut self, undo: Undo) {
        for (name, before) in undo.into_iter().rev() {
            match before {
                Some(reads) => self.reads.insert(name, reads),
                None => self.reads.remove(&name),
            };
        }
    }

    fn missing(&self, name: &Name) -> Fault {
        let fault = Fault::new(name.at, format!("there is no query named `{}`", name.text));
        match meant_name(&name.text, self.reads.keys().map(String::as_str)) {
            Some(meant) => fault.help(format!("did you mean `{meant}`?")),
            None => fault.help("`tidings query list` names them all"),
        }
    }

    /// What a query reads must exist, and must not lead back to it.
    fn check_reads(&self, create: &Create) -> Vec<Fault> {
        let mut faults = Vec::new();
        for read in create.query.reads() {
            if !self.contains(&read.text) {
                faults.push(self.missing(read));
                continue;
            }
            let mut path = vec![create.name.text.as_str(), read.text.as_str()];
            match self.follow(&create.name.text, &mut path, &mut BTreeSet::new()) {
                Chain::Ends => {}
                Chain::Returns => {
                    let message = format!("the query reads itself: {}", path.join(" → "));
                    faults.push(Fault::new(read.at, message).help("read the feeds instead"));
                }
                Chain::TooLong => {
                    let message = format!("queries read each other more than {CHAIN_MAX} deep");
                    faults.push(Fault::new(read.at, message));
                }
            }
        }
        faults
    }

    /// Walks from the end of `path` through everything that is read, until `goal` is found; then
    /// `path` is the way to it. `dead` are names from which no way leads there.
    fn follow<'a>(
        &'a self,
        goal: &str,
        path: &mut Vec<&'a str>,
        dead: &mut BTreeSet<&'a str>,
    ) -> Chain {
        let Some(here) = path.last().copied() else { return Chain::Ends };
        if here == goal {
            return Chain::Returns;
        }
        if path.len() > CHAIN_MAX {
            return Chain::TooLong;
        }
        for next in self.reads.get(here).into_iter().flatten() {
            if dead.contains(next.as_str()) {
                continue;
            }
            path.push(next);
            match self.follow(goal, path, dead) {
                Chain::Ends => path.pop(),
                other => return other,
            };
        }
        dead.insert(here);
        Chain::Ends
    }

    /// A query that others read cannot go.
    fn check_dropped(&self, name: &Name) -> Option<Fault> {
        if self.contains(&name.text) {
            return None;
        }
        const SHOWN_MAX: usize = 3;
        let reads_it = self.reads.iter().filter(|(_, reads)| reads.contains(&name.text));
        let readers: Vec<&str> = reads_it.map(|(reader, _)| reader.as_str()).collect();
        let shown = readers.iter().take(SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = readers.len().saturating_sub(SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("`{}` is read by {shown}{more}", name.text);
        (!readers.is_empty()).then(|| Fault::new(name.at, message).help("drop those as well"))
    }
}

type Undo = Vec<(String, Option<Vec<String>>)>;

enum Chain {
    Ends,
    Returns,
    TooLong,
}

fn names_read(query: &Query) -> Vec<String> {
    query.reads().into_iter().map(|name| name.text.clone()).collect()
}
