//! The text of a configuration file and the positions of its keys. Every error names the key, its
//! line and column, and shows an example.
//!
//! Unknown and missing keys are found here, by the reference. Values are checked elsewhere and
//! reported through [`ConfigSource::fault`].

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::reference::{self, ConfigKey, ConfigTable};
use crate::error::{CliError, input_error};

/// A value in a message is cut after this many characters, so that a message fits a screen.
const FOUND_CHARS_MAX: usize = 60;

/// A configuration file, or none.
#[derive(Debug, Default)]
pub struct ConfigSource {
    /// The file as the operator named it.
    shown: String,
    text: String,
    keys: Vec<KeyPosition>,
}

/// The position of a key in a table. The keys before the first header have an empty table name. A
/// table itself has an empty key.
#[derive(Debug)]
struct KeyPosition {
    table: String,
    key: String,
    at: Range<usize>,
    value: Range<usize>,
}

impl ConfigSource {
    /// Reads a file and the values in it.
    pub fn read<T: DeserializeOwned>(path: &Path) -> Result<(ConfigSource, T), CliError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| input_error(format!("cannot read the configuration {shown}: {e}")))?;
        let mut source = ConfigSource { shown, text, keys: Vec::new() };
        let parsed = DeTable::parse(&source.text).map(|table| placed(table.get_ref()));
        source.keys = parsed.map_err(|e| source.syntax(&e))?;
        source.check_names()?;
        let values = toml::from_str(&source.text).map_err(|e| source.unreadable(&e))?;
        Ok((source, values))
    }

    /// Returns an error about an invalid value: `FILE:LINE:COLUMN: [table] key: reason; for
    /// example: …`.
    pub fn fault(&self, table: &str, key: &str, reason: impl Display) -> CliError {
        let placed = self.find(table, key).or_else(|| self.find(table, ""));
        let at = placed.map_or(0, |placed| placed.value.start);
        self.say(at, &shown(&format!("{}: {reason}", named(table, key)), table, key))
    }

    /// Returns the position of a table's header: `FILE:LINE:COLUMN`.
    pub fn place_of(&self, table: &str) -> String {
        self.place(self.find(table, "").map_or(0, |placed| placed.at.start))
    }

    fn find(&self, table: &str, key: &str) -> Option<&KeyPosition> {
        self.keys.iter().find(|placed| placed.table == table && placed.key == key)
    }

    fn place(&self, at: usize) -> String {
        let (line, column) = position(&self.text, at);
        format!("{}:{line}:{column}", self.shown)
    }

    fn say(&self, at: usize, message: &str) -> CliError {
        input_error(format!("{}: {message}", self.place(at)))
    }

    /// Returns an error about text that is not TOML.
    fn syntax(&self, error: &toml::de::Error) -> CliError {
        let span = error.span().unwrap_or(0..0);
        let word = self.text.get(span.clone()).unwrap_or("").trim();
        if error.message().starts_with("duplicate key") && !word.is_empty() {
            let message = format!("`{word}` is given twice; keep one of the two");
            return self.say(span.start, &message);
        }
        self.say(span.start, error.message())
    }

    /// Checks that every key is in the reference, and that each table has its required keys.
    fn check_names(&self) -> Result<(), CliError> {
        let tables = reference::tables();
        for placed in &self.keys {
            let (table, key) = (placed.table.as_str(), placed.key.as_str());
            let Some(known) = described(&tables, table) else {
                return Err(self.say(placed.at.start, &unknown_table(table, &tables)));
            };
            if key.is_empty() {
                let missing = |key: &&ConfigKey| key.needed && self.find(table, key.name).is_none();
                if let Some(missing) = known.keys.iter().find(missing) {
                    let name = missing.name;
                    let needs = shown(&format!("[{table}] needs `{name}`"), table, name);
                    return Err(self.say(placed.at.start, &needs));
                }
            } else if !known.takes_any_key() && !known.keys.iter().any(|k| k.name == key) {
                return Err(self.say(placed.at.start, &unknown_key(key, known, &tables)));
            }
        }
        Ok(())
    }

    /// Returns an error about a value of the wrong type or form.
    fn unreadable(&self, error: &toml::de::Error) -> CliError {
        let at = error.span().map_or(0, |span| span.start);
        let mut around = self.keys.iter().filter(|p| !p.key.is_empty() && p.value.contains(&at));
        let Some(KeyPosition { table, key, value, .. }) = around.next() else {
            return self.say(at, error.message());
        };
        let tables = reference::tables();
        let known = described(&tables, table).and_then(|table| table.key(key));
        let Some(known) = known else { return self.fault(table, key, error.message()) };
        let expected = with_article(known.kind);
        let found = self.text.get(value.clone()).unwrap_or("").trim();
        if table == "keys" || key == "password" {
            return self.fault(table, key, format!("expected {expected}"));
        }
        let cut: String =
            found.lines().next().unwrap_or("").chars().take(FOUND_CHARS_MAX).collect();
        self.fault(table, key, format!("expected {expected}, found {cut}"))
    }
}

/// Returns the keys of a document: those before the first table, then each table with its own.
fn placed(document: &DeTable<'_>) -> Vec<KeyPosition> {
    let mut all = Vec::new();
    for (name, value) in document {
        let (key, at) = (name.get_ref().to_string(), name.span());
        match value.get_ref() {
            DeValue::Table(inner) if key == "domain" => {
                for (domain, value) in inner {
                    let table = format!("domain.\"{}\"", domain.get_ref());
                    if let DeValue::Table(inner) = value.get_ref() {
                        place_table(&table, inner, domain.span(), &mut all);
                    }
                }
            }
            DeValue::Table(inner) => place_table(&key, inner, at, &mut all),
            _ => all.push(KeyPosition { table: String::new(), key, at, value: value.span() }),
        }
    }
    all
}

fn place_table(name: &str, inner: &DeTable<'_>, at: Range<usize>, all: &mut Vec<KeyPosition>) {
    let (table, value) = (name.to_owned(), at.clone());
    all.push(KeyPosition { table, key: String::new(), at, value });
    all.extend(inner.iter().map(|(key, value)| KeyPosition {
        table: name.to_owned(),
        key: key.get_ref().to_string(),
        at: key.span(),
        value: value.span(),
    }));
}

/// Returns the reference's table of that name. One table describes all domains.
fn described<'t>(tables: &'t [ConfigTable], name: &str) -> Option<&'t ConfigTable> {
    let is_domain = name.starts_with("domain.");
    tables.iter().find(|t| t.name == name || (is_domain && t.name.starts_with("domain.")))
}

fn unknown_table(name: &str, tables: &[ConfigTable]) -> String {
    let names = || tables.iter().map(|t| t.name.split('.').next().unwrap_or(t.name));
    match query::meant_name(name, names().filter(|name| !name.is_empty())) {
        Some(nearest) => format!("unknown table `[{name}]`; did you mean `[{nearest}]`?"),
        None => format!("unknown table `[{name}]`; `tidings config reference` lists all tables"),
    }
}

fn unknown_key(key: &str, table: &ConfigTable, tables: &[ConfigTable]) -> String {
    let place = |name: &str| match name {
        "" => "before the first table".to_owned(),
        name => format!("in [{name}]"),
    };
    let here = format!("unknown key `{key}` {}", place(table.name));
    if let Some(nearest) = query::meant_name(key, table.keys.iter().map(|k| k.name)) {
        return shown(&format!("{here}; did you mean `{nearest}`?"), table.name, nearest);
    }
    if let Some(other) = tables.iter().find(|t| !t.takes_any_key() && t.key(key).is_some()) {
        return format!("{here}; it belongs {}", place(other.name));
    }
    let known: Vec<&str> = table.keys.iter().map(|k| k.name).collect();
    format!("{here}; known keys there: {}", known.join(", "))
}

/// Returns the name of a key for a message.
fn named(table: &str, key: &str) -> String {
    match table {
        "" => key.to_owned(),
        table => format!("[{table}] {key}").trim_end().to_owned(),
    }
}

/// Adds an example of the key to a message, if the reference has one.
fn shown(message: &str, table: &str, key: &str) -> String {
    let tables = reference::tables();
    let known = described(&tables, table).filter(|table| !table.takes_any_key());
    let Some(known) = known.and_then(|table| table.key(key)) else { return message.to_owned() };
    let joined = if message.ends_with('?') { " For" } else { "; for" };
    format!("{message}{joined} example: {key} = {}", known.example)
}

fn with_article(kind: &str) -> String {
    match kind.as_bytes().first() {
        Some(b'`') => kind.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o') => format!("an {kind}"),
        _ if kind == "text" || kind.starts_with("polls") => kind.to_owned(),
        _ => format!("a {kind}"),
    }
}

/// Returns line and column, both from 1, of a byte offset in a text.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    (line, column)
}
