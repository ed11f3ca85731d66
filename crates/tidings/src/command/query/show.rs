//! `tidings query show NAME`: shows the statement, the address of its feed, the progress of its
//! receivers, and the plan by which entries are matched.

use std::collections::HashMap;

use ::query::masked_receiver;
use api::plural;
use api::search::query_entry;
use feed::FeedId;
use query::{Access, Matcher, Scratch, States};
use serde_json::json;
use store::{AccountId, EntryFilter, FeedRow, QueryRow, Store, StoreError, StreamCursor};

use super::{access_word, find};
use crate::args::InstanceArgs;
use crate::args::whose::WhoseArgs;
use crate::error::CliError;
use crate::output::{print_json, print_line};
use crate::{access, config};

/// Entries from which the plan learns how rare words are.
const SAMPLE: u32 = 2000;

pub fn run(
    name: &str,
    with_secrets: bool,
    as_json: bool,
    whose: &WhoseArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let store = access::read(&config)?;
    let row = find(&store, whose.find(&store)?, name)?;
    let text = if with_secrets { row.text.clone() } else { query::masked(&row.text) };
    let plan = plan(&store, &row)?.unwrap_or_else(|| "the statement cannot be read".to_owned());
    let kept = store.n_query_entries(row.id)?;
    let link = link(&row, with_secrets);
    let deliveries = store.deliveries(Some(row.id))?;
    if as_json {
        let receivers: Vec<_> = deliveries.iter().map(|d| masked_receiver(&d.receiver)).collect();
        return print_json(&json!({
            "name": row.name,
            "text": text,
            "access": access_word(&row),
            "link": link,
            "signing_key": with_secrets.then_some(&row.signing_key),
            "entries": kept,
            "cursor": StreamCursor::Query(row.id, row.last_position).to_string(),
            "created_at": row.created_at.to_string(),
            "changed_at": row.changed_at.to_string(),
            "receivers": receivers,
            "plan": plan,
        }));
    }
    print_line(&text)?;
    let found = plural(kept, "entry", "entries");
    print_line(&format!("\n{found} found, {}", access_word(&row)))?;
    print_line(&format!("feed      {link}"))?;
    for delivery in &deliveries {
        let receiver = masked_receiver(&delivery.receiver);
        print_line(&format!("delivers  {receiver}, {} waiting", delivery.n_waiting))?;
    }
    if with_secrets {
        print_line(&format!("signs by  {}", row.signing_key))?;
    }
    print_line(&format!("\n{}", plan.trim_end()))
}

/// Returns the path of the query's published feed on this instance.
fn link(row: &QueryRow, with_secrets: bool) -> String {
    let secret = query::parse_create(&row.text)
        .is_some_and(|create| create.query.access == Access::SecretLink);
    let key = if with_secrets { row.link_key.as_str() } else { "***" };
    let key = if secret { format!("?key={key}") } else { String::new() };
    format!("/feeds/{}.atom{key}", row.name)
}

/// Returns the plan of a query among all queries. The newest entries show how rare each word is.
fn plan(store: &Store, row: &QueryRow) -> Result<Option<String>, StoreError> {
    let mut matcher = Matcher::new();
    for other in store.queries()? {
        if let Some(create) = query::parse_create(&other.text) {
            matcher.insert(other.id, &other.name, &create.query);
        }
    }
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut feeds = FeedLookup::new(AccountId::LOCAL);
    for entry in store.recent_entries(None, &EntryFilter { feed: None, limit: SAMPLE })? {
        if let Some(feed) = feeds.of(store, entry.feed) {
            matcher.matches(&query_entry(&entry, feed), &mut states, &mut scratch);
        }
    }
    let n_queries = matcher.len();
    matcher.learn(&mut scratch, n_queries);
    Ok(matcher.explain(row.id))
}

/// The feeds read so far, as an account sees them.
pub struct FeedLookup {
    account: AccountId,
    rows: HashMap<FeedId, Option<FeedRow>>,
}

impl FeedLookup {
    /// No feeds yet. Account 0 sees the tags of the instance.
    pub fn new(account: AccountId) -> FeedLookup {
        FeedLookup { account, rows: HashMap::new() }
    }

    /// Returns a feed, or `None` if it was removed in the meantime.
    pub fn of(&mut self, store: &Store, feed: FeedId) -> Option<&FeedRow> {
        let account = self.account;
        let read = || store.feed_of(account, feed).ok();
        self.rows.entry(feed).or_insert_with(read).as_ref()
    }
}
