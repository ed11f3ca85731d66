//! The rules of the visitor. The list says how often each acted. The editor tries a rule on past
//! entries before it is switched on. A rule can be made from an entry.

mod change;
mod from_entry;
mod trial;

pub use change::{change, save, show_hidden};
pub use from_entry::{MuteButton, mute, mute_buttons};

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use store::{RuleRow, Store, StoreError, TokenScope};

use super::frame::{Frame, NavSection, Visitor, WriteForm};
use super::notice::{not_found, render, store_error};
use super::params;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::rule_book::rule_actions;
use crate::words::{DisplayTime, LocalNow, count, plural};
use trial::RuleTrial;

const EXAMPLE: &str = "CREATE RULE no-football\nON ALL FEEDS\n\
                       WHERE TITLE CONTAINS \"football\"\nDO MARK READ";

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage {
    frame: Frame,
    lines: Vec<RuleLine>,
    /// The number of hidden entries in words, if there are any.
    hidden: Option<String>,
    may_change: bool,
}

/// A rule in the list.
struct RuleLine {
    name: String,
    is_on: bool,
    actions: String,
    n_acted: String,
    acted: Option<DisplayTime>,
    changed: DisplayTime,
    works_on_past: bool,
}

#[derive(Template)]
#[template(path = "rule.html")]
struct RuleEditor {
    frame: Frame,
    /// The name of the stored rule; empty for a new one.
    name: String,
    text: String,
    trial: RuleTrial,
    /// The state of the stored rule.
    stored: Option<RuleLine>,
    /// Whether a click on an entry has just made it.
    is_made: bool,
    message: Option<String>,
}

/// The trial alone, for the script.
#[derive(Template)]
#[template(path = "rule_trial.html")]
struct RuleTrialPart {
    trial: RuleTrial,
}

pub async fn list(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), visitor.now(&context));
    match run_blocking(move || Ok((store.rules(account)?, store.n_hidden(account)?))).await {
        Ok((rows, n_hidden)) => {
            let may_change = visitor.may(TokenScope::Write);
            render(&RulesPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Queries)),
                lines: rows.into_iter().map(|row| line(&row, now)).collect(),
                hidden: (n_hidden > 0)
                    .then(|| plural(n_hidden, "entry is hidden", "entries are hidden")),
                may_change,
            })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn line(row: &RuleRow, now: LocalNow) -> RuleLine {
    RuleLine {
        name: row.name.clone(),
        is_on: row.is_on,
        actions: rule_actions(&row.text).join(", "),
        n_acted: count(row.n_acted),
        acted: row.acted_at.map(|at| DisplayTime::new(at, now)),
        changed: DisplayTime::new(row.changed_at, now),
        works_on_past: row.past_next.is_some(),
    }
}

/// Shows the editor with an example.
pub async fn new(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
    let (name, text, trial) = (String::new(), EXAMPLE.to_owned(), RuleTrial::none());
    render(&RuleEditor { frame, name, text, trial, stored: None, is_made: false, message: None })
}

pub async fn edit(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let is_made = params::number(query.as_deref(), "made").is_some();
    let (store, account, now) = (context.store.clone(), visitor.account(), visitor.now(&context));
    let wanted = name.clone();
    let found = run_blocking(move || tried(&store, account, &wanted, now)).await;
    match found {
        Ok(Some((row, trial))) => {
            let text = match visitor.may(TokenScope::Write) {
                true => row.text.clone(),
                false => query::masked(&row.text),
            };
            let frame = Frame::new(&context, visitor, Some(NavSection::Queries));
            let stored = Some(line(&row, now));
            render(&RuleEditor { frame, name, text, trial, stored, is_made, message: None })
        }
        Ok(None) => {
            let text = format!("The rule {name} does not exist. The page Rules lists yours.");
            not_found(&context, visitor, text)
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn tried(
    store: &Store,
    account: store::AccountId,
    name: &str,
    now: LocalNow,
) -> Result<Option<(RuleRow, RuleTrial)>, StoreError> {
    let Some(row) = store.rule(account, name)? else { return Ok(None) };
    let trial = RuleTrial::run(store, account, &row.text, now.at)?;
    Ok(Some((row, trial)))
}

/// Tries a rule on past entries. Answers with the result for the script, or with the editor.
pub async fn try_out(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let text = sent.form.text("text").replace("\r\n", "\n");
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let wanted = text.clone();
    match run_blocking(move || RuleTrial::run(&store, account, &wanted, now)).await {
        Ok(trial) if sent.form.has("part") => render(&RuleTrialPart { trial }),
        Ok(trial) => editor(&context, sent, text, trial, None),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Shows the editor again, with the text that was sent.
fn editor(
    context: &ServerContext,
    sent: WriteForm,
    text: String,
    trial: RuleTrial,
    message: Option<String>,
) -> Response {
    let name = sent.form.text("name").to_owned();
    let is_refused = message.is_some() || !trial.faults.is_empty();
    let frame = Frame::new(context, sent.visitor, Some(NavSection::Queries));
    let stored = None;
    let page = render(&RuleEditor { frame, name, text, trial, stored, is_made: false, message });
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    (status, page).into_response()
}
