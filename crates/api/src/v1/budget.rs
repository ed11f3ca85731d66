//! The budget of polls for the whole instance, and replays of other budgets and policies.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{Command, CommandResult};
use polling::budget::LearnShare;

use super::extract::JsonBody;
use super::route::Route;
use super::schema::{answer, request};
use super::{act, blocking, unexpected_answer};
use crate::v1::error::ApiError;
use crate::{ServerContext, what_if};

answer! {
    /// The current budget.
    Budget {
        /// Polls per period, such as `1000/1h`. Null: every feed follows its policy.
        budget: Option<String>,
        /// The strategy that spends it.
        strategy: Option<String>,
        /// The model that predicts entries.
        estimator: Option<String>,
        /// The share of the polls that is for learning, such as `10%` or `auto`. Null: none.
        learn: Option<String>,
    }

    /// The result of setting a budget.
    BudgetSet {
        /// The number of feeds under the budget.
        feeds: usize,
    }

    /// The replayed result of one policy or budget.
    RuleTried {
        /// The policy, or the strategy.
        name: String,
        /// The budget, as it is set; empty for a policy.
        budget: String,
        /// Polls a day.
        polls_per_day: f64,
        /// The mean delay of entries.
        delay_seconds: Option<f64>,
        /// Entries found.
        found: u64,
        /// Entries missed.
        missed: u64,
        /// Whether it is the one in use.
        current: bool,
    }

    /// Replays of other policies and budgets on the feeds' own history.
    Outlook {
        /// When it was calculated.
        made_at: String,
        /// The start of the replayed history.
        from: String,
        /// The end of the replayed history.
        to: String,
        /// The rule in use, and other policies.
        rules: Vec<RuleTried>,
        /// One strategy at growing budgets, the smallest first.
        steps: Vec<RuleTried>,
        /// Each rule in a sentence.
        words: Vec<String>,
        /// The limits of what a replay can show.
        blind_spots: String,
    }

    /// The last replay, and the progress of a running one.
    WhatIf {
        /// Null before the first replay.
        outlook: Option<Outlook>,
        /// Whether a replay is running.
        running: bool,
        /// Finished steps.
        steps_done: usize,
        /// Steps in total; 0 if no replay is running.
        steps: usize,
        /// Why the last replay failed.
        error: Option<String>,
    }
}

request! {
    /// A budget to set.
    NewBudget {
        /// Polls per period, such as `1000/1h`, optionally followed by strategy, estimator and the
        /// share for learning (`1000/1h tide tide learn=10%`). Null: no budget.
        budget: Option<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/budget", "The current budget", show).answers::<Budget>(),
        Route::put("/budget", "Set or remove the budget", set)
            .takes::<NewBudget>()
            .answers::<BudgetSet>(),
        Route::get("/what-if", "The last replay of other policies and budgets", outlook)
            .answers::<WhatIf>(),
        Route::post("/what-if", "Start a new replay, which takes a while", replay)
            .answers_with::<WhatIf>(StatusCode::ACCEPTED),
    ]
}

async fn show(State(context): State<ServerContext>) -> Json<Budget> {
    let rule = (context.rule)();
    let (rule, learn) = LearnShare::split(rule.as_deref().unwrap_or_default());
    // Three words, as `tidings budget` takes them.
    let mut words = rule.split_whitespace().map(str::to_owned);
    let (budget, strategy, estimator) = (words.next(), words.next(), words.next());
    Json(Budget { budget, strategy, estimator, learn: learn.map(str::to_owned) })
}

async fn set(
    State(context): State<ServerContext>,
    JsonBody(new): JsonBody<NewBudget>,
) -> Result<Json<BudgetSet>, ApiError> {
    let done = act(&context, Command::Budget { rule: new.budget }).await?;
    let CommandResult::Budgeted { feeds } = done else { return Err(unexpected_answer()) };
    Ok(Json(BudgetSet { feeds }))
}

async fn outlook(State(context): State<ServerContext>) -> Result<Json<WhatIf>, ApiError> {
    status(&context).await.map(Json)
}

async fn replay(
    State(context): State<ServerContext>,
) -> Result<(StatusCode, Json<WhatIf>), ApiError> {
    context.what_if.start(&context.store, (context.now)());
    Ok((StatusCode::ACCEPTED, Json(status(&context).await?)))
}

async fn status(context: &ServerContext) -> Result<WhatIf, ApiError> {
    let (state, store) = (context.what_if.state(), context.store.clone());
    let last = blocking(move || Ok(what_if::last(&store)?)).await?;
    let (steps_done, steps) = state.running.unwrap_or_default();
    let running = state.running.is_some();
    let outlook = last.map(Outlook::from);
    Ok(WhatIf { outlook, running, steps_done, steps, error: state.failed })
}

impl From<what_if::RuleResult> for RuleTried {
    fn from(rule: what_if::RuleResult) -> RuleTried {
        RuleTried {
            name: rule.name,
            budget: rule.budget,
            polls_per_day: rule.polls_per_day,
            delay_seconds: rule.delay_secs,
            found: rule.found,
            missed: rule.missed,
            current: rule.current,
        }
    }
}

impl From<what_if::ReplayResult> for Outlook {
    fn from(outlook: what_if::ReplayResult) -> Outlook {
        let tried =
            |rules: Vec<what_if::RuleResult>| rules.into_iter().map(RuleTried::from).collect();
        Outlook {
            made_at: outlook.made_at,
            from: outlook.from,
            to: outlook.to,
            rules: tried(outlook.rules),
            steps: tried(outlook.steps),
            words: outlook.words,
            blind_spots: outlook.blind_spots,
        }
    }
}
