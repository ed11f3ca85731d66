//! Many people at once: accounts with tokens, subscriptions, tags, marks, stars and opened entries,
//! written by a few SQL statements for a thousand people each. Through the functions of the store
//! this would take an hour. The test `crowd` compares these rows with what the functions say.

use std::fmt::Write;

use feed::{FeedId, Time};
use store::{AccountId, Store, StoreError};

/// The people, and the feeds that they share. The feeds have the numbers from 1 to `n_feeds`, and
/// the publisher's tags do not matter.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub n_people: u32,
    pub n_feeds: u32,
    /// Subscriptions of each person; at most as many as there are feeds.
    pub n_subscriptions: u32,
}

/// One person of the crowd.
#[derive(Clone, Debug)]
pub struct CrowdPerson {
    pub account: AccountId,
    pub token: String,
    pub feeds: Vec<FeedId>,
}

/// The tags of each person.
pub const TAGS: u32 = 20;
/// Marks of one row, as the store keeps them.
const BLOCK: i64 = 4096;
/// People of one transaction.
const AT_ONCE: usize = 1000;
const DAY_MS: i64 = 86_400_000;

/// Returns the tag under which everybody in the crowd has a feed.
pub fn tag(feed: FeedId) -> String {
    format!("tag {}", (feed.0 - 1) % TAGS)
}

impl Crowd {
    /// Returns the feeds of an account: one of each of `n_subscriptions` ranges. The first ranges
    /// are small, so that some feeds have many subscribers and most have few.
    pub fn feeds(&self, account: AccountId) -> Vec<FeedId> {
        let (feeds, n) = (i64::from(self.n_feeds), i64::from(self.n_subscriptions));
        let first = |i: i64| i + i * i * (feeds - n) / (n * n);
        let drawn = |i: i64| account.0 * 7919 + i * 104_729 + account.0 * i * 31;
        let feed = |i: i64| 1 + first(i) + drawn(i) % (first(i + 1) - first(i));
        (0..n).filter_map(|i| u32::try_from(feed(i)).ok().map(FeedId)).collect()
    }

    /// The same as an SQL expression over `a.id` and `s.i`.
    fn feed_sql(&self) -> String {
        let (feeds, n) = (self.n_feeds, self.n_subscriptions);
        let first = |i: &str| format!("({i} + {i} * {i} * ({feeds} - {n}) / ({n} * {n}))");
        let (from, to) = (first("s.i"), first("(s.i + 1)"));
        format!("1 + {from} + (a.id * 7919 + s.i * 104729 + a.id * s.i * 31) % ({to} - {from})")
    }

    /// Adds the people, if they are not there yet.
    pub fn fill(&self, store: &Store, now: Time) -> Result<Vec<CrowdPerson>, StoreError> {
        if store.account(&format!("crowd{}", self.n_people))?.is_none() {
            self.add_accounts(store, now);
            let ids = self.ids(store)?;
            for some in ids.chunks(AT_ONCE) {
                self.add_rows(store, some, now)?;
            }
        }
        let member = |account: AccountId| CrowdPerson {
            account,
            token: token(account),
            feeds: self.feeds(account),
        };
        Ok(self.ids(store)?.into_iter().map(member).collect())
    }

    fn ids(&self, store: &Store) -> Result<Vec<AccountId>, StoreError> {
        let accounts = store.accounts()?.into_iter();
        let mut ids: Vec<AccountId> =
            accounts.filter(|row| row.name.starts_with("crowd")).map(|row| row.id).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Nine in ten have read something within a month.
    fn add_accounts(&self, store: &Store, now: Time) {
        let (n, now, last_tag) = (self.n_people, now.millis(), TAGS + 1);
        let sql = format!(
            "insert into accounts (name, password, created_at, role, last_tag, read_at) \
             with recursive n (v) as (select cast(1 as bigint) union all \
              select v + 1 from n where v < {n}) \
             select 'crowd' || v, '!', {now}, 'reader', {last_tag}, \
             case when v % 10 = 0 then null else {now} - {DAY_MS} * (v % 30) end from n order by v"
        );
        store::testing::execute(store.location(), &sql);
    }

    fn add_rows(&self, store: &Store, ids: &[AccountId], now: Time) -> Result<(), StoreError> {
        let (Some(low), Some(high)) = (ids.first(), ids.last()) else { return Ok(()) };
        let own = format!("a.id between {low} and {high} and a.name like 'crowd%'");
        let last = store.last_entry_id()?.0;
        let sql = [
            add_tokens(ids, now),
            self.add_subscriptions(&own, now),
            add_marks(&own, last),
            add_stars(&own, now),
            add_opened(&own, now),
        ];
        store::testing::execute(store.location(), &format!("begin; {}; commit", sql.join("; ")));
        Ok(())
    }

    fn add_subscriptions(&self, own: &str, now: Time) -> String {
        let (n, feed, now) = (self.n_subscriptions, self.feed_sql(), now.millis());
        format!(
            "insert into account_tags (account, number, tag, made, position) \
             with recursive n (v) as (select cast(1 as bigint) union all \
              select v + 1 from n where v < {TAGS}) \
             select a.id, v + 1, 'tag ' || (v - 1), 0, v + 1 from accounts a, n where {own} \
             order by a.id, v; \
             insert into subscriptions (account, feed, title, position, subscribed_at) \
             with recursive s (i) as (select cast(0 as bigint) union all \
              select i + 1 from s where i < {n} - 1) \
             select a.id, {feed}, null, 0, {now} from accounts a, s where {own} \
             order by a.id, s.i; \
             insert into subscription_tags (account, tag, feed) \
             select s.account, 2 + (s.feed - 1) % {TAGS}, s.feed from subscriptions s \
             join accounts a on a.id = s.account where {own} order by 1, 2, 3"
        )
    }
}

fn token(account: AccountId) -> String {
    format!("crowd-token-{account}")
}

/// Bytes as both databases write them.
fn literal(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut hex = String::new();
    for byte in bytes {
        // A string takes everything.
        let _ = write!(hex, "{byte:02x}");
    }
    match store::testing::is_postgres() {
        true => format!("'\\x{hex}'::bytea"),
        false => format!("x'{hex}'"),
    }
}

fn add_tokens(ids: &[AccountId], now: Time) -> String {
    let row = |account: &AccountId| {
        let secret = token(*account);
        let digest = literal(api::auth::digest(&secret));
        let fever = literal(api::auth::fever_digest("phone", &secret));
        format!("({account}, 'phone', 'write', {digest}, {fever}, {})", now.millis())
    };
    let rows: Vec<String> = ids.iter().map(row).collect();
    format!(
        "insert into tokens (account, name, scope, digest, fever_digest, created_at) values {}",
        rows.join(", ")
    )
}

/// Each person has read the older half of all entries, or more.
fn add_marks(own: &str, last: i64) -> String {
    // No entry has the number 0.
    let first = literal(std::iter::once(0xfe).chain(std::iter::repeat_n(0xff, 511)));
    let full = literal(std::iter::repeat_n(0xff, 512));
    let n_blocks = last / BLOCK + 1;
    format!(
        "insert into read_marks (account, block, bits) \
         with recursive b (v) as (select cast(0 as bigint) union all \
          select v + 1 from b where v < {n_blocks}) \
         select a.id, b.v, case when b.v = 0 then {first} else {full} end from accounts a, b \
         where {own} and b.v < ({last} - {last} * (a.id % 10) / 20 + 1) / {BLOCK} order by 1, 2"
    )
}

/// A star on the last entry of each tenth subscription.
fn add_stars(own: &str, now: Time) -> String {
    let now = now.millis();
    format!(
        "insert into stars (account, entry, starred_at) \
         select s.account, (select max(e.id) from entries e where e.feed = s.feed), {now} \
         from subscriptions s join accounts a on a.id = s.account \
         where {own} and s.feed % 10 = s.account % 10 \
         and exists (select 1 from entries e where e.feed = s.feed)"
    )
}

/// Each person opened something in a third of their feeds, over 90 days and 30 hours.
fn add_opened(own: &str, now: Time) -> String {
    let (day, hour) = (now.millis() / DAY_MS, now.millis() / (DAY_MS / 24));
    format!(
        "insert into opened_days (account, feed, day, opened) \
         select s.account, s.feed, {day} - (s.feed * 7 + s.account) % 90, 1 + s.feed % 3 \
         from subscriptions s join accounts a on a.id = s.account \
         where {own} and (s.feed + s.account) % 3 = 0 order by 1, 2; \
         insert into opened_hours (account, hour, opened) \
         with recursive n (v) as (select cast(0 as bigint) union all \
          select v + 1 from n where v < 29) \
         select a.id, {hour} - v * 17, 2 from accounts a, n where {own} order by 1, 2"
    )
}
