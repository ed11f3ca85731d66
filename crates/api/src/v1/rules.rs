//! Rules of the person: list, create, try, change, delete.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use store::{RuleError, RuleRow, TokenScope};

use super::blocking;
use super::extract::{JsonBody, NameInPath};
use super::queries::{KeptEntry, StatementFault};
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::Person;
use crate::rule_book::{RULE_TRIAL_DAYS, SaveRuleError, rule_actions, save_rule, try_rule};
use crate::v1::error::ApiError;

/// Matched entries that a trial lists; the rest is counted.
const NAMED_MAX: usize = 20;

answer! {
    /// A rule.
    RuleView {
        /// Its name.
        name: String,
        /// The statement.
        text: String,
        /// Its actions, such as `MARK READ`.
        actions: Vec<String>,
        /// Whether it is on.
        on: bool,
        /// The number of entries on which it has acted.
        acted: u64,
        /// When it acted last.
        acted_at: Option<String>,
        /// When it was saved or switched.
        changed_at: String,
        /// Whether it still works on stored entries.
        works_on_past: bool,
    }

    /// Your rules.
    RuleList {
        /// By name.
        rules: Vec<RuleView>,
        /// The number of entries that rules have hidden.
        hidden: u64,
    }

    /// The result of a trial.
    RuleTrialResult {
        /// The number of entries that were tried.
        entries: u64,
        /// The number of entries on which the rule would have acted.
        kept: u64,
        /// The latest of them, newest first.
        newest: Vec<KeptEntry>,
        /// The trial looked so many days back.
        days: u64,
        /// The errors in the statement; then nothing was tried.
        faults: Vec<StatementFault>,
    }
}

request! {
    /// A rule to save.
    NewRuleText {
        /// The statement. `CREATE OR REPLACE RULE` replaces the rule with this name.
        text: String,
        /// Whether it is on. The default is true.
        on: Option<bool>,
        /// Whether it also acts on stored entries, without notifications.
        past: Option<bool>,
    }

    /// A rule to try.
    RuleText {
        /// The statement.
        text: String,
    }

    /// Changes of a rule. A missing field keeps its value.
    RuleChange {
        /// A new statement, perhaps with another name.
        text: Option<String>,
        /// On or off.
        on: Option<bool>,
        /// True: it also acts on stored entries, without notifications.
        past: Option<bool>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/rules", "Your rules", list).answers::<RuleList>(),
        Route::post("/rules", "Create a rule", create)
            .needs(TokenScope::Write)
            .takes::<NewRuleText>()
            .answers_with::<RuleView>(StatusCode::CREATED),
        Route::post("/rule-trial", "Try a rule on recent entries; nothing changes", try_out)
            .needs(TokenScope::Read)
            .takes::<RuleText>()
            .answers::<RuleTrialResult>(),
        Route::get("/rules/{name}", "One rule", one).answers::<RuleView>(),
        Route::patch("/rules/{name}", "Change a rule, or switch it on or off", change)
            .needs(TokenScope::Write)
            .takes::<RuleChange>()
            .answers::<RuleView>(),
        Route::delete("/rules/{name}", "Delete a rule; its marks stay", delete)
            .needs(TokenScope::Write),
    ]
}

const MISSING: ApiError = ApiError::NotFound("you have no such rule");

impl From<RuleRow> for RuleView {
    fn from(row: RuleRow) -> RuleView {
        RuleView {
            actions: rule_actions(&row.text),
            name: row.name,
            text: row.text,
            on: row.is_on,
            acted: row.n_acted,
            acted_at: row.acted_at.map(|at| at.to_string()),
            changed_at: row.changed_at.to_string(),
            works_on_past: row.past_next.is_some(),
        }
    }
}

impl RuleView {
    /// Returns a rule as a person sees it. A token that only reads gets no secrets of addresses.
    fn of(mut row: RuleRow, person: &Person) -> RuleView {
        if !person.may(TokenScope::Write) {
            row.text = query::masked(&row.text);
        }
        RuleView::from(row)
    }
}

impl From<SaveRuleError> for ApiError {
    fn from(error: SaveRuleError) -> ApiError {
        match error {
            SaveRuleError::Text(fault) => ApiError::Invalid(format!("text: {fault}")),
            SaveRuleError::Rule(RuleError::NoRule) => MISSING,
            SaveRuleError::Rule(error) => ApiError::Conflict(error.to_string()),
        }
    }
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<RuleList>, ApiError> {
    blocking(move || {
        let rules = context.store.rules(person.account)?.into_iter();
        let rules = rules.map(|row| RuleView::of(row, &person));
        let hidden = context.store.n_hidden(person.account)?;
        Ok(Json(RuleList { rules: rules.collect(), hidden }))
    })
    .await
}

async fn one(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<Json<RuleView>, ApiError> {
    blocking(move || {
        let found = context.store.rule(person.account, &name)?;
        found.map(|row| Json(RuleView::of(row, &person))).ok_or(MISSING)
    })
    .await
}

async fn create(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(new): JsonBody<NewRuleText>,
) -> Result<(StatusCode, Json<RuleView>), ApiError> {
    blocking(move || {
        let (store, account, now) = (&context.store, person.account, (context.now)());
        let on = new.on.unwrap_or(true);
        let mut row = save_rule(store, account, &new.text, None, on, now)??;
        if new.past.unwrap_or(false) && store.apply_rule_to_past(account, &row.name)? {
            row = store.rule(account, &row.name)?.ok_or(MISSING)?;
        }
        Ok((StatusCode::CREATED, Json(row.into())))
    })
    .await
}

async fn change(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
    JsonBody(change): JsonBody<RuleChange>,
) -> Result<Json<RuleView>, ApiError> {
    blocking(move || {
        let (store, account, now) = (&context.store, person.account, (context.now)());
        let before = store.rule(account, &name)?.ok_or(MISSING)?;
        let on = change.on.unwrap_or(before.is_on);
        let name = match change.text {
            Some(text) => save_rule(store, account, &text, Some(name), on, now)??.name,
            None if on != before.is_on => {
                store.switch_rule(account, &name, on, now)?;
                name
            }
            None => name,
        };
        if change.past.unwrap_or(false) && !store.apply_rule_to_past(account, &name)? {
            let text = "a rule that is off does not act on stored entries; switch it on";
            return Err(ApiError::Conflict(text.to_owned()));
        }
        Ok(Json(store.rule(account, &name)?.ok_or(MISSING)?.into()))
    })
    .await
}

async fn delete(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<StatusCode, ApiError> {
    blocking(move || match context.store.delete_rule(person.account, &name)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(MISSING),
    })
    .await
}

async fn try_out(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<RuleText>,
) -> Result<Json<RuleTrialResult>, ApiError> {
    blocking(move || {
        let (store, days) = (&context.store, RULE_TRIAL_DAYS);
        let tried = match try_rule(store, person.account, &sent.text, (context.now)())? {
            Ok(tried) => tried,
            Err(fault) => {
                let (newest, faults) = (Vec::new(), vec![fault.into()]);
                return Ok(Json(RuleTrialResult { entries: 0, kept: 0, newest, days, faults }));
            }
        };
        let mut newest = Vec::new();
        for id in tried.kept.iter().rev().take(NAMED_MAX) {
            newest.extend(store.entry(*id)?.map(KeptEntry::from));
        }
        let (entries, kept) = (tried.n_entries, tried.kept.len() as u64);
        Ok(Json(RuleTrialResult { entries, kept, newest, days, faults: Vec::new() }))
    })
    .await
}
