//! The choices in which a reproduction of a paper differs from live use.

use polling::budget::{LearnShare, PollPrice};
use serde::{Deserialize, Deserializer};

/// Options of a run. The default is the behaviour of the live engine.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetOptions {
    /// Whether estimators learn how many entries were published, even beyond the window, as in
    /// figures 10 to 12 of source 000. No live aggregator can know that.
    pub true_counts: bool,
    /// Whether `single-variable` and `periodic` start at zero and use no publication dates, as in
    /// sections 4 and 6.1 of source 000. Live they start with the rate of the first window.
    pub from_zero: bool,
    /// Whether allocating strategies poll every feed at least once in 28 days. The papers do not.
    pub floor: bool,
    /// Whether `two-steps` and `only-tau` pay polls beyond the budget back in the next cycles.
    /// Source 001 lets them overspend.
    pub pay_back: bool,
    /// Whether the offline estimator learns again at the start of each day, as in section 4.2 of
    /// source 002. It uses as many days before as it had for training.
    pub moving: bool,
    /// Whether the strategy treats all feeds alike, although the world has weights. Figures per
    /// reader use the weights nevertheless.
    pub equal_weights: bool,
    /// The share of the polls that is for learning, paid from the same budget.
    #[serde(deserialize_with = "share")]
    pub learn: LearnShare,
    /// The price of a poll. With one, the budget counts units instead of polls, as it does live.
    #[serde(skip)]
    pub price: Option<PollPrice>,
}

fn share<'de, D: Deserializer<'de>>(from: D) -> Result<LearnShare, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl Default for BudgetOptions {
    fn default() -> BudgetOptions {
        BudgetOptions {
            true_counts: false,
            from_zero: false,
            floor: true,
            pay_back: true,
            moving: false,
            equal_weights: false,
            learn: LearnShare::Off,
            price: None,
        }
    }
}
