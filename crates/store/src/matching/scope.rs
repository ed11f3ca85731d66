//! The feeds that a query reads. `ALL FEEDS` and `TAG` in a query of an account mean its own
//! subscriptions. The store gives each feed one more tag for every account that reads it and has
//! queries; the matcher looks for these tags instead. No tag of a person has their first character.

use std::collections::BTreeSet;

use feed::{FeedId, FeedUrl};

use crate::AccountId;
use crate::db::sql::{Connection, params};
use crate::error::DbError;

/// Begins and separates the parts of a tag that stands for the feeds of an account.
const OPEN: char = '\u{1f}';
/// The same for private feeds. Queries that others see read them only by their address.
const PRIVATE: char = '\u{1e}';

/// The owner of a query, and who sees its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryScope {
    /// `None`: the instance. Its queries read every feed that is not private.
    pub owner: Option<AccountId>,
    /// Everybody on the instance sees its matches.
    pub shared: bool,
}

impl QueryScope {
    /// Returns the tags that stand for `ALL FEEDS`, with or without private feeds.
    pub fn all_feeds(self, with_private: bool) -> Vec<String> {
        let Some(owner) = self.owner else { return vec![all(OPEN, AccountId::LOCAL)] };
        separators(with_private).map(|separator| all(separator, owner)).collect()
    }

    /// Returns the tags that stand for a tag of the owner.
    pub fn tag(self, tag: &str, with_private: bool) -> Vec<String> {
        let Some(owner) = self.owner else { return vec![tag.to_owned()] };
        separators(with_private).map(|separator| named(separator, owner, tag)).collect()
    }

    /// Returns the tag that stands for the owner's private feed with an address.
    pub fn private_feed(self, url: &FeedUrl) -> String {
        address(self.owner.unwrap_or(AccountId::LOCAL), url.as_str())
    }

    /// Returns whether the owner sees the matches of another query.
    pub fn may_read(self, other: QueryScope) -> bool {
        // Only the command that saves a query knows who is an admin, and queries of the instance
        // keep nothing that belongs to one account.
        other.owner.is_none() || other.owner == self.owner || other.shared
    }
}

/// Returns the owner of a private feed, which is in one of its tags. `None`: it is not private.
pub fn private_owner(tags: &[String]) -> Option<AccountId> {
    let owner = |tag: &String| {
        let (owner, rest) = tag.strip_prefix(PRIVATE)?.split_once(PRIVATE)?;
        rest.starts_with(PRIVATE).then(|| owner.parse().ok().map(AccountId))?
    };
    tags.iter().find_map(owner)
}

fn separators(with_private: bool) -> impl Iterator<Item = char> {
    [OPEN].into_iter().chain(with_private.then_some(PRIVATE))
}

fn all(separator: char, account: AccountId) -> String {
    format!("{separator}{account}")
}

fn named(separator: char, account: AccountId, tag: &str) -> String {
    format!("{separator}{account}{separator}{tag}")
}

fn address(account: AccountId, url: &str) -> String {
    format!("{PRIVATE}{account}{PRIVATE}{PRIVATE}{url}")
}

/// SQL: a feed `u.feed` is read by an account with queries. One row for each of its tags, or one
/// without a tag.
pub(crate) const READ_BY: &str = "join subscriptions s on s.feed = u.feed \
    and exists (select 1 from queries q where q.owner = s.account) \
    left join subscription_tags t on t.account = s.account and t.feed = s.feed \
    left join account_tags a on a.account = t.account and a.number = t.tag";

/// The private owner of a feed, and its address without the owner.
pub(crate) struct PrivateAddress {
    pub owner: AccountId,
    pub url: String,
}

/// Completes the tags of a feed. `tags` are those of the instance, `read_by` the accounts that read
/// it, each with one tag.
pub(crate) fn complete_tags(
    tags: Vec<String>,
    private: Option<&PrivateAddress>,
    read_by: impl IntoIterator<Item = (AccountId, Option<String>)>,
) -> Vec<String> {
    let owner = private.map(|private| private.owner);
    let is_of_account = owner.is_some_and(|owner| owner != AccountId::LOCAL);
    let separator = if owner.is_some() { PRIVATE } else { OPEN };
    let mut found: BTreeSet<String> = BTreeSet::new();
    if !is_of_account {
        found.extend(tags);
        found.insert(all(OPEN, AccountId::LOCAL));
    }
    for (account, tag) in read_by {
        found.insert(all(separator, account));
        found.extend(tag.map(|tag| named(separator, account, &tag)));
    }
    if let Some(PrivateAddress { owner, url }) = private {
        found.insert(address(*owner, url));
    }
    found.into_iter().collect()
}

/// Returns the accounts with queries that read a feed, with its tags there.
pub(crate) fn read_by(
    conn: &Connection,
    feed: FeedId,
) -> Result<Vec<(AccountId, Option<String>)>, DbError> {
    let sql =
        format!("select s.account, a.tag from (select cast($1 as bigint) as feed) u {READ_BY}");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows =
        statement.query_map(params![feed.0], |row| Ok((AccountId(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
