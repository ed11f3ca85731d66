//! Builds the plan at a start from what the store holds. Feeds that became due while the engine was
//! off are spread over a while; a feed that was never polled is due at once.

use std::collections::HashMap;
use std::time::Duration;

use dispatch::GrantId;
use feed::{FeedId, Time};
use store::{FeedDueTime, OpenGrantRow, StoreError};

use super::under_way::PollUnderWay;
use crate::budget::Budgeted;
use crate::context::Context;
use crate::plan::{Plan, UNTIL_PLANNED};
use crate::spending::Spending;
use crate::{Watch, chance, conclude};

/// The plan and, under a budget, the strategy's feeds.
pub type LoadedPlan = (Plan<PollUnderWay>, Option<Box<Spending>>);

/// Schedules every watched feed, and restores the pace of all domains.
///
/// `left` are the requests of earlier processes that may be under way; `clock` is the stopwatch
/// after they were read.
pub fn load(
    context: &Context,
    left: &[OpenGrantRow],
    clock: Duration,
    now: Time,
    watch: Watch,
) -> Result<LoadedPlan, StoreError> {
    let Context { store, settings, fetcher, .. } = context;
    let by_itself = watch == Watch::All;
    let mut plan = Plan::new(settings.gaps.clone(), fetcher.exchange_time_max(), by_itself);
    let mut spending = None;
    if by_itself {
        context.follow_clock(None, now);
        spending = schedule_all(context, &mut plan, now)?;
    } else {
        context.end_waits_after_clock_jump(now);
    }
    for state in store.domain_states()? {
        let domain = plan.domain(&state.domain);
        plan.set_pace(domain, conclude::stored_pace(&state, now));
    }
    if let Some(book) = &context.grants {
        plan.number_from(book.first_number());
    }
    for row in left.iter().filter(|row| !row.left.is_zero()) {
        let domain = plan.domain(&row.domain);
        plan.hold(domain, GrantId(row.number), clock + row.left);
    }
    Ok((plan, spending))
}

fn schedule_all(
    context: &Context,
    plan: &mut Plan<PollUnderWay>,
    now: Time,
) -> Result<Option<Box<Spending>>, StoreError> {
    let index = context.store.due_index()?;
    plan.reserve(index.due.len(), index.domains.len());
    let domains: Vec<u32> = index.domains.iter().map(|d| plan.domain(d)).collect();
    let n_overdue = index.due.iter().filter(|f| f.next_at.is_some_and(|t| t <= now)).count();
    let (mut spending, mut budgeted) = under_budget(context, now)?;
    for due in &index.due {
        let domain = domains[due.domain as usize];
        let back = conclude::set_back(due.last_poll_at, now);
        let mut next_at = match due.next_at.map(|at| at - back) {
            None => now,
            Some(t) if t > now => t,
            Some(_) => now + spread(context, due, n_overdue),
        };
        if let Some(spending) = &mut spending
            && let Some(mut budgeted) = budgeted.remove(&due.feed)
        {
            budgeted.set_back(back, now);
            next_at = budgeted.latest.unwrap_or(UNTIL_PLANNED);
            spending.take(due.feed, due.generation, *budgeted);
            spending.paced(due.feed, domain, plan.gap(domain));
        }
        plan.schedule(due.feed, domain, next_at, due.generation);
    }
    Ok(spending)
}

/// The wait of an overdue feed after a start.
fn spread(context: &Context, due: &FeedDueTime, n_overdue: usize) -> Duration {
    let unit = chance::unit(context.settings.seed, due.feed, due.generation);
    polling::restart::spread(n_overdue, unit)
}

type BudgetedFeeds = HashMap<FeedId, Box<Budgeted>>;

/// The strategy and the feeds under its budget, if there is one.
fn under_budget(
    context: &Context,
    now: Time,
) -> Result<(Option<Box<Spending>>, BudgetedFeeds), StoreError> {
    let mut feeds = HashMap::new();
    let Some(rule) = context.budget() else { return Ok((None, feeds)) };
    let spending = Spending::restored(rule, &context.store, now)?;
    context.store.poll_inputs(|input| {
        let under = conclude::budgeted(&rule, &input, &context.settings);
        feeds.extend(under.map(|under| (input.id, under)));
    })?;
    Ok((Some(Box::new(spending)), feeds))
}
