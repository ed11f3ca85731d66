//! `tidings query …`: standing queries. Reading commands ask the store directly. Changing commands
//! go through the engine, in this process or in the daemon.

mod deliveries;
pub mod entries;
mod show;
mod test;

use std::path::Path;

use api::plural;
use dispatch::command::{Command, CommandResult, QueriesCommand, QueriesResult, StatementResult};
use engine::command::queries::{CheckError, CheckedQueryFile, check, located};
use query::{Access, Effect};
use serde_json::json;
use store::{AccountId, OpenMode, QueryRow, Store, StoreError};

use crate::args::query::{OneQuery, QueryCommand};
use crate::args::whose::WhoseArgs;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};
use crate::output::{complain, print_json, print_line, read_input, relative, table};
use crate::{access, args::InstanceArgs};

pub async fn run(query: QueryCommand) -> Result<(), CliError> {
    match query {
        QueryCommand::Apply { file, past, json, whose, place } => {
            let config = config::read_offline(&place)?;
            let text = text(&file)?;
            let account = whose.account(&config)?;
            checked(&config, &whose, &file, &text)?;
            let (file, past) = (file.display().to_string(), past.map(|past| past.as_secs()));
            let wish = QueriesCommand::Apply { file, text, past, account };
            let granted = carry_out(&config, wish).await?;
            say_applied(&granted, json)
        }
        QueryCommand::Check { file, json, whose, place } => {
            let config = config::read_offline(&place)?;
            let checked = checked(&config, &whose, &file, &text(&file)?)?;
            say_checked(&checked, json)
        }
        QueryCommand::List { json, whose, place } => list(&place, &whose, json),
        QueryCommand::Show { name, with_secrets, json, whose, place } => {
            show::run(&name, with_secrets, json, &whose, &place)
        }
        QueryCommand::Drop(OneQuery { name, json, whose, place }) => {
            let config = config::read_offline(&place)?;
            let account = whose.account(&config)?;
            let wish = QueriesCommand::Drop { name: name.clone(), account };
            let granted = carry_out(&config, wish).await?;
            let QueriesResult::Dropped { feeds_resting } = granted else {
                return Err(odd_answer());
            };
            if json {
                return print_json(&json!({"dropped": name, "feeds_resting": feeds_resting}));
            }
            let feeds = plural(feeds_resting as u64, "feed is", "feeds are");
            print_line(&format!("{name} is deleted; {feeds} no longer polled."))
        }
        QueryCommand::Test { file, past, json, whose, place } => {
            test::run(&file, past, json, &whose, &place)
        }
        QueryCommand::Deliveries { name, replay, json, whose, place } => {
            deliveries::run(name.as_deref(), replay, json, &whose, &place).await
        }
    }
}

async fn carry_out(config: &Config, wish: QueriesCommand) -> Result<QueriesResult, CliError> {
    match access::carry_out(config, Command::Query { wish }, &|_, _| ()).await? {
        CommandResult::Query { granted } => Ok(granted),
        _ => Err(odd_answer()),
    }
}

fn odd_answer() -> CliError {
    failed("the daemon gave an unexpected answer; it may be another version".to_owned())
}

pub fn text(file: &Path) -> Result<String, CliError> {
    String::from_utf8(read_input(file)?).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let (line, column) = config::position(&String::from_utf8_lossy(before), before.len());
        input_error(format!("{}:{line}:{column}: this is not UTF-8", file.display()))
    })
}

/// Checks a file against the stored queries. Prints faults to standard error, one on each line.
fn checked(
    config: &Config,
    whose: &WhoseArgs,
    file: &Path,
    text: &str,
) -> Result<CheckedQueryFile, CliError> {
    let store = match Store::open(&config.store, OpenMode::ReadOnly) {
        Ok(store) => Some(store),
        Err(StoreError::Missing { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let account = store.as_ref().map(|store| whose.find(store)).transpose()?;
    check(store.as_ref(), account.unwrap_or(AccountId::LOCAL), text).map_err(|error| match error {
        CheckError::Store(error) => error.into(),
        CheckError::Faults(faults) => {
            complain(&located(&file.display().to_string(), &faults));
            input_error(String::new())
        }
    })
}

/// Finds a query by its name.
fn find(store: &Store, account: AccountId, name: &str) -> Result<QueryRow, CliError> {
    store.query_of(account, name)?.ok_or_else(|| {
        let shown = crate::output::one_line(name, 100);
        input_error(format!("there is no query {shown}; list all with: tidings query list"))
    })
}

fn say_applied(granted: &QueriesResult, as_json: bool) -> Result<(), CliError> {
    let QueriesResult::Applied { queries, feeds_added, feeds_resting, past } = granted else {
        return Err(odd_answer());
    };
    if as_json {
        return print_json(&json!({
            "queries": queries, "feeds_added": feeds_added,
            "feeds_resting": feeds_resting, "past": past,
        }));
    }
    for StatementResult { name, what } in queries {
        print_line(&format!("{name}: {what}"))?;
    }
    if *feeds_added > 0 {
        let feeds = plural(*feeds_added as u64, "feed is", "feeds are");
        print_line(&format!("{feeds} polled from now on"))?;
    }
    if *feeds_resting > 0 {
        let feeds = plural(*feeds_resting as u64, "feed is", "feeds are");
        print_line(&format!("{feeds} no longer polled"))?;
    }
    if *past > 0 {
        let entries = plural(*past, "past entry", "past entries");
        print_line(&format!("{entries} found"))?;
    }
    Ok(())
}

fn say_checked(checked: &CheckedQueryFile, as_json: bool) -> Result<(), CliError> {
    let count = |is: fn(&Effect) -> bool| checked.effects.iter().filter(|e| is(e)).count();
    let created = count(|e| matches!(e, Effect::Created(_)));
    let replaced = count(|e| matches!(e, Effect::Replaced(_)));
    let dropped = count(|e| matches!(e, Effect::Dropped(_)));
    if as_json {
        let (ok, n) = (true, checked.statements.len());
        return print_json(&json!({
            "ok": ok, "statements": n, "created": created, "replaced": replaced,
            "dropped": dropped,
        }));
    }
    print_line(&format!("This would create {created}, replace {replaced} and delete {dropped}."))
}

fn access_word(row: &QueryRow) -> &'static str {
    match query::parse_create(&row.text).map(|create| create.query.access) {
        Some(Access::Public) => "public",
        Some(Access::SecretLink) => "secret-link",
        Some(Access::Private) => "private",
        None => "unreadable",
    }
}

fn list(place: &InstanceArgs, whose: &WhoseArgs, as_json: bool) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let store = access::read(&config)?;
    let now = engine::Clock::System.now();
    let (mut values, mut rows) = (Vec::new(), table(["name", "access", "kept", "changed"]));
    for row in store.queries_of(whose.find(&store)?)? {
        let kept = store.n_query_entries(row.id)?;
        let changed = relative(row.changed_at, now);
        rows.add_row([&row.name, access_word(&row), &kept.to_string(), &changed]);
        values.push(json!({
            "name": row.name, "access": access_word(&row), "entries": kept,
            "created_at": row.created_at.to_string(), "changed_at": row.changed_at.to_string(),
        }));
    }
    if as_json {
        return print_json(&values);
    }
    if values.is_empty() {
        return print_line("There are no queries. Create some: tidings query apply FILE");
    }
    print_line(&rows.to_string())
}
