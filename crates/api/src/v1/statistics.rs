//! Statistics and suggestions: what the caller opens, suggested and popular feeds, and for
//! administrators the figures of all people together.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::FeedUrl;
use store::{PopularityOrder, TokenScope};
use suggest::{PEOPLE_MIN, RARELY_SPAN};

use super::blocking;
use super::extract::JsonBody;
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::Person;
use crate::reading_statistics::{FeedShare, reading_statistics};
use crate::suggestions::{PopularFeed, popular, suggestions};
use crate::v1::error::ApiError;
use crate::words::LocalNow;
use crate::zone::Zone;

answer! {
    /// A feed with the entries that you have opened.
    OpenedFeed {
        /// Its number.
        feed: u32,
        /// Its title.
        title: String,
        /// The entries that you opened.
        opened: u64,
        /// The entries that it published in this time, at most 1000.
        entries: u64,
        /// The days of this time.
        days: u64,
    }

    /// A tag with the entries that you have opened.
    OpenedTag {
        /// Its name.
        tag: String,
        /// The entries that you opened.
        opened: u64,
    }

    /// Your opened entries of the last 90 days.
    OwnStatistics {
        /// The first day that counts.
        since: String,
        /// All opened entries.
        opened: u64,
        /// Your feeds with opened entries, the most first.
        feeds: Vec<OpenedFeed>,
        /// Your tags, the most opened first.
        tags: Vec<OpenedTag>,
        /// By hour of the day in your time zone, from 0 to 23.
        hours: Vec<u64>,
        /// By week, the present one last.
        weeks: Vec<u64>,
        /// Your feeds with less than one opened entry among twenty.
        rarely_opened: Vec<OpenedFeed>,
    }

    /// A feed that is suggested to you.
    SuggestedFeed {
        /// Its address, by which you can add it.
        url: String,
        /// Its title.
        title: String,
        /// `also_read`, `linked` or `same_site`.
        kind: &'static str,
        /// Why it is suggested, as a sentence.
        reason: String,
    }

    /// Feeds that are suggested to you.
    SuggestedFeeds {
        /// The best of each kind in turn, at most 20.
        suggestions: Vec<SuggestedFeed>,
    }

    /// A popular feed, with at least three people behind it.
    PopularFeedRow {
        /// Its number.
        feed: u32,
        /// Its address.
        url: String,
        /// Its title.
        title: String,
        /// The people who subscribe to it.
        subscribers: u64,
        /// The people who opened something of it in the last 30 days.
        openers: u64,
        /// The entries that they opened.
        opened: u64,
        /// Whether you read it.
        subscribed: bool,
    }

    /// The popular feeds of the instance.
    PopularFeeds {
        /// The feeds with the most subscribers.
        by_subscribers: Vec<PopularFeedRow>,
        /// The feeds with the most opened entries.
        by_opened: Vec<PopularFeedRow>,
    }

    /// The figures of all people together. They are null below three counted accounts.
    InstanceStatistics {
        /// All accounts.
        accounts: u64,
        /// The accounts that are counted.
        counted: u64,
        /// Their subscriptions.
        subscriptions: Option<u64>,
        /// The accounts that opened something in the last 90 days.
        openers: Option<u64>,
        /// The entries that they opened.
        opened: Option<u64>,
    }
}

request! {
    /// A feed that is not to be suggested again.
    DismissedFeed {
        /// The address of the suggestion.
        url: String,
    }

    /// Whether you are counted.
    CountedChange {
        /// False: you are left out of all figures that others see.
        counted: bool,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/me/statistics", "What you have opened in the last 90 days", own)
            .own()
            .answers::<OwnStatistics>(),
        Route::get("/me/suggestions", "Feeds that are suggested to you", suggested)
            .own()
            .answers::<SuggestedFeeds>(),
        Route::post("/me/suggestions/dismissed", "Do not suggest a feed again", dismiss)
            .needs(TokenScope::Write)
            .own()
            .takes::<DismissedFeed>(),
        Route::delete("/me/suggestions/dismissed", "Suggest dismissed feeds again", restore)
            .needs(TokenScope::Write)
            .own(),
        Route::put("/me/counted", "Choose whether you are counted", count)
            .needs(TokenScope::Write)
            .own()
            .takes::<CountedChange>(),
        Route::get("/popular-feeds", "The popular feeds of the instance", popular_feeds)
            .answers::<PopularFeeds>(),
        Route::get("/statistics", "The figures of all people together", of_instance)
            .needs(TokenScope::Admin)
            .answers::<InstanceStatistics>(),
    ]
}

/// The error on an instance without suggestions.
const OFF: ApiError = ApiError::NotFound("suggestions are switched off on this instance");

impl From<FeedShare> for OpenedFeed {
    fn from(one: FeedShare) -> OpenedFeed {
        let days = one.days();
        let (opened, entries) = (one.share.opened, one.share.entries);
        OpenedFeed { feed: one.feed.0, title: one.title, opened, entries, days }
    }
}

impl From<PopularFeed> for PopularFeedRow {
    fn from(one: PopularFeed) -> PopularFeedRow {
        PopularFeedRow {
            feed: one.feed.0,
            url: one.url,
            title: one.title,
            subscribers: one.figures.subscribers,
            openers: one.figures.openers,
            opened: one.figures.opened,
            subscribed: one.is_own,
        }
    }
}

async fn own(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<OwnStatistics>, ApiError> {
    blocking(move || {
        let choices = context.store.choices(person.account)?;
        let zone = choices.get("zone").and_then(|name| Zone::named(name)).unwrap_or(Zone::UTC);
        let now = LocalNow { at: (context.now)(), zone };
        let found = reading_statistics(&context.store, person.account, now)?;
        let tags = found.tags.into_iter().map(|(tag, opened)| OpenedTag { tag, opened });
        Ok(Json(OwnStatistics {
            since: found.since.to_string(),
            opened: found.opened,
            feeds: found.feeds.into_iter().map(OpenedFeed::from).collect(),
            tags: tags.collect(),
            hours: found.hours.to_vec(),
            weeks: found.weeks.into_iter().map(|(_, n)| n).collect(),
            rarely_opened: found.rarely.into_iter().map(OpenedFeed::from).collect(),
        }))
    })
    .await
}

async fn suggested(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<SuggestedFeeds>, ApiError> {
    blocking(move || {
        if !context.suggestions {
            return Err(OFF);
        }
        let found = suggestions(&context.store, person.account, (context.now)())?;
        let suggestions = found.into_iter().map(|one| SuggestedFeed {
            url: one.url,
            title: one.title,
            kind: one.kind.word(),
            reason: one.reason,
        });
        Ok(Json(SuggestedFeeds { suggestions: suggestions.collect() }))
    })
    .await
}

async fn dismiss(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<DismissedFeed>,
) -> Result<StatusCode, ApiError> {
    if FeedUrl::parse(&sent.url).is_err() {
        return Err(ApiError::BadRequest("url must be the address of a feed"));
    }
    blocking(move || {
        context.store.dismiss_feed(person.account, &sent.url, (context.now)())?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

async fn restore(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<StatusCode, ApiError> {
    blocking(move || {
        context.store.forget_dismissed_feeds(person.account)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

async fn count(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<CountedChange>,
) -> Result<StatusCode, ApiError> {
    blocking(move || {
        context.store.count_account(person.account, sent.counted)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

async fn popular_feeds(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<PopularFeeds>, ApiError> {
    blocking(move || {
        if !context.suggestions {
            return Err(OFF);
        }
        let list = |order| -> Result<Vec<PopularFeedRow>, ApiError> {
            let feeds = popular(&context.store, person.account, order)?;
            Ok(feeds.into_iter().map(PopularFeedRow::from).collect())
        };
        let by_subscribers = list(PopularityOrder::Subscribers)?;
        Ok(Json(PopularFeeds { by_subscribers, by_opened: list(PopularityOrder::Opened)? }))
    })
    .await
}

async fn of_instance(
    State(context): State<ServerContext>,
) -> Result<Json<InstanceStatistics>, ApiError> {
    blocking(move || {
        let figures = context.store.instance_figures((context.now)() - RARELY_SPAN)?;
        let is_shown = figures.counted >= u64::from(PEOPLE_MIN);
        let opened = figures.opened_by_day.iter().map(|(_, n)| n).sum();
        Ok(Json(InstanceStatistics {
            accounts: figures.accounts,
            counted: figures.counted,
            subscriptions: is_shown.then_some(figures.subscriptions),
            openers: is_shown.then_some(figures.openers),
            opened: is_shown.then_some(opened),
        }))
    })
    .await
}
