//! The page of the budget: polls made and left, the delay of entries, the busiest sites, the form
//! for the rule, and the replay with other rules.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use dispatch::command::Command;
use polling::budget::{LearnShare, Strategy};
use polling::model::ModelKind;
use store::{DelayDay, DomainLoad, TokenScope};

use super::frame::{AdminForm, Frame, NavSection, Visitor};
use super::notice::{render, run_command, store_error};
use super::parts::bars::{Bars, delays};
use super::parts::key_figure::KeyFigure;
use super::parts::replay::ReplayView;
use crate::blocking::run_blocking;
use crate::http::paths::local_target;
use crate::what_if;
use crate::words::{count, per_day, span};
use crate::{EngineState, PollTotals, ServerContext};

const DAYS: u32 = 7;
const DOMAINS: u32 = 12;

#[derive(Template)]
#[template(path = "budget.html")]
struct BudgetPage {
    frame: Frame,
    figures: Vec<KeyFigure>,
    delays: Option<Bars>,
    /// `None` for visitors who are not administrators.
    domains: Option<Vec<DomainRow>>,
    rule: BudgetFields,
    strategies: Vec<(String, bool)>,
    models: Vec<(&'static str, bool)>,
    replay: Option<ReplayView>,
    job: what_if::ReplayState,
}

/// A site in the table of the busiest.
struct DomainRow {
    domain: String,
    feeds: String,
    polls: String,
}

/// The rule in force, as the fields of the form.
#[derive(Default)]
struct BudgetFields {
    budget: String,
    strategy: String,
    model: String,
    /// The share for learning polls, such as `10%`; empty for none.
    learn: String,
}

pub async fn budget(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    let is_admin = visitor.may(TokenScope::Admin);
    let answer = run_blocking(move || {
        let days = store.delay_days(now.at, DAYS)?;
        // A domain may be that of somebody's private feed, so only administrators see them.
        let domains = is_admin.then(|| store.domain_loads(DOMAINS)).transpose()?;
        Ok((days, domains, what_if::last(&store)?))
    });
    let (days, domains, replay) = match answer.await {
        Ok(found) => found,
        Err(error) => return store_error(&context, visitor, &error),
    };
    let job = context.what_if.state();
    let rule = fields((context.rule)().as_deref());
    let page = BudgetPage {
        frame: Frame::new(&context, visitor, Some(NavSection::Budget)),
        figures: figures(&(context.live)(), &(context.spent)(), &days),
        delays: delays(&days),
        domains: domains.map(|loads| loads.into_iter().map(domain_row).collect()),
        strategies: strategies(&rule.strategy),
        models: words(ModelKind::ALL.map(ModelKind::word), &rule.model),
        rule,
        replay: replay.map(|result| ReplayView::new(result, now)),
        job,
    };
    let runs = page.job.running.is_some();
    let shown = render(&page);
    // The browser reloads the page, because no script waits for the result.
    if runs { ([(header::REFRESH, "3")], shown).into_response() } else { shown }
}

/// Sets the rule, or removes it.
pub async fn set(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    let AdminForm(visitor, form) = sent;
    let fields = ["budget", "strategy", "model", "learn"].map(|name| form.text(name).trim());
    let rule = rule_text(fields);
    let rule = (!form.has("off") && !fields[0].is_empty()).then_some(rule);
    match run_command(&context, &visitor, Command::Budget { rule }).await {
        Ok(_) => Redirect::to(NavSection::Budget.path()).into_response(),
        Err(refused) => refused,
    }
}

/// Starts the replay of the history with other rules.
pub async fn replay(State(context): State<ServerContext>, sent: AdminForm) -> Response {
    context.what_if.start(&context.store, (context.now)());
    let to = local_target(sent.1.text("back"));
    Redirect::to(&to).into_response()
}

fn figures(live: &EngineState, spent: &PollTotals, days: &[DelayDay]) -> Vec<KeyFigure> {
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
    let delay = |d: Option<Duration>| d.map_or_else(|| "–".to_owned(), span);
    let figure = |name, value: String, note: &str| KeyFigure { name, value, note: note.to_owned() };
    vec![
        figure("Polls in the last hour", count(hour), ""),
        figure(
            "Left in this hour",
            left.map_or_else(|| "no budget".to_owned(), per_day),
            if left.is_some() { "of the budget" } else { "each feed follows its policy" },
        ),
        figure("Delay today", delay(today), "average, by the dates of the entries"),
        figure("Delay this week", delay(week), "average"),
        figure(
            "Entries found (estimate)",
            share(spent.seen.saturating_sub(spent.suspected_misses), spent.seen),
            "share of polls that missed nothing",
        ),
        figure("Unchanged", share(spent.unchanged, polls), "share of all polls"),
    ]
}

fn domain_row(load: DomainLoad) -> DomainRow {
    DomainRow { domain: load.domain, feeds: count(load.feeds), polls: per_day(load.polls_per_day) }
}

fn fields(rule: Option<&str>) -> BudgetFields {
    let (rule, learn) = LearnShare::split(rule.unwrap_or_default());
    let mut words = rule.split_whitespace().map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    let learn = learn.unwrap_or_default().to_owned();
    BudgetFields { budget: next(), strategy: next(), model: next(), learn }
}

/// Returns the text of a rule: "budget strategy model learn=SHARE" in this order. A model needs a
/// strategy before it.
fn rule_text([budget, strategy, model, learn]: [&str; 4]) -> String {
    let strategy = match (strategy, model) {
        ("", "") => "",
        ("", _) => Strategy::Tide.word(),
        (named, _) => named,
    };
    LearnShare::join([budget, strategy, model].join(" ").trim_end(), learn)
}

/// Returns the strategies to choose from. The chosen one keeps its parameter (`tide:365d`).
fn strategies(chosen: &str) -> Vec<(String, bool)> {
    let name = chosen.split(':').next().unwrap_or_default();
    let words = words(Strategy::ALL.map(Strategy::word), name).into_iter();
    words.map(|(word, is)| (if is { chosen } else { word }.to_owned(), is)).collect()
}

fn words<const N: usize>(words: [&'static str; N], chosen: &str) -> Vec<(&'static str, bool)> {
    words.into_iter().map(|word| (word, word == chosen)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_taken_apart_for_the_form() {
        let rule = fields(Some("1000/1h two-steps periodic"));
        assert_eq!(
            [&rule.budget, &rule.strategy, &rule.model],
            ["1000/1h", "two-steps", "periodic"]
        );
        assert!(fields(None).budget.is_empty());
        assert_eq!(rule.learn, "");
        let chosen = |strategy: &str| {
            strategies(strategy).into_iter().find_map(|(word, is)| is.then_some(word))
        };
        assert_eq!(chosen("tide:365d"), Some("tide:365d".to_owned()));
        assert_eq!((chosen("min-miss"), chosen("")), (Some("min-miss".to_owned()), None));
    }

    #[test]
    fn the_form_keeps_the_learning_share_of_a_rule() {
        for rule in ["1000/1h tide tide learn=10%", "60/1h:1+20/MB two-steps periodic learn=auto"] {
            let BudgetFields { budget, strategy, model, learn } = fields(Some(rule));
            assert_eq!(rule_text([&budget, &strategy, &model, &learn]), rule);
        }
        assert_eq!(rule_text(["60/1h", "", "", "auto"]), "60/1h learn=auto");
        assert_eq!(rule_text(["60/1h", "", "periodic", ""]), "60/1h tide periodic");
    }
}
