//! The page of suggested and popular feeds. Subscribing is the form of the page of feeds.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use store::PopularityOrder;

use super::frame::{Frame, NavSection, Visitor, WriteForm};
use super::notice::{render, store_error};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::suggestions::{PopularFeed, Suggestion, popular, suggestions};
use crate::words::{count, plural};

pub const PATH: &str = "/discover";

/// Bytes of an address that is dismissed. Longer ones are not suggested.
const URL_BYTES_MAX: usize = 2000;

#[derive(Template)]
#[template(path = "discover.html")]
struct DiscoverPage {
    frame: Frame,
    /// Whether the operator has switched suggestions on.
    is_on: bool,
    suggestions: Vec<Suggestion>,
    n_dismissed: usize,
    by_subscribers: Vec<PopularTableRow>,
    by_opened: Vec<PopularTableRow>,
}

struct PopularTableRow {
    feed: PopularFeed,
    /// The people and what they opened, in words.
    figures: String,
}

impl PopularTableRow {
    fn new(feed: PopularFeed, order: PopularityOrder) -> PopularTableRow {
        let people = |n| plural(n, "person", "people");
        let figures = match order {
            PopularityOrder::Subscribers => people(feed.figures.subscribers),
            PopularityOrder::Opened => {
                format!("{} by {}", count(feed.figures.opened), people(feed.figures.openers))
            }
        };
        PopularTableRow { feed, figures }
    }
}

pub async fn discover(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, account, now) = (context.store.clone(), visitor.account(), (context.now)());
    let is_on = context.suggestions;
    let found = run_blocking(move || {
        if !is_on {
            return Ok((Vec::new(), 0, Vec::new(), Vec::new()));
        }
        let rows = |order| -> Result<Vec<PopularTableRow>, store::StoreError> {
            let feeds = popular(&store, account, order)?;
            Ok(feeds.into_iter().map(|feed| PopularTableRow::new(feed, order)).collect())
        };
        let n_dismissed = store.dismissed_feeds(account)?.len();
        let shown = suggestions(&store, account, now)?;
        let lists = (rows(PopularityOrder::Subscribers)?, rows(PopularityOrder::Opened)?);
        Ok((shown, n_dismissed, lists.0, lists.1))
    });
    match found.await {
        Ok((suggestions, n_dismissed, by_subscribers, by_opened)) => render(&DiscoverPage {
            frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
            is_on,
            suggestions,
            n_dismissed,
            by_subscribers,
            by_opened,
        }),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Remembers that the visitor does not want a feed.
pub async fn dismiss(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let url = sent.form.text("url").to_owned();
    let done = run_blocking(move || match url.len() {
        1..=URL_BYTES_MAX => store.dismiss_feed(account, &url, now),
        _ => Ok(()),
    });
    answer(&context, sent, done.await)
}

/// Shows all dismissed feeds again.
pub async fn restore(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let (store, account) = (context.store.clone(), sent.visitor.account());
    let done = run_blocking(move || store.forget_dismissed_feeds(account));
    answer(&context, sent, done.await)
}

fn answer(
    context: &ServerContext,
    sent: WriteForm,
    done: Result<(), store::StoreError>,
) -> Response {
    match done {
        Ok(()) => Redirect::to(PATH).into_response(),
        Err(error) => store_error(context, sent.visitor, &error),
    }
}
