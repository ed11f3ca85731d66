//! The budget: how many polls the whole instance may make, and what others would bring.

use axum::Json;
use axum::extract::State;
use dispatch::command::{Command, Done};
use serde_json::Value;

use super::route::Route;
use super::sent::Sent;
use super::wire::{answer, asked};
use super::{act, odd};
use crate::Context;
use crate::json::Trouble;
use crate::page::ask;

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

    /// What other policies and budgets would have brought on the own feeds' history.
    WhatIf {
        /// It is being reckoned anew.
        running: bool,
        /// Why the last time brought nothing.
        failed: Option<String>,
        /// What was reckoned last: start and end, figures of the present rule and of others, and
        /// sentences about them; null where nothing was yet.
        outlook: Option<Value>,
    }
}

asked! {
    /// A budget to be set.
    NewBudget {
        /// Polls per period, such as `1000/1h`, or a whole rule; null: none.
        budget: Option<String>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/budget", "The budget in force", show).answers::<Budget>(),
        Route::put("/budget", "Set the budget, or lift it", set)
            .takes::<NewBudget>()
            .answers::<BudgetSet>(),
        Route::get("/what-if", "Other policies and budgets on the own history", what_if)
            .answers::<WhatIf>(),
        Route::post("/what-if", "Replay the history anew, behind the answer", reckon)
            .answers::<WhatIf>(),
    ]
}

async fn show(State(context): State<Context>) -> Json<Budget> {
    let rule = (context.budget)();
    Json(Budget {
        budget: rule.as_ref().map(|rule| rule.budget.clone()),
        strategy: rule.as_ref().map(|rule| rule.strategy.clone()),
        estimator: rule.map(|rule| rule.estimator),
    })
}

async fn set(
    State(context): State<Context>,
    Sent(new): Sent<NewBudget>,
) -> Result<Json<BudgetSet>, Trouble> {
    let done = act(&context, Command::Budget { rule: new.budget }).await?;
    let Done::Budgeted { feeds } = done else { return Err(odd()) };
    Ok(Json(BudgetSet { feeds }))
}

async fn what_if(State(context): State<Context>) -> Result<Json<WhatIf>, Trouble> {
    let (store, state) = (context.store.clone(), context.what_if.state());
    let outlook = ask(move || crate::what_if::last(&store)).await?;
    // Texts and numbers always have a form.
    let outlook = outlook.and_then(|outlook| serde_json::to_value(outlook).ok());
    Ok(Json(WhatIf { running: state.running.is_some(), failed: state.failed, outlook }))
}

async fn reckon(State(context): State<Context>) -> Result<Json<WhatIf>, Trouble> {
    context.what_if.begin(&context.store, (context.now)());
    what_if(State(context)).await
}
