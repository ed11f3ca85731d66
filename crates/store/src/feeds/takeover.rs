//! The first account takes over what belonged to the person at the machine. Accounts that existed
//! before there were subscriptions get what they saw: every feed with its tags.

use feed::{FeedId, FeedUrl};

use crate::db::dialect;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::feeds::{handing_on, private};
use crate::subscriptions::account_tags;
use crate::{AccountId, Store, StoreError};

/// The key in `settings` of the account that gets the queries of the instance. The process that
/// records does this, because its matcher must know the owners.
pub(crate) const HEIR: &str = "heir of queries";

/// The key in `settings` of a store that has the tables of subscriptions, but not their rows.
const PENDING: &str = "subscriptions";

impl Store {
    /// Completes a store from before there were subscriptions, if it is not complete and this
    /// process may do so.
    pub(crate) fn complete_subscriptions(&self) -> Result<(), StoreError> {
        if self.setting(PENDING)?.is_none() {
            return Ok(());
        }
        let done = self.write(|conn| {
            if conn.execute("delete from settings where key = $1", [PENDING])? > 0 {
                migrate(conn)?;
            }
            Ok(())
        });
        match done {
            Err(StoreError::Guest { .. }) => Ok(()),
            other => other,
        }
    }
}

fn migrate(conn: &Connection) -> Result<(), DbError> {
    let brought = "update feeds set of_instance = 0 where exists \
                   (select 1 from feed_tags t where t.feed = feeds.id and t.tag like 'query:%')";
    conn.execute(brought, [])?;
    let sql = "select id from accounts order by case role when 'admin' then 0 else 1 end, id";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| row.get(0).map(AccountId))?;
    let accounts: Vec<AccountId> = rows.collect::<Result<_, _>>()?;
    let Some(&first) = accounts.first() else { return Ok(()) };
    accounts.iter().try_for_each(|account| subscribe_to_all(conn, *account))?;
    own_everything(conn, first)?;
    // Everybody saw every query before.
    let shared = i64::from(accounts.len() > 1);
    conn.execute("update queries set owner = $1, shared = $2", [first.0, shared])?;
    Ok(())
}

/// Gives everything to the first account.
pub(crate) fn take_over(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    subscribe_to_all(conn, account)?;
    own_everything(conn, account)?;
    name_heir(conn, account)
}

/// Prepares the removal of an account: its queries are dropped soon. If it is the last one,
/// everything belongs to the person at the machine again.
pub(crate) fn leave(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "select 1 from accounts where id <> $1 limit 1";
    if conn.prepare_cached(sql)?.exists([account.0])? {
        let sql = "update queries set owner = null, shared = 0, abandoned = 1 where owner = $1";
        conn.execute(sql, [account.0])?;
        // Nobody else may get a feed with a secret of this account.
        let sql = "update feeds set of_instance = 0 where id in \
                   (select feed from private_feeds where owner = $1)";
        conn.execute(sql, [account.0])?;
        return Ok(());
    }
    conn.execute("update queries set owner = null, shared = 0 where owner = $1", [account.0])?;
    let sql = "insert into feed_tags (feed, tag) select s.feed, a.tag from subscription_tags s \
               join account_tags a on a.account = s.account and a.number = s.tag \
               where s.account = $1 on conflict (feed, tag) do nothing";
    conn.execute(sql, [account.0])?;
    let sql = "update feeds set given_title = s.title from subscriptions s \
               where s.feed = feeds.id and s.account = $1 and s.title is not null";
    conn.execute(sql, [account.0])?;
    // The private feeds of accounts that left before are removed soon, unless this account reads
    // them.
    handing_on::take_abandoned(conn)?;
    let sql = "update feeds set readers = null, of_instance = case when exists \
               (select 1 from private_feeds p where p.feed = feeds.id and p.owner <> 0 \
               and p.owner <> $1) then 0 else 1 end";
    conn.execute(sql, [account.0])?;
    let sql = "update private_feeds set owner = 0 where owner = $1 and not exists \
               (select 1 from private_feeds p where p.owner = 0 and p.url = private_feeds.url)";
    conn.execute(sql, [account.0])?;
    name_heir(conn, AccountId::LOCAL)
}

/// Notes that the queries of the instance get another owner; account 0: they belong to the person
/// at the machine.
fn name_heir(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "insert into settings (key, value) values ($1, $2) \
               on conflict (key) do update set value = excluded.value";
    conn.execute(sql, params![HEIR, account.to_string()])?;
    Ok(())
}

/// Returns the account that the queries of the instance wait for, and forgets it.
pub(crate) fn take_heir(conn: &Connection) -> Result<Option<AccountId>, DbError> {
    let sql = "delete from settings where key = $1 returning value";
    let found: Option<String> =
        conn.prepare_cached(sql)?.query_row([HEIR], |row| row.get(0)).optional()?;
    Ok(found.and_then(|text| text.parse().ok()).map(AccountId))
}

fn subscribe_to_all(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "insert into subscriptions (account, feed, title, subscribed_at) \
               select $1, id, given_title, added_at from feeds where not exists \
                (select 1 from query_orphans o where o.feed = feeds.id and o.since is not null)";
    conn.execute(sql, [account.0])?;
    let sql = "insert into account_tags (account, number, tag, made, position) \
               select $1, id, tag, made, \
                row_number() over (order by position is null, position, id) + 1 from tag_numbers \
               where id > 1 and tag not like 'query:%'";
    conn.execute(sql, [account.0])?;
    let last = dialect::last_number(conn, "tag_numbers")?.max(1);
    conn.execute("update accounts set last_tag = $1 where id = $2", [last, account.0])?;
    let sql = "select distinct tag from feed_tags where tag not like 'query:%' order by tag";
    let mut statement = conn.prepare_cached(sql)?;
    let tags: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for tag in tags {
        account_tags::number(conn, account, &tag)?;
    }
    let sql = "insert into subscription_tags (account, tag, feed) \
               select a.account, a.number, t.feed from feed_tags t \
               join account_tags a on a.tag = t.tag where a.account = $1 and exists \
               (select 1 from subscriptions s where s.account = $1 and s.feed = t.feed)";
    conn.execute(sql, [account.0])?;
    Ok(())
}

/// From now on feeds stay while somebody needs them. Those with secrets belong to the account.
fn own_everything(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    conn.execute("update feeds set of_instance = 0", [])?;
    // Only addresses with these characters can hold a secret.
    let sql = "select f.id, f.url, exists (select 1 from fetch_settings s where s.feed = f.id \
               and (s.name in ('cookie', 'login') or s.name like 'header %')) as sealed \
               from feeds f where f.url like '%@%' or f.url like '%=%' \
               or f.id in (select feed from fetch_settings)";
    let mut statement = conn.prepare_cached(sql)?;
    let rows =
        statement.query_map([], |row| Ok((FeedId(row.get(0)?), row.get(1)?, row.get(2)?)))?;
    let feeds: Vec<(FeedId, String, bool)> = rows.collect::<Result<_, _>>()?;
    for (feed, url, has_credentials) in feeds {
        if let Ok(url) = FeedUrl::from_stored(&url)
            && (has_credentials || private::holds_secret(&url))
        {
            private::mark(conn, feed, account, &url)?;
        }
    }
    Ok(())
}
