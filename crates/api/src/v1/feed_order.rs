//! The order of a person's feeds.

use axum::Json;
use axum::extract::State;
use feed::FeedId;
use store::{AccountId, TokenScope};

use super::blocking;
use super::extract::JsonBody;
use super::route::Route;
use super::schema::{answer, request};
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::error::ApiError;

answer! {
    /// All feeds of a person in their order.
    FeedOrder {
        /// The numbers of the feeds.
        feeds: Vec<u32>,
    }
}

request! {
    /// A new order of feeds.
    NewFeedOrder {
        /// Numbers of feeds, the first one first: all feeds, or only those of a tag. Other feeds
        /// keep their places.
        feeds: Vec<u32>,
    }
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/feed-order", "Your feeds in your own order", list).answers::<FeedOrder>(),
        Route::put("/feed-order", "Put feeds into order", order)
            .needs(TokenScope::Write)
            .takes::<NewFeedOrder>()
            .answers::<FeedOrder>(),
    ]
}

async fn list(
    State(context): State<ServerContext>,
    person: Person,
) -> Result<Json<FeedOrder>, ApiError> {
    blocking(move || {
        let feeds = context.store.feeds_in_own_order(person.account, None)?;
        Ok(Json(FeedOrder { feeds: feeds.iter().map(|feed| feed.id.0).collect() }))
    })
    .await
}

async fn order(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(sent): JsonBody<NewFeedOrder>,
) -> Result<Json<FeedOrder>, ApiError> {
    if person.account == AccountId::LOCAL {
        let why = "without accounts, feeds are in the order of their numbers";
        return Err(ApiError::Conflict(why.to_owned()));
    }
    let feeds: Vec<FeedId> = sent.feeds.into_iter().map(FeedId).collect();
    let (store, account) = (context.store.clone(), person.account);
    blocking(move || Ok(store.order_subscriptions(account, &feeds)?)).await?;
    list(State(context), person).await
}
