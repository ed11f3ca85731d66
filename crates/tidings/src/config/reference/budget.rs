//! The keys of the table `[budget]`.

use super::{ConfigTable, key};

pub(super) fn budget() -> ConfigTable {
    let keys = vec![
        key(
            "polls",
            "polls per time, and bytes",
            "required",
            "The maximum number of polls in a time, and optionally the maximum number of bytes in \
             that time. With a price per poll, as in `5000/1h:1+20/MB+5/s`, the budget counts \
             units.",
            "\"1000/1h,50MB\"",
        )
        .needed(),
        key(
            "strategy",
            "strategy",
            engine::BudgetRule::STRATEGY.to_string(),
            "The strategy that spends the budget; `tidings budget --help` lists them. For tide \
             also the cost of a lost entry as waiting time; the default is 730d.",
            "\"tide:365d\"",
        ),
        key(
            "estimator",
            "estimator",
            format!("tide; for other strategies {}", engine::BudgetRule::MODEL.word()),
            "The model that predicts the entries of a feed.",
            "\"periodic\"",
        ),
        key(
            "learn",
            "percentage, or auto",
            "0%",
            "The share of the polls that learn how often feeds post: up to 50%, or auto.",
            "\"10%\"",
        ),
    ];
    let about = "Without this table there is no budget, unless `tidings budget` set one. That one \
                 takes precedence.";
    ConfigTable { name: "budget", about, keys }
}
