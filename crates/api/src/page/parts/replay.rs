//! The results of a replay with other rules, in words, for the pages of the budget and of the lab.

use std::time::Duration;

use crate::what_if::{ReplayResult, RuleResult};
use crate::words::{DisplayTime, LocalNow, count, per_day, plural, span};

/// The results of a replay, in words.
pub struct ReplayView {
    pub made_at: String,
    pub span: String,
    pub steps: Vec<ReplayRow>,
    pub rules: Vec<ReplayRow>,
    /// The step at which the slider starts.
    pub start: usize,
    pub last: usize,
    pub words: Vec<String>,
    pub blind_spots: String,
}

/// One rule in the table of results.
pub struct ReplayRow {
    pub name: String,
    pub budget: String,
    pub polls: String,
    pub delay: String,
    pub missed: String,
    pub words: String,
    pub current: bool,
}

impl ReplayView {
    pub fn new(result: ReplayResult, now: LocalNow) -> ReplayView {
        // The store keeps the result as text, with the times in UTC.
        let at = |text: &str| match parse::date::parse(text) {
            Some(time) => DisplayTime::new(time, now).short,
            None => text.to_owned(),
        };
        let steps: Vec<ReplayRow> = result.steps.iter().map(replay_row).collect();
        let start = result.steps.iter().position(|rule| rule.current).unwrap_or(0);
        ReplayView {
            made_at: at(&result.made_at),
            span: format!("{} to {}", at(&result.from), at(&result.to)),
            last: steps.len().saturating_sub(1),
            steps,
            rules: result.rules.iter().map(replay_row).collect(),
            start,
            words: result.words,
            blind_spots: result.blind_spots,
        }
    }
}

fn replay_row(rule: &RuleResult) -> ReplayRow {
    let delay = rule.delay_secs.filter(|d| d.is_finite() && *d >= 0.0);
    let delay = delay.map_or_else(|| "–".to_owned(), |d| span(Duration::from_secs_f64(d)));
    let polls = per_day(rule.polls_per_day);
    let missed = match rule.missed {
        0 => "nothing missed".to_owned(),
        n => format!("{} missed", plural(n, "entry", "entries")),
    };
    ReplayRow {
        words: format!("{polls} polls per day: average delay {delay}, {missed}"),
        name: rule.name.clone(),
        budget: rule.budget.clone(),
        polls,
        delay,
        missed: count(rule.missed),
        current: rule.current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_found_nothing_has_no_delay() {
        let rule = RuleResult {
            name: "x".to_owned(),
            budget: String::new(),
            polls_per_day: 12.0,
            delay_secs: None,
            found: 0,
            missed: 2,
            current: false,
        };
        assert_eq!(replay_row(&rule).words, "12 polls per day: average delay –, 2 entries missed");
    }
}
