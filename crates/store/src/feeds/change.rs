//! Adds, finds, tags, renames and removes feeds. Nothing here polls a feed or checks whether its
//! address works.

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, FeedId, FeedUrl, INDEXED_ADDRESS_MAX, Time};

use crate::db::dialect::{self, LockSubject};
use crate::error::DbError;
use crate::facts::languages;
use crate::feeds::domains;
use crate::feeds::subscribing::{self, by_url_of};
use crate::feeds::{private, state, tag_numbers};
use crate::reading::marks;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, Store, StoreError, search};

/// A feed to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFeed {
    pub url: FeedUrl,
    /// The title that a person or a list gave. The publisher's own title comes with the first poll.
    pub title: Option<String>,
    /// The address of its site, from the same source.
    pub site: Option<String>,
    pub tags: Vec<String>,
}

/// The result of adding a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddFeedResult {
    pub id: FeedId,
    /// The feed existed already. The tags were added to it.
    pub existed: bool,
    /// The person who adds it did not read it before. Somebody else may have done so.
    pub is_new_to_reader: bool,
    /// Another feed that looks the same: it differs only in http or https, or it was permanently
    /// redirected to this URL. It is reported and never merged.
    pub twin: Option<(FeedId, String)>,
}

impl Store {
    pub fn add_feed(&self, new: &NewFeed, now: Time) -> Result<AddFeedResult, StoreError> {
        let new = new.clone();
        self.write(move |conn| add_for_person(conn, &new, now))
    }

    /// Adds all feeds or none. Existing feeds get the tags.
    pub fn add_feeds(&self, new: &[NewFeed], now: Time) -> Result<Vec<AddFeedResult>, StoreError> {
        let new = new.to_vec();
        self.write(move |conn| new.iter().map(|one| add_for_person(conn, one, now)).collect())
    }

    /// Finds a feed by its number or by the URL under which it was added.
    pub fn find_feed(&self, id_or_url: &str) -> Result<Option<FeedId>, StoreError> {
        let text = id_or_url.trim();
        if let Ok(id) = text.parse::<u32>() {
            return self.read(|conn| {
                let mut statement = conn.prepare_cached("select id from feeds where id = $1")?;
                Ok(statement.query_row([id], |row| row.get(0)).optional()?.map(FeedId))
            });
        }
        let Ok(url) = FeedUrl::from_stored(text) else { return Ok(None) };
        self.read(|conn| match by_url(conn, &url)? {
            Some(feed) => Ok(Some(feed)),
            None => private::first_by_url(conn, &url),
        })
    }

    /// Removes a feed with its entries and its history. Its number is never reused.
    pub fn remove_feed(&self, feed: FeedId) -> Result<(), StoreError> {
        self.write(move |conn| remove(conn, feed))
    }

    /// Removes a feed that an account has just added, because its address is not a feed. If others
    /// need it too, only the subscription of the account ends. Returns whether the feed is gone.
    pub fn take_back(&self, account: AccountId, feed: FeedId) -> Result<bool, StoreError> {
        self.write(move |conn| {
            let sql = "delete from subscriptions where account = $1 and feed = $2";
            conn.prepare_cached(sql)?.execute(params![account.0, feed.0])?;
            if account == AccountId::LOCAL {
                conn.execute("update feeds set of_instance = 0 where id = $1", [feed.0])?;
            }
            let sql = "select 1 from subscriptions where feed = $1 \
                       union all select 1 from query_feeds where feed = $1 \
                       union all select 1 from feeds where id = $1 and of_instance = 1";
            if conn.prepare_cached(sql)?.exists([feed.0])? {
                return Ok(false);
            }
            remove(conn, feed)?;
            Ok(true)
        })
    }

    /// Adds tags to a feed and removes others.
    pub fn tag_feed(
        &self,
        feed: FeedId,
        add: &[String],
        remove: &[String],
    ) -> Result<(), StoreError> {
        let (add, remove) = (add.to_vec(), remove.to_vec());
        self.write(move |conn| {
            let sql = "select id from feeds where id = $1";
            let found: Option<u32> = conn.query_row(sql, [feed.0], |r| r.get(0)).optional()?;
            found.ok_or(StoreError::NoFeed(feed))?;
            for tag in &remove {
                let sql = "delete from feed_tags where feed = $1 and tag = $2";
                conn.execute(sql, params![feed.0, tag])?;
            }
            add_tags(conn, feed, &add)?;
            state::refresh(conn, feed)
        })
    }

    /// Sets the given title of a feed; `None` shows the publisher's title again.
    pub fn title_feed(&self, feed: FeedId, title: Option<&str>) -> Result<(), StoreError> {
        let title = title.map(str::to_owned);
        self.write(move |conn| {
            let sql = "update feeds set given_title = $1 where id = $2";
            match conn.execute(sql, params![title, feed.0])? {
                0 => Err(StoreError::NoFeed(feed).into()),
                _ => state::refresh_title(conn, feed),
            }
        })
    }

    /// Renames a tag together with its settings, or removes it from all feeds. If the new name is
    /// in use, the two tags become one, with the settings of the existing one.
    pub fn rename_tag(&self, tag: &str, to: Option<&str>) -> Result<(), StoreError> {
        let (tag, to) = (tag.to_owned(), to.map(str::to_owned));
        self.write(move |conn| rename_tag(conn, &tag, to.as_deref()))
    }
}

fn remove(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    let sql = "select id from entries where feed = $1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([feed.0], |row| row.get(0).map(EntryId))?;
    let entries: Vec<EntryId> = rows.collect::<Result<_, _>>()?;
    marks::remove_entries(conn, &entries)?;
    search::remove_entries(conn, &entries)?;
    state::remove_from_totals(conn, feed)?;
    languages::forget_feed(conn, feed)?;
    let removed = conn.execute("delete from feeds where id = $1", [feed.0])?;
    if removed == 0 { Err(StoreError::NoFeed(feed).into()) } else { Ok(()) }
}

/// Renames a tag together with its settings, or removes it from all feeds.
pub(crate) fn rename_tag(conn: &Connection, tag: &str, to: Option<&str>) -> Result<(), DbError> {
    if to == Some(tag) {
        return Ok(());
    }
    let mut statement = conn.prepare_cached("select feed from feed_tags where tag = $1")?;
    let rows = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
    let feeds: Vec<FeedId> = rows.collect::<Result<_, _>>()?;
    if let Some(to) = to {
        let sql = "insert into feed_tags (feed, tag) select feed, $1 from feed_tags \
                   where tag = $2 on conflict do nothing";
        conn.execute(sql, params![to, tag])?;
        let sql = "update tag_settings set tag = $1 where tag = $2 \
                   and not exists (select 1 from tag_settings where tag = $1)";
        conn.execute(sql, params![to, tag])?;
        tag_numbers::rename(conn, tag, to)?;
    }
    conn.execute("delete from tag_numbers where tag = $1", [tag])?;
    conn.execute("delete from feed_tags where tag = $1", [tag])?;
    conn.execute("delete from tag_settings where tag = $1", [tag])?;
    state::refresh_many(conn, &feeds)?;
    // Feeds that had the new name already may get settings of the renamed tag.
    to.map_or(Ok(()), |to| state::refresh_tagged(conn, to))
}

/// Adds a feed for the instance, or for the person at the machine. A feed that existed only for
/// queries or for subscribers now stays until it is removed.
fn add_for_person(conn: &Connection, new: &NewFeed, now: Time) -> Result<AddFeedResult, DbError> {
    lock_addresses(conn)?;
    if let Some(feed) = by_url_of(conn, AccountId::LOCAL, &new.url)? {
        let sql = "delete from feed_tags where feed = $1 and tag like 'query:%'";
        conn.prepare_cached(sql)?.execute([feed.0])?;
        let sql = "update feeds set of_instance = 1 where id = $1 and of_instance = 0";
        conn.prepare_cached(sql)?.execute([feed.0])?;
        subscribing::wake(conn, feed)?;
        state::refresh(conn, feed)?;
    }
    add(conn, new, now)
}

pub(crate) fn add(conn: &Connection, new: &NewFeed, now: Time) -> Result<AddFeedResult, DbError> {
    lock_addresses(conn)?;
    let known = by_url_of(conn, AccountId::LOCAL, &new.url)?;
    let id = match known {
        Some(id) => id,
        None => {
            // Without accounts nothing is private.
            let is_private = private::holds_secret(&new.url) && has_accounts(conn)?;
            insert(conn, new, is_private.then_some(AccountId::LOCAL), now)?
        }
    };
    add_tags(conn, id, &new.tags)?;
    if !new.tags.is_empty() {
        state::refresh(conn, id)?;
    }
    let (existed, is_new_to_reader) = (known.is_some(), known.is_none());
    Ok(AddFeedResult { id, existed, is_new_to_reader, twin: twin(conn, id, &new.url)? })
}

/// Waits until no other process adds a feed. So two people who add the same address at once get
/// one feed.
pub(crate) fn lock_addresses(conn: &Connection) -> Result<(), DbError> {
    Ok(dialect::one_at_a_time(conn, LockSubject::Addresses, 0)?)
}

/// Inserts the rows of a feed. With an owner it is private.
pub(crate) fn insert(
    conn: &Connection,
    new: &NewFeed,
    owner: Option<AccountId>,
    now: Time,
) -> Result<FeedId, DbError> {
    let stored = match owner {
        Some(owner) => private::stored_url(owner, &new.url),
        None => new.url.as_str().to_owned(),
    };
    let domain = domains::number(conn, &new.url.domain())?;
    // A list may name any site; the publisher's own comes with the first poll.
    let site = new.site.as_ref().filter(|site| site.len() <= INDEXED_ADDRESS_MAX);
    let sql = "insert into feeds (url, given_title, site, added_at) values ($1, $2, $3, $4) \
               returning id";
    let id: u32 = conn
        .prepare_cached(sql)?
        .query_row(params![stored, new.title, site, now.millis()], |row| row.get(0))?;
    let sql = "insert into feed_state (feed, domain) values ($1, $2)";
    conn.prepare_cached(sql)?.execute(params![id, domain])?;
    state::add_to_totals(conn, FeedId(id), domain)?;
    if let Some(owner) = owner {
        private::mark(conn, FeedId(id), owner, &new.url)?;
    }
    Ok(FeedId(id))
}

pub(crate) fn add_tags(conn: &Connection, feed: FeedId, tags: &[String]) -> Result<(), DbError> {
    let sql =
        "insert into feed_tags (feed, tag) values ($1, $2) on conflict (feed, tag) do nothing";
    let mut statement = conn.prepare_cached(sql)?;
    for tag in tags {
        statement.execute(params![feed.0, tag])?;
    }
    Ok(())
}

pub(crate) fn by_url(conn: &Connection, url: &FeedUrl) -> Result<Option<FeedId>, DbError> {
    let mut statement = conn.prepare_cached("select id from feeds where url = $1")?;
    Ok(statement.query_row([url.as_str()], |row| row.get(0)).optional()?.map(FeedId))
}

pub(crate) fn twin(
    conn: &Connection,
    id: FeedId,
    url: &FeedUrl,
) -> Result<Option<(FeedId, String)>, DbError> {
    let sql = "select id, url from feeds where url = $1 and id <> $2 \
               union all select id, url from feeds where effective_url in ($3, $1) and id <> $2 \
               limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let twin = url.twin();
    let found = statement.query_row(params![twin.as_str(), id.0, url.as_str()], |row| {
        Ok((FeedId(row.get(0)?), row.get(1)?))
    });
    Ok(found.optional()?)
}
