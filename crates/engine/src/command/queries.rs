//! Commands for standing queries: apply a file, drop a query, retry dead letters. A file is checked
//! against all queries and then applied as a whole, in one job of the store's writer.

use std::path::Path;
use std::time::Duration;

use dispatch::command::{QueriesCommand, QueriesResult, StatementResult};
use feed::Time;
use query::{Catalog, Create, Deliver, Effect, Fault, Position, QueryName, Statement};
use store::{
    AccountId, AccountRole, NewQuery, QueryChange, QueryRow, QueryScope, Store, StoreError,
};

use super::{CommandError, whose};
use crate::{Engine, keys};

pub async fn carry_out(
    engine: &Engine,
    wish: QueriesCommand,
) -> Result<QueriesResult, CommandError> {
    match wish {
        QueriesCommand::Apply { file, text, past, account } => {
            let past = past.map(|secs| engine.clock.now() - Duration::from_secs(secs));
            let read = query::parse(&text);
            let statements = read.map_err(|faults| CommandError::Query(located(&file, &faults)))?;
            let _turn = engine.queries_change.lock().await;
            tokio::task::block_in_place(|| apply(engine, whose(account), &file, statements, past))
        }
        QueriesCommand::Drop { name, account } => {
            let name = QueryName { text: name, at: Position::default() };
            let statements = vec![Statement::Drop(query::Drop { name, if_exists: false })];
            let _turn = engine.queries_change.lock().await;
            let done = tokio::task::block_in_place(|| {
                apply(engine, whose(account), "", statements, None)
            })?;
            let QueriesResult::Applied { feeds_resting, .. } = done else { return Ok(done) };
            Ok(QueriesResult::Dropped { feeds_resting })
        }
        QueriesCommand::Share { name, shared, account } => {
            let _turn = engine.queries_change.lock().await;
            tokio::task::block_in_place(|| {
                let query = match shared {
                    true => own_query(engine, whose(account), &name)?,
                    false => switched_off(engine, whose(account), &name)?,
                };
                if shared && let Some(create) = query::parse_create(&query.text) {
                    refuse_private(engine, query.scope, &create)?;
                }
                engine.store.share_query(&name, shared)?;
                Ok(QueriesResult::Shared { name, shared })
            })
        }
        QueriesCommand::Replay { name, account } => tokio::task::block_in_place(|| {
            let query = own_query(engine, whose(account), &name)?;
            let letters = engine.store.replay_dead_letters(query.id)?;
            engine.wake_deliveries();
            Ok(QueriesResult::Replaying { letters })
        }),
    }
}

/// Returns a query that an account may change. The instance may change all.
fn own_query(engine: &Engine, account: AccountId, name: &str) -> Result<QueryRow, CommandError> {
    let query = engine.store.query_of(account, name)?.ok_or_else(|| no_query(name))?;
    if account != AccountId::LOCAL && query.scope.owner != Some(account) {
        let text = format!("the query `{name}` belongs to somebody else; choose another name");
        return Err(CommandError::Query(text));
    }
    Ok(query)
}

/// Returns a query whose sharing an account may end: its own, or any if it is an administrator.
fn switched_off(engine: &Engine, account: AccountId, name: &str) -> Result<QueryRow, CommandError> {
    let query = engine.store.query_of(account, name)?;
    match query.filter(|query| query.scope.shared) {
        Some(query) if engine.store.role_of(account)? == Some(AccountRole::Admin) => Ok(query),
        _ => own_query(engine, account, name),
    }
}

/// Refuses to share a query that names a private feed: the others would see its entries, and its
/// address in the text of the query.
fn refuse_private(engine: &Engine, scope: QueryScope, create: &Create) -> Result<(), CommandError> {
    let owner = scope.owner.unwrap_or(AccountId::LOCAL);
    match engine.store.private_among(owner, &create.query.urls())? {
        None => Ok(()),
        Some(url) => Err(CommandError::Query(format!(
            "the query `{}` names the private feed {}, so it cannot be shared; remove the address \
             from the query, or make another query without it and share that one",
            create.name.text,
            url.masked()
        ))),
    }
}

/// Refuses statements of an account that touch queries of others. It may read shared queries.
fn check_owner(
    engine: &Engine,
    account: AccountId,
    statements: &[Statement],
) -> Result<(), CommandError> {
    if account == AccountId::LOCAL {
        return Ok(());
    }
    let is_admin = engine.store.role_of(account)? == Some(AccountRole::Admin);
    for statement in statements {
        // Files, webhooks and mails leave the instance in the name of its operator.
        let delivers = statement.created().is_some_and(|new| !new.query.deliveries.is_empty());
        if delivers && !is_admin {
            let text = "only administrators may use DELIVER TO; leave it out, or ask one";
            return Err(CommandError::Query(text.to_owned()));
        }
        let (name, reads) = match statement {
            Statement::Create(create) => (&create.name.text, create.query.reads()),
            Statement::Drop(drop) => (&drop.name.text, Vec::new()),
        };
        if engine.store.query(name)?.is_some_and(|row| row.scope.owner != Some(account)) {
            let text = format!("the name `{name}` is taken by a query of somebody else");
            return Err(CommandError::Query(format!("{text}; choose another name")));
        }
        for read in reads {
            let exists = engine.store.query(&read.text)?.is_some();
            if exists && engine.store.query_of(account, &read.text)?.is_none() {
                return Err(no_query(&read.text));
            }
        }
    }
    Ok(())
}

pub fn no_query(name: &str) -> CommandError {
    let shown: String = name.chars().take(100).collect();
    CommandError::Query(format!(
        "there is no query `{shown}`; `tidings query list` shows all queries"
    ))
}

/// Reads a file of statements and checks it against the stored queries. Changes nothing.
pub fn check(
    store: Option<&Store>,
    account: AccountId,
    text: &str,
) -> Result<CheckedQueryFile, CheckError> {
    check_read(store, account, query::parse(text).map_err(CheckError::Faults)?)
}

fn check_read(
    store: Option<&Store>,
    account: AccountId,
    statements: Vec<Statement>,
) -> Result<CheckedQueryFile, CheckError> {
    let mut existing = Vec::new();
    let mut catalog = Catalog::new();
    for row in store.map_or(Ok(Vec::new()), |store| store.queries_of(account))? {
        if let Some(create) = query::parse_create(&row.text) {
            catalog.insert(&row.name, &create.query);
            existing.push(create);
        }
    }
    let effects = catalog.check(&statements).map_err(CheckError::Faults)?;
    Ok(CheckedQueryFile { statements, effects, existing })
}

/// A file without faults.
pub struct CheckedQueryFile {
    pub statements: Vec<Statement>,
    pub effects: Vec<Effect>,
    /// The queries that are stored.
    pub existing: Vec<Create>,
}

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Faults(Vec<Fault>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn apply(
    engine: &Engine,
    account: AccountId,
    file: &str,
    statements: Vec<Statement>,
    past: Option<Time>,
) -> Result<QueriesResult, CommandError> {
    let checked =
        check_read(Some(&engine.store), account, statements).map_err(|error| match error {
            CheckError::Store(error) => CommandError::Store(error),
            CheckError::Faults(faults) => CommandError::Query(located(file, &faults)),
        })?;
    check_owner(engine, account, &checked.statements)?;
    let owner = (account != AccountId::LOCAL).then_some(account);
    let scope = QueryScope { owner, shared: false };
    let mut queries = Vec::new();
    let mut changes = Vec::new();
    for effect in &checked.effects {
        let name = match &checked.statements[effect.statement()] {
            Statement::Create(create) => {
                engine.settings.delivery.check(create).map_err(CommandError::Query)?;
                if let Some(row) = engine.store.query(&create.name.text)?.filter(is_shared) {
                    refuse_private(engine, row.scope, create)?;
                }
                changes.push(QueryChange::Put(new_query(create, scope)?));
                &create.name.text
            }
            Statement::Drop(drop) => {
                changes.push(QueryChange::Drop(drop.name.text.clone()));
                &drop.name.text
            }
        };
        queries.push(StatementResult { name: name.clone(), what: effect.word().to_owned() });
    }
    let now = engine.clock.now();
    let changed = engine.store.change_queries(changes, past, now)?;
    changed.unwanted.iter().for_each(|feed| engine.forget(*feed));
    for feed in &changed.wanted {
        engine.schedule(*feed, now)?;
    }
    engine.wake_deliveries();
    Ok(QueriesResult::Applied {
        queries,
        feeds_added: changed.wanted.len(),
        feeds_resting: changed.unwanted.len(),
        past: changed.n_past,
    })
}

fn is_shared(row: &QueryRow) -> bool {
    row.scope.shared
}

fn new_query(create: &Create, scope: QueryScope) -> Result<NewQuery, CommandError> {
    let no_chance = |e| CommandError::Query(format!("cannot create a key for the query: {e}"));
    Ok(NewQuery {
        name: create.name.text.clone(),
        text: create.text.clone(),
        urls: create.query.urls().into_iter().cloned().collect(),
        receivers: create.query.deliveries.iter().map(Deliver::receiver_key).collect(),
        scope,
        link_key: keys::fresh().map_err(no_chance)?,
        signing_key: keys::fresh_signing().map_err(no_chance)?,
    })
}

/// Writes faults as `FILE:LINE:COLUMN: message`, one on each line. A statement of our own has no
/// file.
pub fn located(file: &str, faults: &[Fault]) -> String {
    let lines = faults.iter().map(|fault| {
        if file.is_empty() {
            let help = fault.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
            return format!("{}{help}", fault.message);
        }
        format!("{}:{fault}", Path::new(file).display())
    });
    lines.collect::<Vec<_>>().join("\n")
}
