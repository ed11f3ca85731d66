//! Statistics: of the visitor, and for administrators of all people together. No page shows what
//! another person reads.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use store::{InstanceFigures, PopularityOrder};
use suggest::{PEOPLE_MIN, RARELY_SPAN};

use super::frame::{AdminVisitor, Frame, NavSection, Visitor};
use super::notice::{render, store_error};
use super::parts::bars::{Bars, opened_by_day, opened_by_hour, opened_by_week};
use super::parts::key_figure::KeyFigure;
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::reading_statistics::{ReadingStatistics, reading_statistics};
use crate::suggestions::{PopularFeed, popular};
use crate::words::{count, plural, strftime};

/// Feeds in the table of opened ones.
const FEEDS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "statistics.html")]
struct StatisticsPage {
    frame: Frame,
    figures: ReadingStatistics,
    /// The first day in words.
    since: String,
    charts: Vec<Bars>,
    /// Feeds that the table leaves out.
    n_more: usize,
}

#[derive(Template)]
#[template(path = "instance_statistics.html")]
struct InstanceStatisticsPage {
    frame: Frame,
    totals: Vec<KeyFigure>,
    /// `None`: too few people for figures.
    lists: Option<InstanceLists>,
}

struct InstanceLists {
    chart: Option<Bars>,
    by_subscribers: Vec<PopularFeed>,
    by_opened: Vec<PopularFeed>,
}

/// Shows the statistics of the visitor.
pub async fn own(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), visitor.now(&context));
    match run_blocking(move || reading_statistics(&store, account, now)).await {
        Ok(mut figures) => {
            let n_more = figures.feeds.len().saturating_sub(FEEDS_MAX);
            figures.feeds.truncate(FEEDS_MAX);
            let charts = match figures.opened {
                0 => Vec::new(),
                _ => vec![opened_by_hour(&figures.hours), opened_by_week(&figures.weeks)],
            };
            let frame = Frame::new(&context, visitor, Some(NavSection::Account));
            let since = strftime(figures.since, "%-d %B %Y", now.zone);
            render(&StatisticsPage { frame, figures, since, charts, n_more })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Shows the figures of all people together.
pub async fn of_instance(
    State(context): State<ServerContext>,
    AdminVisitor(visitor): AdminVisitor,
) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), (context.now)());
    let found = run_blocking(move || {
        let figures = store.instance_figures(now - RARELY_SPAN)?;
        // With fewer people, a figure of all is a figure of the other one.
        let lists = match figures.counted >= u64::from(PEOPLE_MIN) {
            true => Some(InstanceLists {
                chart: opened_by_day(&figures.opened_by_day),
                by_subscribers: popular(&store, account, PopularityOrder::Subscribers)?,
                by_opened: popular(&store, account, PopularityOrder::Opened)?,
            }),
            false => None,
        };
        Ok((figures, lists))
    });
    match found.await {
        Ok((figures, lists)) => {
            let totals = totals(&figures, lists.is_some());
            let frame = Frame::new(&context, visitor, Some(NavSection::Account));
            render(&InstanceStatisticsPage { frame, totals, lists })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn totals(figures: &InstanceFigures, is_shown: bool) -> Vec<KeyFigure> {
    let figure = |name: &'static str, value: String| KeyFigure { name, value, note: String::new() };
    let uncounted = figures.accounts.saturating_sub(figures.counted);
    let mut totals = vec![figure("Accounts", count(figures.accounts))];
    if uncounted > 0 {
        totals.push(figure("Not counted, by their own choice", count(uncounted)));
    }
    if is_shown {
        let opened = figures.opened_by_day.iter().map(|(_, n)| n).sum();
        totals.push(figure("Subscriptions", count(figures.subscriptions)));
        totals.push(figure("People who opened something", count(figures.openers)));
        totals.push(figure("Opened in 90 days", plural(opened, "entry", "entries")));
    }
    totals
}
