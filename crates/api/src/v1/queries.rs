//! Standing queries: list, show, check, test, apply, drop, and their receivers.

mod receivers;
mod trial;
mod view;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{Command, CommandResult, QueriesCommand, QueriesResult};
use query::{Catalog, Create, Effect, Statement};
use store::{AccountRole, QueryRow, Store, TokenScope};

use super::extract::{JsonBody, NameInPath};
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking, unexpected_answer};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::error::ApiError;
pub use trial::KeptEntry;
use view::Query;

/// The longest time that `apply` may look back.
const PAST_MAX: u64 = 366 * 86_400;

answer! {
    /// All queries, by name.
    QueryList {
        /// The queries.
        queries: Vec<Query>,
    }

    /// The result of one statement.
    StatementDone {
        /// The query's name.
        name: String,
        /// `created`, `replaced`, `dropped` or `unchanged`.
        what: String,
    }

    /// The result of applying statements.
    QueriesApplied {
        /// The results, statement by statement.
        queries: Vec<StatementDone>,
        /// The number of feeds that are polled from now on.
        feeds_added: usize,
        /// The number of feeds that are no longer polled.
        feeds_resting: usize,
        /// The number of past entries that were matched.
        past: u64,
    }

    /// An error in statements.
    StatementFault {
        /// The line, from 1.
        line: u32,
        /// The column, from 1, in characters.
        column: u32,
        /// The error: what stands there, and what was expected.
        message: String,
        /// A suggestion.
        help: Option<String>,
    }

    /// The result of a check.
    QueriesChecked {
        /// Whether the statements could be applied.
        good: bool,
        /// The effect of each statement.
        queries: Vec<StatementDone>,
        /// The errors.
        faults: Vec<StatementFault>,
    }

    /// The result of a replay of dead letters.
    Replaying {
        /// The number of dead letters that are tried again.
        letters: usize,
    }
}

request! {
    /// Statements to apply: all of them or none.
    NewQueries {
        /// The statements, as in a file.
        text: String,
        /// Also match entries seen in this many seconds before now.
        past_seconds: Option<u64>,
    }

    /// The people who see the matches of a query.
    Sharing {
        /// Whether everybody on the instance sees them.
        shared: bool,
    }

    /// Statements to check.
    QueryText {
        /// The statements, as in a file.
        text: String,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/queries", "All queries", list).answers::<QueryList>(),
        Route::post("/queries", "Apply statements: all of them or none", apply)
            .needs(TokenScope::Write)
            .takes::<NewQueries>()
            .answers::<QueriesApplied>(),
        Route::post("/queries/check", "Check statements without applying them", check)
            .needs(TokenScope::Read)
            .takes::<QueryText>()
            .answers::<QueriesChecked>(),
        Route::post("/queries/test", "Test statements on recent entries", trial::test)
            .needs(TokenScope::Read)
            .takes::<trial::QueryTrial>()
            .answers::<trial::QueriesTried>(),
        Route::get("/queries/{name}", "One query", one).answers::<Query>(),
        Route::delete("/queries/{name}", "Drop a query", drop_one).needs(TokenScope::Write),
        Route::put("/queries/{name}/shared", "Share a query with everybody here", share)
            .needs(TokenScope::Write)
            .takes::<Sharing>(),
        Route::get(
            "/queries/{name}/deliveries",
            "Receivers of a query, and the state of their deliveries",
            all_receivers,
        )
        .answers::<receivers::DeliveryList>(),
        Route::get(
            "/queries/{name}/dead-letters",
            "Dead letters: matches that receivers did not accept",
            dead,
        )
        .paged(100, 1000)
        .answers::<receivers::DeadLetterList>(),
        Route::post("/queries/{name}/replay", "Try its dead letters again", replay)
            .needs(TokenScope::Write)
            .answers::<Replaying>(),
    ]
}

use receivers::{all as all_receivers, dead};

/// Finds the query named in the path.
fn find(store: &Store, person: &Person, name: &str) -> Result<QueryRow, ApiError> {
    store.query_of(person.account, name)?.ok_or(ApiError::NotFound("the query does not exist"))
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<QueryList>, ApiError> {
    blocking(move || {
        let store = &context.store;
        let rows = store.queries_of(person.account)?;
        let shown = rows.iter().map(|row| Query::new(store, person.account, row));
        let queries = shown.collect::<Result<_, _>>()?;
        Ok(Json(QueryList { queries }))
    })
    .await
}

async fn one(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<Json<Query>, ApiError> {
    blocking(move || {
        let row = find(&context.store, &person, &name)?;
        Ok(Json(Query::new(&context.store, person.account, &row)?))
    })
    .await
}

async fn apply(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(new): JsonBody<NewQueries>,
) -> Result<Json<QueriesApplied>, ApiError> {
    if new.past_seconds.is_some_and(|past| past > PAST_MAX) {
        return Err(ApiError::BadRequest("past_seconds must be at most a year (31536000)"));
    }
    let (text, past) = (new.text, new.past_seconds);
    let account = person.subscriber();
    let wish = QueriesCommand::Apply { file: "text".to_owned(), text, past, account };
    let CommandResult::Query { granted } = act(&context, Command::Query { wish }).await? else {
        return Err(unexpected_answer());
    };
    let QueriesResult::Applied { queries, feeds_added, feeds_resting, past } = granted else {
        return Err(unexpected_answer());
    };
    let queries = queries.into_iter().map(|one| StatementDone { name: one.name, what: one.what });
    Ok(Json(QueriesApplied { queries: queries.collect(), feeds_added, feeds_resting, past }))
}

async fn drop_one(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<StatusCode, ApiError> {
    let account = changes_as(&context, &person, &name).await?;
    act(&context, Command::Query { wish: QueriesCommand::Drop { name, account } }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn share(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
    JsonBody(Sharing { shared }): JsonBody<Sharing>,
) -> Result<StatusCode, ApiError> {
    let account = changes_as(&context, &person, &name).await?;
    let wish = QueriesCommand::Share { name, shared, account };
    act(&context, Command::Query { wish }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the account that changes a query. An administrator changes queries of the instance for
/// the instance.
async fn changes_as(
    context: &ServerContext,
    person: &Person,
    name: &str,
) -> Result<Option<i64>, ApiError> {
    let (store, person, name) = (context.store.clone(), person.clone(), name.to_owned());
    blocking(move || {
        let row = find(&store, &person, &name)?;
        let of_instance = row.scope.owner.is_none() && person.may(TokenScope::Admin);
        Ok(person.subscriber().filter(|_| !of_instance))
    })
    .await
}

async fn replay(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<Json<Replaying>, ApiError> {
    let account = changes_as(&context, &person, &name).await?;
    let wish = QueriesCommand::Replay { name, account };
    let done = act(&context, Command::Query { wish }).await?;
    match done {
        CommandResult::Query { granted: QueriesResult::Replaying { letters } } => {
            Ok(Json(Replaying { letters }))
        }
        _ => Err(unexpected_answer()),
    }
}

/// Finds the same, if the person may change it: it is theirs, or an administrator's.
fn find_own(store: &Store, person: &Person, name: &str) -> Result<QueryRow, ApiError> {
    let row = find(store, person, name)?;
    let is_own = person.subscriber().is_none()
        || row.scope.owner == Some(person.account)
        || row.scope.owner.is_none() && person.role == AccountRole::Admin;
    if is_own { Ok(row) } else { Err(ApiError::Forbidden("this query belongs to somebody else")) }
}

/// Checked statements with their effects, and the existing queries.
struct StatementCheck {
    statements: Vec<Statement>,
    effects: Vec<Effect>,
    existing: Vec<Create>,
}

fn checked(
    store: &Store,
    person: &Person,
    text: &str,
) -> Result<Result<StatementCheck, Vec<query::Fault>>, ApiError> {
    let statements = match query::parse(text) {
        Ok(statements) => statements,
        Err(faults) => return Ok(Err(faults)),
    };
    let (mut existing, mut catalog) = (Vec::new(), Catalog::new());
    for row in store.queries_of(person.account)? {
        if let Some(create) = query::parse_create(&row.text) {
            catalog.insert(&row.name, &create.query);
            existing.push(create);
        }
    }
    Ok(match catalog.check(&statements) {
        Ok(effects) => Ok(StatementCheck { statements, effects, existing }),
        Err(faults) => Err(faults),
    })
}

async fn check(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(body): JsonBody<QueryText>,
) -> Result<Json<QueriesChecked>, ApiError> {
    blocking(move || {
        Ok(Json(match checked(&context.store, &person, &body.text)? {
            Ok(checked) => {
                let queries =
                    checked.effects.iter().map(|effect| statement_effect(&checked, effect));
                QueriesChecked { good: true, queries: queries.collect(), faults: Vec::new() }
            }
            Err(faults) => {
                let faults = faults.into_iter().map(StatementFault::from).collect();
                QueriesChecked { good: false, queries: Vec::new(), faults }
            }
        }))
    })
    .await
}

fn statement_effect(checked: &StatementCheck, effect: &Effect) -> StatementDone {
    let name = match &checked.statements[effect.statement()] {
        Statement::Create(create) => create.name.text.clone(),
        Statement::Drop(drop) => drop.name.text.clone(),
    };
    StatementDone { name, what: effect.word().to_owned() }
}

impl From<query::Fault> for StatementFault {
    fn from(fault: query::Fault) -> StatementFault {
        StatementFault {
            line: fault.at.line,
            column: fault.at.column,
            message: fault.message,
            help: fault.help,
        }
    }
}
