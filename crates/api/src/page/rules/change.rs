//! Saves, switches and deletes rules of the visitor.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use store::RuleError;

use super::editor;
use super::trial::RuleTrial;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::WriteForm;
use crate::page::notice::{not_found, store_error};
use crate::rule_book::{SaveRuleError, save_rule};
use crate::words::sentence;

/// The page with all rules.
const RULES: &str = "/rules";

/// Saves a rule: switched on, switched on and applied to past entries, or switched off.
pub async fn save(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let text = sent.form.text("text").replace("\r\n", "\n");
    let old = Some(sent.form.text("name").to_owned()).filter(|name| !name.is_empty());
    let state = sent.form.text("state").to_owned();
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let tried = text.clone();
    let saved = run_blocking(move || {
        let saved = save_rule(&store, account, &tried, old, state != "off", now)?;
        match saved {
            Ok(row) if state == "past" => {
                store.apply_rule_to_past(account, &row.name)?;
                Ok(Ok(()))
            }
            Ok(_) => Ok(Ok(())),
            Err(why) => {
                let trial = RuleTrial::run(&store, account, &tried, now)?;
                let why = match why {
                    SaveRuleError::Text(_) => None,
                    SaveRuleError::Rule(why) => Some(why),
                };
                Ok(Err((trial, why)))
            }
        }
    });
    match saved.await {
        Ok(Ok(())) => Redirect::to(RULES).into_response(),
        Ok(Err((trial, why))) => {
            let message = why.map(|why: RuleError| sentence(&why.to_string()));
            editor(&context, sent, text, trial, message)
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Switches a rule on or off, lets it act on past entries, or deletes it.
pub async fn change(
    State(context): State<ServerContext>,
    Path((name, act)): Path<(String, String)>,
    sent: WriteForm,
) -> Response {
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let wanted = name.clone();
    let done = run_blocking(move || match act.as_str() {
        "on" => store.switch_rule(account, &wanted, true, now),
        "off" => store.switch_rule(account, &wanted, false, now),
        "past" => store.apply_rule_to_past(account, &wanted),
        "delete" => store.delete_rule(account, &wanted),
        _ => Ok(false),
    });
    match done.await {
        Ok(true) => Redirect::to(RULES).into_response(),
        Ok(false) => {
            let text = format!("The rule {name} does not exist, or it cannot do this now.");
            not_found(&context, sent.visitor, text)
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Shows all hidden entries again.
pub async fn show_hidden(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    match run_blocking(move || store.show_hidden(account)).await {
        Ok(()) => Redirect::to(RULES).into_response(),
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}
