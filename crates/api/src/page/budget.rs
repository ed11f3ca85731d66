//! Polls against delay: what is spent and left, how late entries are seen, whom we ask most, the
//! rule to change, and what other rules would have done.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::Command;
use polling::budget::Strategy;
use polling::model::ModelKind;
use store::{DelayDay, DomainLoad};

use super::frame::{Frame, Ordered, Section, Visitor};
use super::{act, failed, shown};
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::page::bars::{Bars, delays};
use crate::page::feed::Sum;
use crate::what_if::{self, Outlook, Rule};
use crate::words::{Moment, Now, count, per_day, plural, span};
use crate::{Context, Live, Spent};

const DAYS: u32 = 7;
const DOMAINS: u32 = 12;

#[derive(Template)]
#[template(path = "budget.html")]
struct BudgetPage {
    frame: Frame,
    sums: Vec<Sum>,
    delays: Option<Bars>,
    domains: Vec<Load>,
    rule: Fields,
    strategies: Vec<(String, bool)>,
    models: Vec<(&'static str, bool)>,
    outlook: Option<Shown>,
    job: what_if::State,
}

struct Load {
    domain: String,
    feeds: String,
    polls: String,
}

/// The rule in force, as the form shows it.
#[derive(Default)]
struct Fields {
    budget: String,
    strategy: String,
    model: String,
}

/// What the replays came to, in words.
pub struct Shown {
    pub made_at: String,
    pub span: String,
    pub steps: Vec<Line>,
    pub rules: Vec<Line>,
    /// At which step the slider begins.
    pub start: usize,
    pub last: usize,
    pub words: Vec<String>,
    pub blind_spots: String,
}

pub struct Line {
    pub name: String,
    pub budget: String,
    pub polls: String,
    pub delay: String,
    pub missed: String,
    pub words: String,
    pub current: bool,
}

pub async fn budget(State(context): State<Context>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let answer = run_blocking(move || {
        let days = store.delay_days(now.at, DAYS)?;
        Ok((days, store.domain_loads(DOMAINS)?, what_if::last(&store)?))
    });
    let (days, domains, outlook) = match answer.await {
        Ok(found) => found,
        Err(error) => return failed(&context, visitor, &error),
    };
    let job = context.what_if.state();
    let rule = fields((context.rule)().as_deref());
    let page = BudgetPage {
        frame: Frame::new(&context, visitor, Some(Section::Budget)),
        sums: sums(&(context.live)(), &(context.spent)(), &days),
        delays: delays(&days),
        domains: domains.into_iter().map(load).collect(),
        strategies: strategies(&rule.strategy),
        models: words(ModelKind::ALL.map(ModelKind::word), &rule.model),
        rule,
        outlook: outlook.map(|outlook| told(outlook, now)),
        job,
    };
    let runs = page.job.running.is_some();
    let shown = shown(&page);
    // Without a script the page looks again by itself.
    if runs { ([(header::REFRESH, "3")], shown).into_response() } else { shown }
}

/// Sets the rule, or lifts it.
pub async fn set(State(context): State<Context>, ordered: Ordered) -> Response {
    let Ordered(visitor, form) = ordered;
    let [budget, strategy, model] =
        ["budget", "strategy", "model"].map(|name| form.text(name).trim());
    // The words of a rule stand in their order: behind a model there is a strategy, as usual this.
    let strategy = match (strategy, model) {
        ("", "") => "",
        ("", _) => Strategy::Tide.word(),
        (named, _) => named,
    };
    let rule = [budget, strategy, model].join(" ").trim_end().to_owned();
    let rule = (!form.has("off") && !budget.is_empty()).then_some(rule);
    match act(&context, &visitor, Command::Budget { rule }).await {
        Ok(_) => Redirect::to(Section::Budget.path()).into_response(),
        Err(refused) => refused,
    }
}

/// Has the history replayed under other rules, behind the page.
pub async fn replay(State(context): State<Context>, ordered: Ordered) -> Response {
    context.what_if.begin(&context.store, (context.now)());
    let to = local_target(ordered.1.text("back"));
    Redirect::to(&to).into_response()
}

fn sums(live: &Live, spent: &Spent, days: &[DelayDay]) -> Vec<Sum> {
    let hour = live.polls_last_hour;
    let left = spent.budget_polls_per_hour.map(|allowed| (allowed - hour as f64).max(0.0));
    let failed = spent.failed + spent.damaged + spent.refused + spent.gone;
    let polls = spent.seen + spent.unchanged + failed;
    let share = |part: u64, of: u64| match of {
        0 => "–".to_owned(),
        of => format!("{:.1} %", 100.0 * part as f64 / of as f64),
    };
    let today = days.last().and_then(|day| day.mean);
    let seen_n: u64 = days.iter().map(|day| day.n).sum();
    let week = days.iter().filter_map(|day| Some(day.mean?.as_secs_f64() * day.n as f64));
    let week = (seen_n > 0).then(|| Duration::from_secs_f64(week.sum::<f64>() / seen_n as f64));
    let said = |d: Option<Duration>| d.map_or_else(|| "–".to_owned(), span);
    let sum = |name, value: String, note: &str| Sum { name, value, note: note.to_owned() };
    vec![
        sum("Polls in the last hour", count(hour), ""),
        sum(
            "Left in this hour",
            left.map_or_else(|| "no budget".to_owned(), per_day),
            if left.is_some() { "of the budget" } else { "each feed follows its policy" },
        ),
        sum("Delay today", said(today), "average, by the dates of the entries"),
        sum("Delay this week", said(week), "average"),
        sum(
            "Entries found (estimate)",
            share(spent.seen.saturating_sub(spent.suspected_misses), spent.seen),
            "share of polls that missed nothing",
        ),
        sum("Unchanged", share(spent.unchanged, polls), "share of all polls"),
    ]
}

fn load(load: DomainLoad) -> Load {
    Load { domain: load.domain, feeds: count(load.feeds), polls: per_day(load.polls_per_day) }
}

fn fields(rule: Option<&str>) -> Fields {
    let mut words = rule.unwrap_or_default().split_whitespace().map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    Fields { budget: next(), strategy: next(), model: next() }
}

/// The strategies to choose from; the chosen one with what it was told (`tide:365d`).
fn strategies(chosen: &str) -> Vec<(String, bool)> {
    let name = chosen.split(':').next().unwrap_or_default();
    let words = words(Strategy::ALL.map(Strategy::word), name).into_iter();
    words.map(|(word, is)| (if is { chosen } else { word }.to_owned(), is)).collect()
}

fn words<const N: usize>(words: [&'static str; N], chosen: &str) -> Vec<(&'static str, bool)> {
    words.into_iter().map(|word| (word, word == chosen)).collect()
}

/// The outlook as the page of the budget and that of the lab show it.
pub fn told(outlook: Outlook, now: Now) -> Shown {
    // It is stored as text, with the times in UTC.
    let at = |text: &str| match parse::date::parse(text) {
        Some(time) => Moment::new(time, now).short,
        None => text.to_owned(),
    };
    let steps: Vec<Line> = outlook.steps.iter().map(line).collect();
    let start = outlook.steps.iter().position(|rule| rule.current).unwrap_or(0);
    Shown {
        made_at: at(&outlook.made_at),
        span: format!("{} to {}", at(&outlook.from), at(&outlook.to)),
        last: steps.len().saturating_sub(1),
        steps,
        rules: outlook.rules.iter().map(line).collect(),
        start,
        words: outlook.words,
        blind_spots: outlook.blind_spots,
    }
}

fn line(rule: &Rule) -> Line {
    let delay = rule.delay_secs.filter(|d| d.is_finite() && *d >= 0.0);
    let delay = delay.map_or_else(|| "–".to_owned(), |d| span(Duration::from_secs_f64(d)));
    let polls = per_day(rule.polls_per_day);
    let missed = match rule.missed {
        0 => "nothing missed".to_owned(),
        n => format!("{} missed", plural(n, "entry", "entries")),
    };
    Line {
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
    fn a_rule_is_taken_apart_for_the_form() {
        let rule = fields(Some("1000/1h two-steps periodic"));
        assert_eq!([rule.budget, rule.strategy, rule.model], ["1000/1h", "two-steps", "periodic"]);
        assert!(fields(None).budget.is_empty());
        let chosen = |strategy: &str| {
            strategies(strategy).into_iter().find_map(|(word, is)| is.then_some(word))
        };
        assert_eq!(chosen("tide:365d"), Some("tide:365d".to_owned()));
        assert_eq!((chosen("min-miss"), chosen("")), (Some("min-miss".to_owned()), None));
    }

    #[test]
    fn a_rule_that_found_nothing_has_no_delay() {
        let rule = Rule {
            name: "x".to_owned(),
            budget: String::new(),
            polls_per_day: 12.0,
            delay_secs: None,
            found: 0,
            missed: 2,
            current: false,
        };
        assert_eq!(line(&rule).words, "12 polls per day: average delay –, 2 entries missed");
    }
}
