//! The names of all queries and which query reads which. Checks a file of statements against them,
//! and refuses cycles with their path. A file applies as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::language::ast::{Create, Query, QueryName, Statement};
use crate::language::suggest::meant_name;
use crate::limits::CHAIN_MAX;

/// The names of all queries, each with the names it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    reads: BTreeMap<String, Vec<String>>,
}

/// The effect of a statement on the set of queries. The number is the index of the statement in the
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Created(usize),
    Replaced(usize),
    Dropped(usize),
    /// `DROP FEED IF EXISTS` of a query that does not exist.
    Nothing(usize),
}

impl Effect {
    /// Returns the index of the statement in the file.
    pub fn statement(&self) -> usize {
        match self {
            Effect::Created(at) | Effect::Replaced(at) => *at,
            Effect::Dropped(at) | Effect::Nothing(at) => *at,
        }
    }

    /// Returns the word for the effect in answers of commands and of the API.
    pub fn word(&self) -> &'static str {
        match self {
            Effect::Created(_) => "created",
            Effect::Replaced(_) => "replaced",
            Effect::Dropped(_) => "dropped",
            Effect::Nothing(_) => "unchanged",
        }
    }
}

impl Catalog {
    pub fn new() -> Catalog {
        Catalog::default()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.reads.contains_key(name)
    }

    /// Inserts a stored query, which was checked before.
    pub fn insert(&mut self, name: &str, query: &Query) {
        self.reads.insert(name.to_owned(), names_read(query));
    }

    /// Checks whether a file would apply. Changes nothing.
    pub fn check(&mut self, statements: &[Statement]) -> Result<Vec<Effect>, Vec<Fault>> {
        let (checked, undo) = self.try_apply(statements);
        self.restore(undo);
        checked
    }

    /// Applies a file of statements, or refuses it and changes nothing. Queries of one file may
    /// read each other in any order.
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
        if faults.is_empty() {
            faults.extend(self.check_chains(statements));
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

    fn missing(&self, name: &QueryName) -> Fault {
        let fault = Fault::new(name.at, format!("there is no query named `{}`", name.text));
        match meant_name(&name.text, self.reads.keys().map(String::as_str)) {
            Some(meant) => fault.help(format!("did you mean `{meant}`?")),
            None => fault.help("`tidings query list` shows all queries"),
        }
    }

    /// Checks that every query read here exists and does not lead back to this one.
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
                Chain::TooLong => faults.push(too_long(read)),
            }
        }
        faults
    }

    /// Walks from the end of `path` through everything that is read, until it finds `goal`; then
    /// `path` leads there. `dead` holds names that do not lead there.
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

    /// Checks that no chain of queries is too long. The matcher evaluates a query after those it
    /// reads, and supports a limited depth. Expects that there are no cycles.
    fn check_chains(&self, statements: &[Statement]) -> Option<Fault> {
        let mut readers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (reader, reads) in &self.reads {
            reads.iter().for_each(|read| readers.entry(read).or_default().push(reader));
        }
        let below = |name: &str| self.reads.get(name).into_iter().flatten().map(String::as_str);
        let above = |name: &str| readers.get(name).into_iter().flatten().copied();
        let (mut lengths_below, mut lengths_above) = (BTreeMap::new(), BTreeMap::new());
        statements.iter().find_map(|statement| {
            let Statement::Create(create) = statement else { return None };
            let name = create.name.text.as_str();
            let first = create.query.reads().into_iter().next()?;
            let length = longest(name, &below, &mut lengths_below, CHAIN_MAX + 1)
                + longest(name, &above, &mut lengths_above, CHAIN_MAX + 1)
                - 1;
            (length > CHAIN_MAX).then(|| too_long(first))
        })
    }

    /// Checks that no other query reads a dropped one.
    fn check_dropped(&self, name: &QueryName) -> Option<Fault> {
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

/// Returns the length of the longest chain from `name` on, up to `left`. A chain that was cut off
/// is recorded too short, but only if the chain before it is already too long.
fn longest<'a, I: Iterator<Item = &'a str>>(
    name: &'a str,
    next: &impl Fn(&'a str) -> I,
    known: &mut BTreeMap<&'a str, usize>,
    left: usize,
) -> usize {
    if left == 0 {
        return 0;
    }
    if let Some(length) = known.get(name) {
        return *length;
    }
    let behind = next(name).map(|next_name| longest(next_name, next, known, left - 1)).max();
    let length = 1 + behind.unwrap_or(0);
    known.insert(name, length);
    length
}

fn too_long(read: &QueryName) -> Fault {
    Fault::new(read.at, format!("the chain of queries is longer than {CHAIN_MAX}"))
}

fn names_read(query: &Query) -> Vec<String> {
    query.reads().into_iter().map(|name| name.text.clone()).collect()
}
