//! Turns the short code that is stored with each poll back into sentences for people. Input is a
//! code of [`Why::code`](crate::Why::code) or [`PlanWhy::code`](crate::budget::PlanWhy::code).
//! Output is the sentences that `words` returns for the same figures.
//!
//! ```
//! let words = polling::explain("tide n=0.80 waited=2880s price=1800s").unwrap();
//! assert_eq!(words, "About 1 new entry is expected by then, 48 min old on average. \
//!                   (One poll is worth 30 min of waiting.)");
//! assert_eq!(polling::explain("retry after 2 failures"), None);
//! ```

use std::str::FromStr;
use std::time::Duration;

use crate::budget::{Miss, PlanCase, Strategy, plan_sentences};
use crate::model::tide::PostingTimes;
use crate::policy::explain::words::case_sentences;
use crate::{Limit, RuleCase, UndefinedCause};

/// Returns the sentences for a stored code; `None` for any other text.
pub fn explain(code: &str) -> Option<String> {
    let (head, rest) = code.split_once(' ')?;
    let figures = CodeFields(rest);
    if let Some(case) = rule_case(head, &figures) {
        return Some(case_sentences(&case, figures.limit()));
    }
    let strategy: Strategy = head.parse().ok()?;
    Some(plan_sentences(plan_case(&figures)?, strategy))
}

/// The part of a code after the rule's name: `name=value` pairs and single words.
struct CodeFields<'a>(&'a str);

impl CodeFields<'_> {
    fn has(&self, word: &str) -> bool {
        self.0.split(' ').any(|part| part == word)
    }

    fn get<T: FromStr>(&self, name: &str) -> Option<T> {
        let mut parts = self.0.split(' ').filter_map(|part| part.split_once('='));
        parts.find(|(found, _)| *found == name)?.1.parse().ok()
    }

    /// `1800s` or `0.250s`.
    fn span(&self, name: &str) -> Option<Duration> {
        let text: String = self.get(name)?;
        Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
    }

    fn limit(&self) -> Limit {
        match (self.has("alpha"), self.has("beta")) {
            (true, _) => Limit::Alpha,
            (_, true) => Limit::Beta,
            _ => Limit::None,
        }
    }
}

/// Returns the case of a policy.
fn rule_case(head: &str, figures: &CodeFields<'_>) -> Option<RuleCase> {
    let gap = || figures.span("u");
    Some(match head {
        "fix" => RuleCase::Fix { every: gap()? },
        "fix-learned-w" => RuleCase::FixLearnedW { n: figures.get("n")?, gap: gap()? },
        "fix-learned-a" => RuleCase::FixLearnedA { n: figures.get("n")?, gap: gap()? },
        "adaptive-ttl" => {
            RuleCase::AdaptiveTtl { factor: figures.get("m")?, newest: figures.get("newest")? }
        }
        "lru-2" => RuleCase::Lru2 { newest: feed::Time::from_secs(0), gap: gap()? },
        "mavsync" if figures.has("sync") => RuleCase::MavSync { n: figures.get("n")?, gap: gap()? },
        "mavsync" => RuleCase::MavSyncVirtual { n: figures.get("n")?, gap: gap()? },
        "indhist" => {
            RuleCase::IndHist { theta: figures.get("theta")?, per_day: figures.get("per-day")? }
        }
        "lihz" if figures.has("training") => {
            RuleCase::LihzTraining { n_days: figures.get("days")? }
        }
        "lihz" => RuleCase::Lihz { sigma: figures.get("sigma")?, days: figures.get("days")? },
        "advarss" => RuleCase::AdvaRss { m: figures.get("m")?, runs: figures.get("runs")? },
        "advarss-hybrid" => RuleCase::AdvaRssTraining { every: gap()? },
        "window" => {
            RuleCase::WindowRoom { n: figures.get("n")?, wait_for: figures.get("wait-for")? }
        }
        "entry-frequency" => RuleCase::EntryFrequency { per_week: figures.get("per-week")? },
        "empirical" if figures.has("no-entry") => RuleCase::Empirical { newest: None },
        "empirical" => RuleCase::Empirical { newest: Some(figures.get("newest")?) },
        "adaptive-fetch" => RuleCase::AdaptiveFetch { every: figures.span("i")? },
        "recording" => {
            RuleCase::Recording { n: figures.get("n")?, gap: gap()?, less: figures.span("less")? }
        }
        "tide" => RuleCase::Tide {
            expected: figures.get("n")?,
            waited: figures.span("waited")?,
            price: figures.span("price")?,
            posting: PostingTimes::UNKNOWN,
        },
        "default" => {
            let cause = UndefinedCause::ALL.into_iter().find(|cause| figures.has(cause.code()))?;
            RuleCase::Undefined { cause, wait: figures.span("eta")? }
        }
        _ => return None,
    })
}

/// Returns the case of a strategy. Codes do not contain times.
fn plan_case(figures: &CodeFields<'_>) -> Option<PlanCase> {
    let simple = [
        ("on-its-way", PlanCase::InFlight),
        ("worthless", PlanCase::Worthless),
        ("never-polled", PlanCase::NeverPolled),
        ("no-look", PlanCase::NotAllotted),
        ("not-yet", PlanCase::NotYetAllotted),
    ];
    if let Some((_, case)) = simple.into_iter().find(|(word, _)| figures.has(word)) {
        return Some(case);
    }
    let at = feed::Time::from_secs(0);
    if let Some(polls) = figures.get::<String>("looks") {
        let polls_per_day = polls.strip_suffix("/d")?.parse().ok()?;
        return Some(PlanCase::Allotted { polls_per_day, at });
    }
    if figures.has("learning") {
        let (per_day, uncertainty) = (figures.get("per-day")?, figures.get("uncertainty")?);
        let hours = figures.has("hours");
        return Some(PlanCase::Learning { per_day, uncertainty, hours });
    }
    if let Some(expected) = figures.get("expected") {
        return Some(PlanCase::Expected { expected });
    }
    if figures.has("turn") {
        return Some(PlanCase::Turn { ahead: figures.get("ahead")?, of: figures.get("of")? });
    }
    if let Some(waited) = figures.span("waited") {
        let (expected, price) = (figures.get("n")?, figures.span("price")?);
        return Some(PlanCase::Waiting { expected, waited, price, miss: Miss::default(), at });
    }
    let divergence = figures.get("div")?;
    if figures.has("saturated") {
        return Some(PlanCase::Saturated { divergence, window: figures.get("w")? });
    }
    if figures.has("filling") {
        let window = figures.get("w")?;
        return Some(PlanCase::Filling { divergence, window, full_at: Some(at) });
    }
    let utility = figures.get("u")?;
    Some(match figures.get("price") {
        Some(price) => PlanCase::Price { divergence, utility, price, at: Some(at) },
        None => PlanCase::Rank { divergence, utility },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_sentences_and_other_texts_are_not_codes() {
        for code in [
            "fix u=3600s",
            "mavsync sync n=20 u=3600s alpha",
            "mavsync virtual n=1 u=0.250s",
            "default too-few eta=3600s beta",
            "empirical no-entry",
            "two-steps div=2.00 u=2000 price=3600",
            "uniform turn ahead=0 of=9",
            "only-sat filling div=1.00 w=20",
            "min-delay looks=2.500/d",
            "tide never-polled",
            "tide learning per-day=2.50 uncertainty=0.60",
            "top-k-expected expected=3.20",
        ] {
            let words = explain(code).unwrap_or_default();
            assert!(words.ends_with(['.', ')']) && !words.contains('='), "{code}: {words}");
            assert!(!words.contains("1970"), "{code}: {words}");
        }
        for text in ["", "tide", "hint: the feed's ttl of 1 h", "tide n=x waited=1s price=2s"] {
            assert_eq!(explain(text), None, "{text}");
        }
    }
}
