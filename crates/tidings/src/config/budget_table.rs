//! The table `[budget]` of the configuration: the limit of polls, and the strategy that spends it.

use engine::BudgetRule;
use polling::budget::{LearnShareError, Spender};
use serde::Deserialize;

use super::ConfigSource;
use crate::error::CliError;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetTable {
    /// `1000/1h`, with bytes `1000/1h,50MB`, or with a price `1000/1h:1+20/MB+5/s`.
    polls: String,
    strategy: Option<String>,
    estimator: Option<String>,
    /// The share of the polls that is for learning: `10%` or `auto`.
    learn: Option<String>,
}

impl BudgetTable {
    /// Returns the rule that the table sets.
    pub(super) fn rule(&self, source: &ConfigSource) -> Result<BudgetRule, CliError> {
        let wrong = |key: &str, reason: String| source.fault("budget", key, reason);
        let (polls, price) = BudgetRule::limit(&self.polls).map_err(|e| wrong("polls", e))?;
        let mut rule = BudgetRule { price, ..BudgetRule::new(polls) };
        if let Some(name) = &self.strategy {
            let spender: Spender =
                name.parse().map_err(|e: polling::SpecError| wrong("strategy", e.to_string()))?;
            rule = rule.under(spender);
        }
        if let Some(name) = &self.estimator {
            rule.model =
                name.parse().map_err(|e: polling::SpecError| wrong("estimator", e.to_string()))?;
        }
        if let Some(share) = &self.learn {
            rule.learn =
                share.parse().map_err(|e: LearnShareError| wrong("learn", e.to_string()))?;
        }
        Ok(rule)
    }
}
