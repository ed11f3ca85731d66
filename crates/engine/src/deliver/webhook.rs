//! Webhooks: one signed request for each match, in the manner of standardwebhooks.com, so that
//! receivers can use its libraries. `webhook-id` is the key of the match and the same in every
//! repeat.
//!
//! A webhook waits until no other request to its domain is under way, but not for the gap. The
//! operator chose the receiver, and a burst of matches must not take two seconds for each.

use std::time::Duration;

use feed::{FeedUrl, Time};
use fetch::{Fetcher, Parcel, Posted, RetryAfter};
use serde_json::{Value, json};
use store::{EntryRow, QueryEntry, StoreError};

use super::cursor::Attempt;
use super::{DeliveryTask, MatchMessages, TURN_MAX};
use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::keys;
use crate::plan::ErrandClass;

impl DeliveryTask<'_> {
    pub(super) async fn webhook(
        &self,
        url: &FeedUrl,
        signed_by: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut messages = MatchMessages::default();
        self.replay(url, signed_by, &mut messages).await?;
        let mut cursor = self.cursor();
        for _ in 0..TURN_MAX {
            let mut found = self.matches(cursor.position, 1).await?;
            let Some(found) = found.pop() else { break };
            let attempt = self.post(url, signed_by, &found, &mut messages).await?;
            match self.follow(cursor, &found, attempt).await? {
                Some(next) => cursor = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Retries each dead letter that a person asked for once.
    async fn replay(
        &self,
        url: &FeedUrl,
        signed_by: Option<&str>,
        messages: &mut MatchMessages,
    ) -> Result<(), StoreError> {
        let dead = self.store().dead_letters(self.due.id)?;
        for letter in dead.into_iter().filter(|letter| letter.to_replay) {
            let now = self.context.clock.now();
            let found = self.store().query_entry_at(self.query.id, letter.position)?;
            let attempt = match found {
                Some(found) => self.post(url, signed_by, &found, messages).await?,
                None => Attempt::Failed {
                    why: "the entry is no longer stored".to_owned(),
                    retry_after: None,
                },
            };
            let (id, position) = (self.due.id, letter.position);
            match attempt {
                Attempt::Taken => self.store().letter_delivered(id, position, now).await?,
                Attempt::Failed { why, .. } => {
                    self.store().letter_refused(id, position, why, now).await?;
                }
            }
        }
        Ok(())
    }

    async fn post(
        &self,
        url: &FeedUrl,
        signed_by: Option<&str>,
        found: &QueryEntry,
        messages: &mut MatchMessages,
    ) -> Result<Attempt, StoreError> {
        let configured = &self.context.settings.delivery.keys;
        let key = match signed_by {
            None => &self.query.signing_key,
            Some(name) => match configured.get(name) {
                Some(key) => key,
                None => {
                    let why = format!("there is no key `{name}` in the configuration any more");
                    return Ok(Attempt::Failed { why, retry_after: None });
                }
            },
        };
        let (name, query) = (&self.query.name, self.query.id);
        let body = messages.message(self.store(), (query, name), found)?.to_string().into_bytes();
        let message = (MatchMessages::key(name, found), body);
        post_signed(self.context, &self.context.fetcher, (url, key), message).await
    }
}

/// Signs a message and posts it once.
async fn post_signed(
    context: &Context,
    fetcher: &Fetcher,
    (url, key): (&FeedUrl, &str),
    (id, body): (String, Vec<u8>),
) -> Result<Attempt, StoreError> {
    let now = context.clock.now();
    let at = now.secs().to_string();
    let signature = keys::sign(key, &[id.as_bytes(), b".", at.as_bytes(), b".", &body]);
    let headers = vec![
        ("webhook-id", id),
        ("webhook-timestamp", at),
        ("webhook-signature", format!("v1,{signature}")),
    ];
    let parcel = Parcel::new("application/json", headers, body);
    let plan = PlanHandle::of(context);
    let turn = errand::turn(&plan, url.url(), ErrandClass::WithoutGap).await;
    // There is no turn only if the engine ends.
    let turn = turn.map_err(|_| StoreError::Closed)?;
    Ok(attempt(turn.post_without_gap_by(fetcher, url.url(), parcel).await, now))
}

/// The webhook to which a person sends an entry.
pub struct SentEntry<'a> {
    pub service: &'a str,
    pub url: &'a FeedUrl,
    pub key: &'a str,
    /// The person is not an administrator, so the webhook must be on a public address, whatever
    /// the setting for feeds says.
    pub public_only: bool,
}

/// Posts an entry to a webhook of a person, once. Returns why it was not taken.
pub async fn send_entry(
    context: &Context,
    sent: &SentEntry<'_>,
    entry: &EntryRow,
) -> Result<Option<String>, StoreError> {
    let mut value = MatchMessages::default().entry(&context.store, entry)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("content".to_owned(), json!(entry.content));
        fields.insert("categories".to_owned(), json!(entry.categories));
    }
    let key = format!("share/{}", entry.id);
    let body = json!({ "key": key, "service": sent.service, "entry": value }).to_string();
    let public = match sent.public_only.then(|| context.fetcher.public()).transpose() {
        Ok(public) => public,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let fetcher = public.as_ref().unwrap_or(&context.fetcher);
    let message = (key, body.into_bytes());
    let attempt = post_signed(context, fetcher, (sent.url, sent.key), message);
    Ok(match attempt.await? {
        Attempt::Taken => None,
        Attempt::Failed { why, .. } => Some(why),
    })
}

fn attempt(posted: Posted, now: Time) -> Attempt {
    let (why, retry_after) = match posted {
        Posted::Taken { .. } => return Attempt::Taken,
        Posted::Refused { status, retry_after, .. } => {
            (format!("it answered {status}"), retry_after.map(|wish| wait(wish, now)))
        }
        Posted::Blocked { reason } => (reason, None),
        Posted::Failed(failure) => (failure.to_string(), None),
    };
    Attempt::Failed { why, retry_after }
}

fn wait(wish: RetryAfter, now: Time) -> Duration {
    match wish {
        RetryAfter::After(wait) => wait,
        RetryAfter::At(at) => at.since(now),
    }
}
