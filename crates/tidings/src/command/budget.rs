//! `tidings budget`: the maximum number of polls of the whole instance, and the strategy that
//! spends them.

use api::plural;
use dispatch::command::{Command, CommandResult};
use engine::BudgetRule;
use polling::budget::{LearnShare, Spender};
use serde_json::json;
use store::{OpenMode, Store, StoreError};

use crate::args::BudgetArgs;
use crate::config::Config;
use crate::error::{CliError, failed, input_error};
use crate::output::{print_json, print_line};
use crate::{access, config};

pub async fn run(args: BudgetArgs) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    let Some(wanted) = wanted(&args, in_force(&config)?)? else {
        return show(&config, args.json);
    };
    let command = Command::Budget { rule: wanted.map(|rule| rule.to_string()) };
    let done = access::carry_out(&config, command, &|_, _| ()).await?;
    let CommandResult::Budgeted { feeds } = done else {
        return Err(failed(
            "the daemon gave an unexpected answer; it may be another version".to_owned(),
        ));
    };
    if args.json {
        return print_json(&json(wanted.as_ref(), Some(feeds)));
    }
    print_line(&match wanted {
        Some(rule) => {
            let feeds = plural(feeds as u64, "feed", "feeds");
            format!("{} It applies to {feeds}.", words(&rule))
        }
        None => "No budget: every feed follows its policy.".to_owned(),
    })
}

/// Returns the requested change: `None` to show the budget only, `Some(None)` for no budget.
fn wanted(
    args: &BudgetArgs,
    now: Option<BudgetRule>,
) -> Result<Option<Option<BudgetRule>>, CliError> {
    let mut rule = match (args.budget.as_deref(), now) {
        (Some("off"), _) => return Ok(Some(None)),
        (Some(text), now) => {
            let read = BudgetRule::limit(text);
            let (budget, price) = read.map_err(|e| input_error(format!("{e}; or off")))?;
            let rule = now.unwrap_or_else(|| BudgetRule::new(budget));
            BudgetRule { budget, price, ..rule }
        }
        (None, _)
            if args.strategy.is_none() && args.estimator.is_none() && args.learn.is_none() =>
        {
            return Ok(None);
        }
        (None, Some(rule)) => rule,
        (None, None) => {
            let what = "there is no budget; set one too, for example: tidings budget 1000/1h";
            return Err(input_error(what.to_owned()));
        }
    };
    if let Some(strategy) = &args.strategy {
        let spender: Spender =
            strategy.parse().map_err(|e| input_error(format!("--strategy: {e}")))?;
        rule = rule.under(spender);
    }
    if let Some(estimator) = &args.estimator {
        rule.model = estimator.parse().map_err(|e| input_error(format!("--estimator: {e}")))?;
    }
    if let Some(learn) = &args.learn {
        rule.learn = learn.parse().map_err(|e| input_error(format!("--learn: {e}")))?;
    }
    Ok(Some(Some(rule)))
}

fn in_force(config: &Config) -> Result<Option<BudgetRule>, CliError> {
    match Store::open(&config.store, OpenMode::ReadOnly) {
        Ok(store) => Ok(engine::budget_in_force(&store, config.engine.budget)?),
        Err(StoreError::Missing { .. }) => Ok(config.engine.budget),
        Err(error) => Err(error.into()),
    }
}

fn show(config: &Config, as_json: bool) -> Result<(), CliError> {
    let rule = in_force(config)?;
    if as_json {
        return print_json(&json(rule.as_ref(), None));
    }
    print_line(&match rule {
        Some(rule) => words(&rule),
        None => "No budget: every feed follows its policy. To set one: tidings budget 1000/1h"
            .to_owned(),
    })
}

fn words(rule: &BudgetRule) -> String {
    let learning = match rule.learn {
        LearnShare::Off => String::new(),
        LearnShare::Auto => " Learning polls: as many as not knowing costs.".to_owned(),
        LearnShare::Percent(percent) => format!(" Learning polls: {percent} %."),
    };
    let (limit, spender, model) = (rule.limit_text(), rule.spender, rule.model.word());
    let units = match rule.price {
        Some(price) => format!(" The number counts units; a poll costs {}.", price.words()),
        None => String::new(),
    };
    format!("At most {limit}.{units} Strategy: {spender}. Prediction model: {model}.{learning}")
}

fn json(rule: Option<&BudgetRule>, feeds: Option<usize>) -> serde_json::Value {
    json!({
        "budget": rule.map(BudgetRule::limit_text),
        "strategy": rule.map(|r| r.spender.to_string()),
        "estimator": rule.map(|r| r.model.word()),
        "learn": rule.map(|r| r.learn.to_string()),
        "feeds": feeds,
    })
}
