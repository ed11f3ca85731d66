//! The instance's budget as a value: how many polls, which strategy spends them, and which model of
//! a feed it uses. A feed with a policy of its own, or of a tag, is not under the budget.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::{Budget, LearnShare, PollPrice, Spender, Strategy, Tracked};
use polling::model::ModelKind;
use polling::policy::window_share::WindowTarget;
use polling::relevance::Selectivity;
use polling::{Decimal, Learned, Policy};
use store::{PollInput, Settings as FeedSettings, Store, StoreError};

/// The key of the setting in the store.
const KEY: &str = "budget";
const OFF: &str = "off";

/// The rule that `tidings budget` sets, written as `1000/1h two-steps periodic`. For `tide` the
/// price of a miss may follow: `1000/1h tide:365d tide`. A share for learning polls comes last:
/// `1000/1h tide tide learn=10%`. With a price per poll the number counts units:
/// `1000/1h:1+20/MB+5/s tide tide`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetRule {
    pub budget: Budget,
    /// The price of a poll. With one, the number of the budget counts units instead of polls.
    pub price: Option<PollPrice>,
    pub spender: Spender,
    /// The model by which the strategy predicts a feed.
    pub model: ModelKind,
    /// The share of the polls that is for learning.
    pub learn: LearnShare,
}

impl BudgetRule {
    pub const STRATEGY: Strategy = Strategy::Tide;
    /// The default model of strategies other than `tide`.
    pub const MODEL: ModelKind = ModelKind::Periodic;

    pub fn new(budget: Budget) -> BudgetRule {
        let spender = BudgetRule::STRATEGY.into();
        let (model, learn) = (ModelKind::Tide, LearnShare::Off);
        BudgetRule { budget, price: None, spender, model, learn }
    }

    /// Reads the limit of a rule: `1000/1h`, `1000/1h,50MB` or `1000/1h:1+20/MB+5/s`.
    pub fn limit(text: &str) -> Result<(Budget, Option<PollPrice>), String> {
        let (budget, price) = match text.split_once(':') {
            Some((budget, price)) => (budget, Some(price.parse::<PollPrice>().map_err(as_text)?)),
            None => (text, None),
        };
        let budget: Budget = budget.parse().map_err(as_text)?;
        match (price, budget.bytes) {
            (Some(_), Some(_)) => {
                Err("a budget with a price counts bytes in its units; leave the bytes out".into())
            }
            _ => Ok((budget, price)),
        }
    }

    /// Returns the limits that the planner keeps.
    pub fn limits(&self) -> Budget {
        self.price.map_or(self.budget, |price| price.limits(&self.budget))
    }

    /// Returns the limit as it is written.
    pub fn limit_text(&self) -> String {
        let price = self.price.map_or(String::new(), |price| format!(":{price}"));
        format!("{}{price}", self.budget)
    }

    /// Returns the same budget under another strategy. `tide` has its own model, which other
    /// strategies do not use.
    pub fn under(self, spender: impl Into<Spender>) -> BudgetRule {
        let spender = spender.into();
        let model = match (self.spender.strategy, spender.strategy) {
            (Strategy::Tide, Strategy::Tide) => self.model,
            (_, Strategy::Tide) => ModelKind::Tide,
            (Strategy::Tide, _) if self.model == ModelKind::Tide => BudgetRule::MODEL,
            _ => self.model,
        };
        BudgetRule { spender, model, ..self }
    }

    /// The policy by which a feed under the budget learns: it works on the model. Its wish says
    /// when the window would overrun; the wish is shown but not followed.
    pub fn policy(&self) -> Policy {
        Policy::Window { room: WindowTarget::Share(Decimal::new(1, 0)), model: self.model }
    }

    /// Returns whether the budget decides for a feed: it has no policy of its own or by a tag.
    pub fn binds(&self, input: &PollInput) -> bool {
        places(input).all(|s| s.policy.is_none())
    }

    /// Returns the learned state of a feed under the rule. If there is none, starts from the window
    /// of the last poll.
    pub fn learned(&self, input: &PollInput) -> Learned {
        let policy = self.policy();
        let mut learned = Learned::decode(&policy, &input.learned);
        if let Some(at) = input.history.last_success_at
            && learned.model() == policy.start().model()
        {
            let times = input.document.window.times();
            let first = Observation::first(at, &times);
            policy.learn(&mut learned, &first);
        }
        learned
    }

    /// Returns the feed as the strategy sees it, from the stored state.
    pub fn tracked(&self, input: &PollInput) -> Tracked {
        let window = input.document.window.entries().len();
        self.tracked_as(&self.learned(input), input, input.history.last_success_at, window)
    }

    /// Returns the feed as the strategy sees it after a poll.
    pub fn tracked_as(
        &self,
        learned: &Learned,
        input: &PollInput,
        last: Option<Time>,
        window: usize,
    ) -> Tracked {
        let model = learned.model().cloned().unwrap_or_else(|| self.model.start());
        let fresh = Tracked::new(model);
        let window = u32::try_from(window).ok().filter(|n| *n > 0).unwrap_or(fresh.window);
        Tracked { last, window, weight: weight(input), selectivity: selectivity(input), ..fresh }
    }
}

/// A feed under the budget, as the strategy needs it.
#[derive(Clone, Debug)]
pub struct Budgeted {
    pub tracked: Tracked,
    /// The earliest time of the next poll, by backoff or by a publisher's hint.
    pub from: Time,
    /// The latest time, if a longest delay was promised. It holds whatever the budget says.
    pub latest: Option<Time>,
}

impl Budgeted {
    /// Follows a clock that was set back by `by` since the feed was polled and shows `now`.
    pub fn set_back(&mut self, by: Duration, now: Time) {
        self.from = self.from - by;
        self.latest = self.latest.map(|at| at - by);
        self.tracked.last = self.tracked.last.map(|at| (at - by).min(now));
    }
}

/// The share of the feed's entries that queries keep or consumers want; 1 if no query reads it.
fn selectivity(input: &PollInput) -> f64 {
    input.share.map_or(1.0, |share| Selectivity::from_parts(share.seen, share.kept).value())
}

/// The weight of a feed: its own, else that of a tag, else the number of its readers, else 1. A
/// feed whose subscribers have not read for long counts as one with a single reader.
pub fn weight(input: &PollInput) -> f64 {
    let of_readers = || input.readers.map(|n| n.max(1) as f64);
    places(input).find_map(|s| s.weight).or_else(of_readers).unwrap_or(1.0)
}

/// The settings that apply to a feed, in order of precedence.
pub fn places(input: &PollInput) -> impl Iterator<Item = &FeedSettings> + Clone {
    std::iter::once(&input.settings.own).chain(input.settings.of_tags.iter().map(|(_, s)| s))
}

/// Returns the budget in force: the one that `tidings budget` stored, else the configured one.
pub fn in_force(
    store: &Store,
    configured: Option<BudgetRule>,
) -> Result<Option<BudgetRule>, StoreError> {
    Ok(match store.setting(KEY)?.as_deref() {
        None => configured,
        Some(OFF) => None,
        // Another version wrote a rule that this one cannot read: without a rule, feeds are
        // polled by their policies.
        Some(text) => text.parse().ok().or(configured),
    })
}

pub fn set(store: &Store, rule: Option<&BudgetRule>) -> Result<(), StoreError> {
    let text = rule.map_or_else(|| OFF.to_owned(), ToString::to_string);
    store.set_setting(KEY, Some(&text))
}

impl fmt::Display for BudgetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = format!("{} {} {}", self.limit_text(), self.spender, self.model.word());
        match self.learn {
            LearnShare::Off => f.write_str(&rule),
            learn => f.write_str(&LearnShare::join(&rule, &learn.to_string())),
        }
    }
}

impl FromStr for BudgetRule {
    type Err = String;

    fn from_str(text: &str) -> Result<BudgetRule, String> {
        let (text, share) = LearnShare::split(text);
        let learn = share.map_or(Ok(LearnShare::Off), |share| share.parse().map_err(as_text))?;
        let mut words = text.split_whitespace();
        let (budget, price) = BudgetRule::limit(words.next().unwrap_or_default())?;
        let mut rule = BudgetRule { price, learn, ..BudgetRule::new(budget) };
        if let Some(word) = words.next() {
            rule = rule.under(word.parse::<Spender>().map_err(as_text)?);
        }
        if let Some(word) = words.next() {
            rule.model = word.parse().map_err(as_text)?;
        }
        match words.next() {
            Some(more) => Err(format!("unexpected word `{more}` after the budget")),
            None => Ok(rule),
        }
    }
}

fn as_text(error: impl fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_written_and_read_back() {
        let (priced, learning) = ("60/1h tide:365d tide", "60/1h tide tide learn=10%");
        let texts = ["1000/1h two-steps periodic", "5/10m,2MB min-delay histogram", priced];
        for text in texts.into_iter().chain([learning, "9/1h uniform offline learn=auto"]) {
            assert_eq!(text.parse::<BudgetRule>().map(|r| r.to_string()), Ok(text.to_owned()));
        }
        let units = "5000/1h:1+20/MB+5/s tide tide";
        let rule: BudgetRule = units.parse().unwrap();
        assert_eq!((rule.to_string().as_str(), rule.limits().bytes), (units, Some(5_000_000)));
        let both = "60/1h,5MB:1+20/MB".parse::<BudgetRule>();
        assert!(both.is_err_and(|e| e.contains("leave the bytes out")));
        assert!("60/1h:cheap".parse::<BudgetRule>().is_err_and(|e| e.contains("1+20/MB+5/s")));
        let short = "60/1h".parse::<BudgetRule>().map(|r| r.to_string());
        assert_eq!(short, Ok("60/1h tide tide".to_owned()));
        let tide = "60/1h tide".parse::<BudgetRule>();
        assert_eq!(tide.clone().map(|r| r.to_string()), Ok("60/1h tide tide".to_owned()));
        let back = tide.map(|r| r.under(Strategy::MinDelay).to_string());
        assert_eq!(back, Ok("60/1h min-delay periodic".to_owned()));
        assert!("60/1h two-step".parse::<BudgetRule>().is_err_and(|e| e.contains("two-steps")));
        assert!(
            "60/1h tide tide learn=70%".parse::<BudgetRule>().is_err_and(|e| e.contains("50%"))
        );
        assert!("60/1h two-steps periodic now".parse::<BudgetRule>().is_err());
    }
}
