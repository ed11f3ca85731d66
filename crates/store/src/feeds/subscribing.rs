//! Subscribes accounts to feeds and ends subscriptions. A feed is added once for all subscribers;
//! only an address with a secret gets a feed of its own for each account. A feed that nobody needs
//! is paused, and removed some time later.

use feed::{FeedId, FeedUrl, Time};

use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::feeds::change::{self, AddFeedResult, NewFeed};
use crate::feeds::{handing_on, private, state};
use crate::matching::MatcherSlot;
use crate::subscriptions::limits::check_subscriptions;
use crate::subscriptions::rows::{self as subscriptions, SubscriptionRow};
use crate::subscriptions::scope::{has_accounts, is_subscribed};
use crate::{AccountId, Store, StoreError};

impl Store {
    /// Subscribes an account to feeds, all or none. Feeds that do not exist are added. In the
    /// results, `existed` says that the feed was there before.
    pub fn subscribe(
        &self,
        account: AccountId,
        new: &[NewFeed],
        now: Time,
    ) -> Result<Vec<AddFeedResult>, StoreError> {
        if account == AccountId::LOCAL {
            return self.add_feeds(new, now);
        }
        let new = new.to_vec();
        self.write(move |conn| {
            change::lock_addresses(conn)?;
            let added = new.iter().map(|one| subscribe(conn, account, one, now));
            let added = added.collect::<Result<Vec<_>, _>>()?;
            check_subscriptions(conn, account)?;
            Ok(added)
        })
    }

    /// Subscribes an account to a feed that exists. A private feed of somebody else does not exist
    /// for the account.
    pub fn subscribe_to(
        &self,
        account: AccountId,
        feed: FeedId,
        tags: &[String],
        now: Time,
    ) -> Result<(), StoreError> {
        let tags = tags.to_vec();
        self.write(move |conn| {
            let sql = "select 1 from feeds where id = $1";
            let exists = conn.prepare_cached(sql)?.exists([feed.0])?;
            let owner = private::owner(conn, feed)?;
            if !exists || owner.is_some_and(|owner| owner != account) {
                return Err(StoreError::NoFeed(feed).into());
            }
            subscriptions::put(conn, account, feed, None, &tags, now)?;
            check_subscriptions(conn, account)?;
            wake(conn, feed)
        })
    }

    /// Ends subscriptions of an account. Returns the feeds that nobody needs any more: they are
    /// paused now.
    pub fn unsubscribe(
        &self,
        account: AccountId,
        feeds: &[FeedId],
        now: Time,
    ) -> Result<Vec<FeedId>, StoreError> {
        let feeds = feeds.to_vec();
        self.write(move |conn| {
            let mut unwanted = Vec::new();
            for feed in feeds {
                let sql = "delete from subscriptions where account = $1 and feed = $2";
                if conn.prepare_cached(sql)?.execute(params![account.0, feed.0])? == 0 {
                    return Err(StoreError::NoFeed(feed).into());
                }
                if rest_if_unwanted(conn, feed, now)? {
                    unwanted.push(feed);
                }
            }
            Ok(unwanted)
        })
    }

    /// Pauses every feed that nobody needs any more, for example because its only subscriber has
    /// left. Returns these feeds.
    pub fn rest_unwanted_feeds(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        let found = self.read(|conn| {
            let sql = "select f.id from feeds f where f.of_instance = 0 \
                       and not exists (select 1 from subscriptions s where s.feed = f.id) \
                       and not exists (select 1 from query_feeds q where q.feed = f.id) \
                       and not exists (select 1 from query_orphans o where o.feed = f.id)";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| row.get(0).map(FeedId))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        if found.is_empty() {
            return Ok(found);
        }
        self.write(move |conn| {
            let mut unwanted = Vec::new();
            for feed in found {
                if rest_if_unwanted(conn, feed, now)? {
                    unwanted.push(feed);
                }
            }
            Ok(unwanted)
        })
    }

    /// Returns the feeds that nobody has needed since a time. Feeds with stars or with labels that
    /// a person gave are kept.
    pub fn unwanted_since(&self, before: Time) -> Result<Vec<FeedId>, StoreError> {
        self.read(|conn| {
            let sql = "select o.feed from query_orphans o where o.since <= $1 \
                       and not exists (select 1 from subscriptions s where s.feed = o.feed) \
                       and not exists (select 1 from entries e join stars s on s.entry = e.id \
                        where e.feed = o.feed) \
                       and not exists (select 1 from entries e join entry_labels l \
                        on l.entry = e.id where e.feed = o.feed and l.by_rule = 0) \
                       order by o.feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([before.millis()], |row| row.get(0).map(FeedId))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the feed of an account that its person may give secrets: their own one, or else a
    /// new private feed with the same address, to which their subscription moves. A feed that only
    /// they need becomes private itself. If others read their private feed too, the next of them
    /// gets it, and the account gets a new one. `None`: the account does not read the feed.
    pub fn own_feed(
        &self,
        account: AccountId,
        feed: FeedId,
        now: Time,
    ) -> Result<Option<FeedId>, StoreError> {
        let slot = self.matcher();
        self.write(move |conn| own(conn, &slot, account, feed, now))
    }
}

/// Returns the feed that an address stands for, as an account sees it: its own private one, or the
/// public one.
pub(crate) fn by_url_of(
    conn: &Connection,
    account: AccountId,
    url: &FeedUrl,
) -> Result<Option<FeedId>, DbError> {
    match private::by_url(conn, account, url)? {
        Some(feed) => Ok(Some(feed)),
        None => change::by_url(conn, url),
    }
}

fn subscribe(
    conn: &Connection,
    account: AccountId,
    new: &NewFeed,
    now: Time,
) -> Result<AddFeedResult, DbError> {
    let NewFeed { url, title, site, tags } = new;
    let known = by_url_of(conn, account, url)?;
    let id = match known {
        Some(feed) => feed,
        None => {
            let plain = NewFeed { url: url.clone(), title: None, site: site.clone(), tags: vec![] };
            let owner = private::holds_secret(url).then_some(account);
            change::insert(conn, &plain, owner, now)?
        }
    };
    if known.is_none() {
        conn.execute("update feeds set of_instance = 0 where id = $1", [id.0])?;
    }
    let is_new_to_reader = subscriptions::put(conn, account, id, title.as_deref(), tags, now)?;
    wake(conn, id)?;
    // The twin may belong to somebody else, so it is named only if the account reads it.
    let twin = change::twin(conn, id, url)?;
    let twin = match twin {
        Some((feed, url)) if is_subscribed(conn, account, feed)? => Some((feed, url)),
        _ => None,
    };
    Ok(AddFeedResult { id, existed: known.is_some(), is_new_to_reader, twin })
}

/// Adds a feed that a query names. It stays while a query reads it.
pub(crate) fn add_for_query(
    conn: &Connection,
    owner: AccountId,
    url: &FeedUrl,
    tag: &str,
    now: Time,
) -> Result<FeedId, DbError> {
    change::lock_addresses(conn)?;
    if let Some(feed) = by_url_of(conn, owner, url)? {
        return Ok(feed);
    }
    let new = NewFeed { url: url.clone(), title: None, site: None, tags: Vec::new() };
    let is_private = private::holds_secret(url) && has_accounts(conn)?;
    let feed = change::insert(conn, &new, is_private.then_some(owner), now)?;
    conn.execute("update feeds set of_instance = 0 where id = $1", [feed.0])?;
    change::add_tags(conn, feed, &[tag.to_owned()])?;
    Ok(feed)
}

/// Ends the rest of a feed that somebody needs again.
pub(crate) fn wake(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = "delete from query_orphans where feed = $1 returning was_paused";
    let rested: Option<i64> =
        conn.prepare_cached(sql)?.query_row([feed.0], |row| row.get(0)).optional()?;
    let Some(was_paused) = rested else { return Ok(()) };
    let paused = (was_paused != 0).then_some(1_i64);
    conn.execute("update feed_state set paused = $1 where feed = $2", params![paused, feed.0])?;
    state::refresh(conn, feed)
}

/// Gives a feed that nobody needed to the instance, because somebody has resumed it.
pub(crate) fn keep_resumed(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = "delete from query_orphans where feed = $1";
    if conn.prepare_cached(sql)?.execute([feed.0])? > 0 {
        conn.execute("update feeds set of_instance = 1 where id = $1", [feed.0])?;
    }
    Ok(())
}

/// Pauses a feed if nobody needs it: no subscriber, no query, and not the instance.
pub(crate) fn rest_if_unwanted(
    conn: &Connection,
    feed: FeedId,
    now: Time,
) -> Result<bool, DbError> {
    let sql = "select 1 from feeds f where f.id = $1 and f.of_instance = 0 \
               and not exists (select 1 from subscriptions s where s.feed = f.id) \
               and not exists (select 1 from query_feeds q where q.feed = f.id)";
    if !conn.prepare_cached(sql)?.exists([feed.0])? {
        return Ok(false);
    }
    let sql = "insert into query_orphans (feed, since, was_paused) \
               select feed, $1, case when paused = 1 then 1 else 0 end from feed_state \
               where feed = $2 on conflict (feed) do nothing";
    let is_new = conn.prepare_cached(sql)?.execute(params![now.millis(), feed.0])? > 0;
    conn.execute("update feed_state set paused = 1 where feed = $1", [feed.0])?;
    state::refresh(conn, feed)?;
    Ok(is_new)
}

fn own(
    conn: &Connection,
    slot: &MatcherSlot,
    account: AccountId,
    feed: FeedId,
    now: Time,
) -> Result<Option<FeedId>, DbError> {
    let found = subscriptions::of_feeds(conn, account, &[feed])?.pop();
    let Some(subscription) = found else { return Ok(None) };
    change::lock_addresses(conn)?;
    if private::owner(conn, feed)? == Some(account) {
        let Some(url) = handing_on::part(conn, feed, account)? else { return Ok(Some(feed)) };
        let own = move_to_own(conn, account, &subscription, url, now)?;
        handing_on::move_settings(conn, feed, own)?;
        return Ok(Some(own));
    }
    let sql = "select url, of_instance = 1 from feeds where id = $1";
    let (url, of_instance): (FeedUrl, bool) =
        conn.query_row(sql, [feed.0], |row| Ok((crate::db::columns::url(row, 0)?, row.get(1)?)))?;
    let known = private::by_url(conn, account, &url)?;
    if known.is_none() && !of_instance && !private::others_need(conn, slot, feed, account)? {
        private::mark(conn, feed, account, &url)?;
        return Ok(Some(feed));
    }
    move_to_own(conn, account, &subscription, url, now).map(Some)
}

/// Moves a subscription to the account's private feed with an address. It is made if necessary.
fn move_to_own(
    conn: &Connection,
    account: AccountId,
    subscription: &SubscriptionRow,
    url: FeedUrl,
    now: Time,
) -> Result<FeedId, DbError> {
    let own = match private::by_url(conn, account, &url)? {
        Some(own) => own,
        None => {
            let plain = NewFeed { url, title: None, site: None, tags: Vec::new() };
            let own = change::insert(conn, &plain, Some(account), now)?;
            conn.execute("update feeds set of_instance = 0 where id = $1", [own.0])?;
            own
        }
    };
    let SubscriptionRow { feed, title, tags, .. } = subscription;
    subscriptions::put(conn, account, own, title.as_deref(), tags, now)?;
    let sql = "delete from subscriptions where account = $1 and feed = $2";
    conn.execute(sql, params![account.0, feed.0])?;
    wake(conn, own)?;
    rest_if_unwanted(conn, *feed, now)?;
    Ok(own)
}
