//! Receivers of a query, the state of their deliveries, and dead letters.

use axum::Json;
use axum::extract::State;
use store::{DeadLetter, DeliveryRow};

use super::find_own;
use crate::ServerContext;
use crate::auth::Person;
use crate::v1::blocking;
use crate::v1::error::ApiError;
use crate::v1::extract::{NameInPath, QueryParams};
use crate::v1::schema::answer;

answer! {
    /// A receiver of a query, and the state of its deliveries.
    Delivery {
        /// Its number.
        id: i64,
        /// Its kind and address, secrets masked.
        receiver: String,
        /// Matches that wait for it.
        waiting: u64,
        /// Failures in a row.
        attempts: u32,
        /// The time of the next attempt.
        next_attempt: Option<String>,
        /// The time of the last delivery.
        delivered_at: Option<String>,
        /// The last error.
        error: Option<String>,
        /// The number of its dead letters.
        dead_letters: u64,
        /// The number of dead letters that are being tried again.
        replaying: u64,
    }

    /// All receivers of a query.
    DeliveryList {
        /// The receivers.
        deliveries: Vec<Delivery>,
    }

    /// A match that a receiver did not accept.
    Letter {
        /// The receiver's number.
        delivery: i64,
        /// The position of the match in the query.
        position: i64,
        /// The entry.
        entry: i64,
        /// When it became a dead letter.
        at: String,
        /// The number of attempts.
        attempts: u32,
        /// Why it was not accepted.
        error: String,
        /// Whether it is being tried again.
        replaying: bool,
    }

    /// Dead letters of a query, receiver by receiver, the oldest first.
    DeadLetterList {
        /// The letters.
        letters: Vec<Letter>,
        /// The cursor of the next page; null on the last page.
        next: Option<String>,
    }
}

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Delivery {
        Delivery {
            id: row.id.0,
            receiver: query::masked_receiver(&row.receiver),
            waiting: row.n_waiting,
            attempts: row.attempts,
            next_attempt: row.next_at.map(|at| at.to_string()),
            delivered_at: row.delivered_at.map(|at| at.to_string()),
            error: row.error,
            dead_letters: row.n_dead,
            replaying: row.n_to_replay,
        }
    }
}

impl From<DeadLetter> for Letter {
    fn from(letter: DeadLetter) -> Letter {
        Letter {
            delivery: letter.delivery.0,
            position: letter.position,
            entry: letter.entry.0,
            at: letter.at.to_string(),
            attempts: letter.attempts,
            error: letter.error,
            replaying: letter.to_replay,
        }
    }
}

pub async fn all(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
) -> Result<Json<DeliveryList>, ApiError> {
    blocking(move || {
        let query = find_own(&context.store, &person, &name)?;
        let rows = context.store.deliveries(Some(query.id))?.into_iter();
        Ok(Json(DeliveryList { deliveries: rows.map(Delivery::from).collect() }))
    })
    .await
}

pub async fn dead(
    State(context): State<ServerContext>,
    person: Person,
    NameInPath(name): NameInPath,
    mut params: QueryParams,
) -> Result<Json<DeadLetterList>, ApiError> {
    let limit = params.number("limit", 1..=1000, 100)? as usize;
    let after: Option<(i64, i64)> = match params.text("after") {
        None => None,
        Some(text) => {
            let parts = text.strip_prefix('d').and_then(|rest| rest.split_once('.'));
            let read = parts.and_then(|(d, p)| Some((d.parse().ok()?, p.parse().ok()?)));
            Some(read.ok_or(ApiError::BadRequest("after is not a cursor"))?)
        }
    };
    params.end()?;
    blocking(move || {
        let query = find_own(&context.store, &person, &name)?;
        let mut letters = Vec::new();
        for delivery in context.store.deliveries(Some(query.id))? {
            if after.is_some_and(|(id, _)| delivery.id.0 < id) {
                continue;
            }
            let rows = context.store.dead_letters(delivery.id)?.into_iter().map(Letter::from);
            letters.extend(rows.filter(|l| after.is_none_or(|at| (l.delivery, l.position) > at)));
            if letters.len() > limit {
                break;
            }
        }
        let more = letters.len() > limit;
        letters.truncate(limit);
        let next = letters.last().filter(|_| more);
        let next = next.map(|last| format!("d{}.{}", last.delivery, last.position));
        Ok(Json(DeadLetterList { letters, next }))
    })
    .await
}
