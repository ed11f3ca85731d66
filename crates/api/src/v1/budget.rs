//! The budget: how many polls the whole instance may make, and what others would bring.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dispatch::command::{Command, Done};

use super::extract::JsonBody;
use super::route::Route;
use super::schema::{answer, asked};
use super::{act, blocking, odd};
use crate::v1::error::ApiError;
use crate::{Context, what_if};

answer! {
    /// The budget in force.
    Budget {
        /// Polls per period, such as `1000/1h`; null: every feed follows its policy.
        budget: Option<String>,
        /// How it is spent.
        strategy: Option<String>,
        /// By which model entries are expected.
        estimator: Option<String>,
    }

    /// What came of setting a budget.
    BudgetSet {
        /// How many feeds are under it.
        feeds: usize,
    }

    /// What one rule would have done.
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
        /// It is the one in use.
        current: bool,
    }

    /// What other rules would have done with the feeds' own history.
    Outlook {
        /// When it was reckoned.
        made_at: String,
        /// From when the history was replayed.
        from: String,
        /// Until when.
        to: String,
        /// What is in use, and other policies.
        rules: Vec<RuleTried>,
        /// One strategy at growing budgets, the smallest first.
        steps: Vec<RuleTried>,
        /// Each rule in a sentence.
        words: Vec<String>,
        /// What the history cannot tell.
        blind_spots: String,
    }

    /// What was reckoned last, and whether it is being reckoned now.
    WhatIf {
        /// Null before the first time.
        outlook: Option<Outlook>,
        /// It is being reckoned.
        running: bool,
        /// Steps that are done.
        steps_done: usize,
        /// Steps in all; 0 where nothing runs.
        steps: usize,
        /// Why it failed the last time.
        error: Option<String>,
    }
}

asked! {
    /// A budget to be set.
    NewBudget {
        /// Polls per period, such as `1000/1h`, or with strategy and estimator behind it; null:
        /// none.
        budget: Option<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/budget", "The budget in force", show).answers::<Budget>(),
        Route::put("/budget", "Set the budget, or lift it", set)
            .takes::<NewBudget>()
            .answers::<BudgetSet>(),
        Route::get("/what-if", "Other policies and budgets on the own history", outlook)
            .answers::<WhatIf>(),
        Route::post("/what-if", "Reckon that anew, which takes a while", reckon)
            .answers_with::<WhatIf>(StatusCode::ACCEPTED),
    ]
}

async fn show(State(context): State<Context>) -> Json<Budget> {
    // Three words, as `tidings budget` takes them.
    let rule = (context.rule)();
    let mut words = rule.iter().flat_map(|rule| rule.split_whitespace()).map(str::to_owned);
    let (budget, strategy, estimator) = (words.next(), words.next(), words.next());
    Json(Budget { budget, strategy, estimator })
}

async fn set(
    State(context): State<Context>,
    JsonBody(new): JsonBody<NewBudget>,
) -> Result<Json<BudgetSet>, ApiError> {
    let done = act(&context, Command::Budget { rule: new.budget }).await?;
    let Done::Budgeted { feeds } = done else { return Err(odd()) };
    Ok(Json(BudgetSet { feeds }))
}

async fn outlook(State(context): State<Context>) -> Result<Json<WhatIf>, ApiError> {
    said(&context).await.map(Json)
}

async fn reckon(State(context): State<Context>) -> Result<(StatusCode, Json<WhatIf>), ApiError> {
    context.what_if.begin(&context.store, (context.now)());
    Ok((StatusCode::ACCEPTED, Json(said(&context).await?)))
}

async fn said(context: &Context) -> Result<WhatIf, ApiError> {
    let (state, store) = (context.what_if.state(), context.store.clone());
    let last = blocking(move || Ok(what_if::last(&store)?)).await?;
    let (steps_done, steps) = state.running.unwrap_or_default();
    let running = state.running.is_some();
    let outlook = last.map(Outlook::from);
    Ok(WhatIf { outlook, running, steps_done, steps, error: state.failed })
}

impl From<what_if::Rule> for RuleTried {
    fn from(rule: what_if::Rule) -> RuleTried {
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

impl From<what_if::Outlook> for Outlook {
    fn from(outlook: what_if::Outlook) -> Outlook {
        let tried = |rules: Vec<what_if::Rule>| rules.into_iter().map(RuleTried::from).collect();
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
