//! The feeds of one account, with its own titles and tags. For the person at the machine these are
//! all feeds.

use std::collections::{HashMap, HashSet};

use feed::{FeedId, FeedUrl};

use crate::db::columns::count;
use crate::db::sql::{Connection, params};
use crate::db::{dialect, number_lists};
use crate::error::DbError;
use crate::feeds::rows;
use crate::feeds::subscribing::by_url_of;
use crate::subscriptions::account_tags;
use crate::subscriptions::rows::{SubscriptionRow, of_feeds};
use crate::subscriptions::scope;
use crate::{
    AccountId, FeedFilter, FeedName, FeedRow, FeedState, LanguageCount, NumberedTag, StateCounts,
    Store, StoreError, TagFeeds,
};

/// Rows of feeds that are read at once while a list is filled.
const ROWS_AT_ONCE: usize = 1000;

impl Store {
    /// Returns the feeds that an account reads, in the order of their numbers.
    pub fn feeds_of(
        &self,
        account: AccountId,
        filter: &FeedFilter,
    ) -> Result<Vec<FeedRow>, StoreError> {
        if account == AccountId::LOCAL {
            return self.feeds(filter);
        }
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        self.read(|conn| {
            let mut wanted: Vec<FeedId> = match &filter.tag {
                Some(tag) => scope::tagged(conn, account, tag)?.into_iter().collect(),
                None => {
                    scope::read_feeds(conn, account)?.into_list().into_iter().flatten().collect()
                }
            };
            wanted.retain(|feed| filter.after.is_none_or(|after| *feed > after));
            wanted.sort_unstable();
            let mut found = Vec::new();
            for some in wanted.chunks(limit.clamp(1, ROWS_AT_ONCE)) {
                let rows = find_all(conn, account, some)?.into_iter();
                found.extend(rows.filter(|feed| feed.state().is_listed_by(filter.state)));
                if found.len() >= limit {
                    break;
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    /// Returns a feed that an account reads.
    pub fn feed_of(&self, account: AccountId, feed: FeedId) -> Result<FeedRow, StoreError> {
        if account == AccountId::LOCAL {
            return self.feed(feed);
        }
        self.read(|conn| {
            let is_own = scope::is_subscribed(conn, account, feed)?;
            let found = find_all(conn, account, &[feed])?.pop().filter(|_| is_own);
            found.ok_or_else(|| StoreError::NoFeed(feed).into())
        })
    }

    /// Returns the addresses of the feeds that an account reads, also those after redirects.
    pub fn own_addresses(&self, account: AccountId) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            let sql = "select coalesce(p.url, f.url), f.effective_url from subscriptions s \
                       join feeds f on f.id = s.feed left join private_feeds p on p.feed = f.id \
                       where s.account = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([account.0])?;
            let mut addresses = Vec::new();
            while let Some(row) = &rows.next()? {
                addresses.push(row.get(0)?);
                addresses.extend(row.get::<_, Option<String>>(1)?);
            }
            Ok(addresses)
        })
    }

    /// Returns these feeds in the given order, with the titles and tags of an account. A feed that
    /// it does not read has the publisher's title and no tags. Removed feeds are left out.
    pub fn feed_rows_of(
        &self,
        account: AccountId,
        feeds: &[FeedId],
    ) -> Result<Vec<FeedRow>, StoreError> {
        self.read(|conn| find_all(conn, account, feeds))
    }

    /// Finds a feed that an account reads, by its number or by its URL.
    pub fn find_feed_of(
        &self,
        account: AccountId,
        id_or_url: &str,
    ) -> Result<Option<FeedId>, StoreError> {
        if account == AccountId::LOCAL {
            return self.find_feed(id_or_url);
        }
        let text = id_or_url.trim();
        self.read(|conn| {
            let found = match (text.parse::<u32>(), FeedUrl::from_stored(text)) {
                (Ok(id), _) => Some(FeedId(id)),
                (_, Ok(url)) => by_url_of(conn, account, &url)?,
                _ => None,
            };
            match found {
                Some(feed) if scope::is_subscribed(conn, account, feed)? => Ok(Some(feed)),
                _ => Ok(None),
            }
        })
    }

    /// Returns the names of feeds as an account sees them. Feeds that it does not read have the
    /// publisher's title.
    pub fn feed_names_of(
        &self,
        account: AccountId,
        feeds: impl IntoIterator<Item = FeedId>,
    ) -> Result<HashMap<FeedId, FeedName>, StoreError> {
        let feeds: HashSet<FeedId> = feeds.into_iter().collect();
        let mut names = self.feed_names(feeds.iter().copied())?;
        if account == AccountId::LOCAL {
            return Ok(names);
        }
        let feeds: Vec<FeedId> = feeds.into_iter().collect();
        let titles = self.read(|conn| {
            // SQLite numbers parameters by their first place in the text.
            let sql = "select f.title, s.title \
                       from (select id, title from feeds where id = $1) as f \
                       left join subscriptions s on s.feed = f.id and s.account = $2";
            let account = [crate::db::sql::Value::Int(account.0)];
            let mut statement = conn.prepare_cached(sql)?;
            Ok(statement.each(&rows::keys(&feeds), &account, |place, row| {
                let (publisher, own): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
                Ok((feeds[place], own.or(publisher)))
            })?)
        })?;
        for (feed, title) in titles {
            if let Some(name) = names.get_mut(&feed) {
                name.title = title;
            }
        }
        Ok(names)
    }

    /// Returns the languages of an account's feeds, the most frequent first, with the entries of
    /// these feeds. For the person at the machine they are those of the entries themselves.
    pub fn languages_of(&self, account: AccountId) -> Result<Vec<LanguageCount>, StoreError> {
        if account == AccountId::LOCAL {
            return self.languages();
        }
        self.read(|conn| {
            let sql = format!(
                "select coalesce(f.detected_language, f.language), \
                 cast(sum(t.entries) as bigint) from subscriptions s join feeds f on f.id = s.feed \
                 join {} t on t.feed = s.feed where s.account = $1 group by 1",
                dialect::feed_orders(conn)
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params![account.0])?;
            let mut sums: HashMap<String, u64> = HashMap::new();
            while let Some(row) = &rows.next()? {
                let tag: Option<String> = row.get(0)?;
                let Some(tag) = tag else { continue };
                let primary = tag.split(['-', '_']).next().unwrap_or_default().to_lowercase();
                *sums.entry(primary).or_default() += count(row, 1)?;
            }
            let line = |(language, n_entries)| LanguageCount { language, n_entries };
            let mut counts: Vec<LanguageCount> = sums.into_iter().map(line).collect();
            counts.retain(|one| one.n_entries > 0 && !one.language.is_empty());
            counts.sort_by(|one, other| {
                other.n_entries.cmp(&one.n_entries).then(one.language.cmp(&other.language))
            });
            Ok(counts)
        })
    }

    /// Returns how many feeds of an account are in each state, and how many entries they have.
    pub fn feed_totals_of(&self, account: AccountId) -> Result<(StateCounts, u64), StoreError> {
        self.read(|conn| totals(conn, account))
    }

    /// Returns the tags of an account in its order, with the number of their feeds and of their
    /// unread entries.
    pub fn tag_feeds_of(
        &self,
        account: AccountId,
        unread: &HashMap<FeedId, u64>,
    ) -> Result<Vec<TagFeeds>, StoreError> {
        if account == AccountId::LOCAL {
            return self.tag_feeds(unread);
        }
        self.read(|conn| {
            let mut named = account_tags::listed(conn, account)?;
            named.retain(|tag| tag.n_feeds > 0);
            let sql = format!(
                "select tag, {} from subscription_tags where account = $1 {}",
                number_lists::column(conn, "feed"),
                number_lists::grouped_by(conn, "tag")
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params![account.0])?;
            let mut sums: HashMap<i64, u64> = HashMap::new();
            while let Some(row) = &rows.next()? {
                let sum = sums.entry(row.get(0)?).or_default();
                number_lists::each(conn, row, 1, |feed| {
                    *sum += unread.get(&feed).copied().unwrap_or(0);
                })?;
            }
            let line = |NumberedTag { number, tag, n_feeds }| {
                let unread = sums.get(&number).copied().unwrap_or(0);
                TagFeeds { tag, n_feeds, unread }
            };
            Ok(named.into_iter().map(line).collect())
        })
    }
}

/// Returns feeds in the given order, with the titles and tags of an account.
pub(crate) fn find_all(
    conn: &Connection,
    account: AccountId,
    feeds: &[FeedId],
) -> Result<Vec<FeedRow>, DbError> {
    let mut found = rows::find_all(conn, feeds)?;
    if account == AccountId::LOCAL {
        return Ok(found);
    }
    let mut own: HashMap<FeedId, SubscriptionRow> =
        of_feeds(conn, account, feeds)?.into_iter().map(|row| (row.feed, row)).collect();
    for feed in &mut found {
        (feed.given_title, feed.tags) = match own.remove(&feed.id) {
            Some(row) => (row.title, row.tags),
            None => {
                feed.hide_private(account);
                (None, Vec::new())
            }
        };
    }
    Ok(found)
}

/// Returns how many feeds of an account are in each state, and how many entries they have.
pub(crate) fn totals(conn: &Connection, account: AccountId) -> Result<(StateCounts, u64), DbError> {
    let sql = format!(
        "select t.state, count(*), cast(sum(t.entries) as bigint) from subscriptions s \
         join {} t on t.feed = s.feed where s.account = $1 group by t.state",
        dialect::feed_orders(conn)
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![account.0])?;
    let (mut states, mut n_entries) = (StateCounts::default(), 0);
    while let Some(row) = &rows.next()? {
        states.add(FeedState::read(row, 0)?, count(row, 1)?);
        n_entries += count(row, 2)?;
    }
    Ok((states, n_entries))
}

/// Returns the feeds of an account that have a tag, and a text in their title, address or tags. An
/// account has few feeds, so they are compared one by one.
pub(crate) fn matching(
    conn: &Connection,
    account: AccountId,
    text: &str,
    tag: Option<&str>,
) -> Result<Vec<FeedId>, DbError> {
    let own: Vec<FeedId> = match tag {
        Some(tag) => scope::tagged(conn, account, tag)?.into_iter().collect(),
        None => scope::read_feeds(conn, account)?.into_list().into_iter().flatten().collect(),
    };
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return Ok(own);
    }
    let fits = |row: &FeedRow| {
        let titles = [row.given_title.as_deref(), row.facts.title.as_deref()];
        let mut texts = titles.into_iter().flatten().chain(row.tags.iter().map(String::as_str));
        row.location.url.as_str().to_lowercase().contains(&text)
            || texts.any(|one| one.to_lowercase().contains(&text))
    };
    let rows = find_all(conn, account, &own)?;
    Ok(rows.iter().filter(|row| fits(row)).map(|row| row.id).collect())
}
