//! The page on which a visitor puts their feeds into order: all of them, or those of a tag. Buttons
//! move a feed one place; the script also moves by dragging and by keys.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use feed::FeedId;
use store::{AccountId, FeedRow};
use url::form_urlencoded;

use super::params::FeedListParams;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor, WriteForm};
use crate::page::notice::{notice, render, store_error};
use crate::{ServerContext, sanitise};

pub const PATH: &str = "/feed-order";

/// Feeds on the page. In a longer list people choose a tag.
const SHOWN_MAX: usize = 500;

#[derive(Template)]
#[template(path = "feed_order.html")]
struct FeedOrderPage {
    frame: Frame,
    /// The tag whose feeds these are; empty for all feeds.
    tag: String,
    lines: Vec<OrderedFeed>,
    has_more: bool,
}

struct OrderedFeed {
    feed: FeedId,
    name: String,
    is_first: bool,
    is_last: bool,
}

/// Shows the feeds in their order.
pub async fn list(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let account = visitor.account();
    if account == AccountId::LOCAL {
        return without_accounts(&context, visitor);
    }
    let tag = FeedListParams::read(query.as_deref()).tag;
    let (store, wanted) = (context.store.clone(), tag.clone());
    match run_blocking(move || store.feeds_in_own_order(account, wanted.as_deref())).await {
        Ok(feeds) => {
            let n_feeds = feeds.len();
            let line = |(place, feed): (usize, &FeedRow)| OrderedFeed {
                feed: feed.id,
                name: name(feed),
                is_first: place == 0,
                is_last: place + 1 == n_feeds,
            };
            render(&FeedOrderPage {
                frame: Frame::new(&context, visitor, Some(NavSection::Feeds)),
                tag: tag.unwrap_or_default(),
                lines: feeds.iter().take(SHOWN_MAX).enumerate().map(line).collect(),
                has_more: n_feeds > SHOWN_MAX,
            })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn name(feed: &FeedRow) -> String {
    let title = feed.shown_title().map(sanitise::text).filter(|title| !title.trim().is_empty());
    title.unwrap_or_else(|| feed.location.url.masked())
}

fn without_accounts(context: &ServerContext, visitor: Visitor) -> Response {
    let text = "Without accounts, feeds are in the order of their titles. Each account has an \
                order of its own.";
    let heading = "Could not order the feeds";
    notice(context, visitor, StatusCode::CONFLICT, heading, text.to_owned())
}

/// Moves a feed one place up or down among all feeds, or among those of a tag.
pub async fn change(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let (store, account) = (context.store.clone(), visitor.account());
    if account == AccountId::LOCAL {
        return without_accounts(&context, visitor);
    }
    let tag = Some(form.text("tag").to_owned()).filter(|tag| !tag.is_empty());
    let (feed, is_up) = (form.text("feed").parse().map(FeedId).ok(), form.text("act") == "up");
    let wanted = tag.clone();
    let done = run_blocking(move || {
        let feeds = store.feeds_in_own_order(account, wanted.as_deref())?;
        let mut order: Vec<FeedId> = feeds.iter().map(|feed| feed.id).collect();
        if let Some(place) = order.iter().position(|other| Some(*other) == feed) {
            let last = order.len() - 1;
            order.swap(place, if is_up { place.saturating_sub(1) } else { (place + 1).min(last) });
            store.order_subscriptions(account, &order)?;
        }
        Ok(())
    });
    match done.await {
        Ok(()) => Redirect::to(&href(tag.as_deref())).into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Sets the order of all feeds on the page: the script sends it after a feed was dragged.
pub async fn set(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let WriteForm { visitor, form } = sent;
    let (store, account) = (context.store.clone(), visitor.account());
    if account == AccountId::LOCAL {
        return without_accounts(&context, visitor);
    }
    let order: Vec<FeedId> =
        form.all("item").filter_map(|number| number.parse().ok().map(FeedId)).collect();
    match run_blocking(move || store.order_subscriptions(account, &order)).await {
        Ok(()) if form.has("part") => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => Redirect::to(PATH).into_response(),
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the address of the page.
pub fn href(tag: Option<&str>) -> String {
    let Some(tag) = tag else { return PATH.to_owned() };
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("tag", tag).finish();
    format!("{PATH}?{query}")
}
