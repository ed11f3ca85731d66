//! `tidings rule …`: the rules of an account, or of the person at this machine. They are rows of
//! the store only: the daemon follows them by itself.

use std::path::Path;

use api::rule_book::{RULE_TRIAL_DAYS, SaveRuleError, rule_actions, save_rule, try_rule};
use engine::Clock;
use serde_json::{Value, json};
use store::{AccountId, RuleRow, Store};

use super::query::text;
use crate::args::rule::{OneRule, RuleCommand};
use crate::args::whose::OwnerArgs;
use crate::error::{CliError, input_error};
use crate::output::{complain, one_line, print_json, print_line, tamed};
use crate::{access, config};

/// Entries that a trial lists; the rest is counted.
const NAMED_MAX: usize = 20;

pub fn run(rule: RuleCommand) -> Result<(), CliError> {
    match rule {
        RuleCommand::Apply { file, off, past, rest } => apply(&file, !off, past, &rest),
        RuleCommand::Test { file, rest } => test(&file, &rest),
        RuleCommand::List { rest } => list(&rest),
        RuleCommand::Show(one) => show(&one),
        RuleCommand::On(one) => switch(&one, true),
        RuleCommand::Off(one) => switch(&one, false),
        RuleCommand::Drop(one) => delete(&one),
    }
}

/// Opens the store to change rules of an account.
fn open(rest: &OwnerArgs) -> Result<(Store, AccountId), CliError> {
    let store = access::write(&config::read_offline(&rest.place)?)?;
    let account = owner(&store, rest)?;
    Ok((store, account))
}

/// Opens the store to read only.
fn open_to_read(rest: &OwnerArgs) -> Result<(Store, AccountId), CliError> {
    let store = access::read(&config::read_offline(&rest.place)?)?;
    let account = owner(&store, rest)?;
    Ok((store, account))
}

/// Returns the account whose rules are meant. A rule acts for a person, never for the instance.
fn owner(store: &Store, rest: &OwnerArgs) -> Result<AccountId, CliError> {
    if rest.whose.user.is_none() && !store.accounts()?.is_empty() {
        let text = "rules belong to people; name the account with --user";
        return Err(input_error(text.to_owned()));
    }
    rest.whose.find(store)
}

fn apply(file: &Path, is_on: bool, past: bool, rest: &OwnerArgs) -> Result<(), CliError> {
    let (statement, now) = (text(file)?, Clock::System.now());
    // A wrong text is refused before a store is made.
    query::parse_rule(&statement).map_err(|fault| faulty(file, &fault))?;
    let (store, account) = open(rest)?;
    let saved = save_rule(&store, account, &statement, None, is_on, now)?;
    let row = saved.map_err(|error| match error {
        SaveRuleError::Text(fault) => faulty(file, &fault),
        SaveRuleError::Rule(error) => {
            input_error(format!("{error}, or write CREATE OR REPLACE RULE"))
        }
    })?;
    if past {
        store.apply_rule_to_past(account, &row.name)?;
    }
    if rest.json {
        return print_json(&rule_json(&row));
    }
    let state = if is_on { "is on" } else { "is saved and off" };
    let past = if past { "; it also works on the stored entries now" } else { "" };
    print_line(&format!("{} {state}{past}", row.name))
}

fn faulty(file: &Path, fault: &query::Fault) -> CliError {
    complain(&format!("{}:{fault}", file.display()));
    input_error(String::new())
}

fn test(file: &Path, rest: &OwnerArgs) -> Result<(), CliError> {
    let (store, account) = open_to_read(rest)?;
    let tried = try_rule(&store, account, &text(file)?, Clock::System.now())?;
    let tried = tried.map_err(|fault| faulty(file, &fault))?;
    let mut newest = Vec::new();
    for id in tried.kept.iter().rev().take(NAMED_MAX) {
        newest.extend(store.entry(*id)?);
    }
    if rest.json {
        let newest: Vec<Value> = newest
            .iter()
            .map(|entry| json!({"id": entry.id.0, "title": entry.title, "link": entry.link}))
            .collect();
        let (kept, entries) = (tried.kept.len(), tried.n_entries);
        return print_json(&json!({
            "name": tried.rule.name.text,
            "entries": entries,
            "kept": kept,
            "newest": newest,
        }));
    }
    print_line(&format!(
        "{}: would have acted on {} of {} entries of the last {RULE_TRIAL_DAYS} days",
        tried.rule.name.text,
        tried.kept.len(),
        tried.n_entries
    ))?;
    for entry in newest {
        let title = entry.title.as_deref().unwrap_or("(without a title)");
        print_line(&format!("  {}  {}", entry.seen_at, one_line(title, 100)))?;
    }
    Ok(())
}

fn list(rest: &OwnerArgs) -> Result<(), CliError> {
    let (store, account) = open_to_read(rest)?;
    let rules = store.rules(account)?;
    if rest.json {
        return print_json(&rules.iter().map(rule_json).collect::<Vec<_>>());
    }
    for row in rules {
        let state = if row.is_on { "on" } else { "off" };
        let actions = rule_actions(&row.text).join(", ");
        print_line(&format!("{} ({state}): {actions}; acted {} times", row.name, row.n_acted))?;
    }
    Ok(())
}

fn show(one: &OneRule) -> Result<(), CliError> {
    let (store, account) = open_to_read(&one.rest)?;
    let row = store.rule(account, &one.name)?.ok_or_else(|| no_rule(&one.name))?;
    match one.rest.json {
        true => print_json(&rule_json(&row)),
        false => print_line(&row.text),
    }
}

fn switch(one: &OneRule, is_on: bool) -> Result<(), CliError> {
    open_to_read(&one.rest)?;
    let (store, account) = open(&one.rest)?;
    if !store.switch_rule(account, &one.name, is_on, Clock::System.now())? {
        return Err(no_rule(&one.name));
    }
    match one.rest.json {
        true => print_json(&json!({"name": one.name, "on": is_on})),
        false => print_line(&format!("{} is {}", one.name, if is_on { "on" } else { "off" })),
    }
}

fn delete(one: &OneRule) -> Result<(), CliError> {
    open_to_read(&one.rest)?;
    let (store, account) = open(&one.rest)?;
    if !store.delete_rule(account, &one.name)? {
        return Err(no_rule(&one.name));
    }
    match one.rest.json {
        true => print_json(&json!({"dropped": one.name})),
        false => print_line(&format!("{} is deleted; its marks stay", one.name)),
    }
}

fn no_rule(name: &str) -> CliError {
    let name = tamed(&name.chars().take(64).collect::<String>());
    input_error(format!("the rule {name} does not exist; list all with: tidings rule list"))
}

fn rule_json(row: &RuleRow) -> Value {
    json!({
        "name": row.name,
        "text": row.text,
        "on": row.is_on,
        "actions": rule_actions(&row.text),
        "acted": row.n_acted,
        "acted_at": row.acted_at.map(|at| at.to_string()),
        "changed_at": row.changed_at.to_string(),
    })
}
