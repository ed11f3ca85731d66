//! The arguments of `tidings budget`.

use clap::Args;

use super::InstanceArgs;

#[derive(Debug, Args)]
#[command(after_help = "Feeds with a policy of their own, or of a tag, are not under the budget, \
    but their polls count.\nStrategies: uniform, only-sat, only-tau, top-k-utility, two-steps, \
    min-delay, min-delay:centroid,\nmin-delay:shrunk, min-delay-allocation, min-delay-schedule, \
    min-miss, crawl-freshness, crawl-age,\nlambda-crawl, top-k-expected, tide; tide:365d if losing \
    an entry is as bad as waiting a year for it\n[default: 730d].\n\
    Estimators: window, single-variable, periodic, histogram, changes, tide,\n\
    daily-total, offline.")]
pub struct BudgetArgs {
    /// Polls per time, e.g. 1000/1h; also bytes, e.g. 1000/1h,50MB; units if a poll has a price,
    /// e.g. 5000/1h:1+20/MB+5/s; or `off`
    #[arg(value_name = "N/TIME")]
    pub budget: Option<String>,
    /// The strategy that spends the polls [default: tide]
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// The prediction model [default: periodic; tide has its own]
    #[arg(long, value_name = "NAME")]
    pub estimator: Option<String>,
    /// The share of the polls that learn how often feeds post: 10%, or `auto` [default: 0%]
    #[arg(long, value_name = "PERCENT|auto")]
    pub learn: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}
