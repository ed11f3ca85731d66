//! The sites of feeds, the sites that their entries link to, and the feeds that such sites name.

use std::collections::HashMap;

use feed::{FeedId, Time, site_of};

use crate::db::columns::count;
use crate::db::sql::{Connection, Value, params};
use crate::error::DbError;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, Store, StoreError};

/// Feeds whose site is written in one transaction.
const WRITTEN_AT_ONCE: usize = 500;
/// Links that are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: i64 = 5000;
/// Feeds of the account that a reason names.
const NAMED_MAX: i64 = 3;
/// Sites for which a reader is looked for in one search.
const CANDIDATES_MAX: i64 = 5000;
/// A site with more feeds on the instance is a platform of many authors.
const SITE_FEEDS_MAX: i64 = 10;

/// A site that feeds of the instance link to and whose page is to be searched for feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteCandidate {
    pub site: String,
    /// Scheme and host of a link to it.
    pub origin: String,
}

/// A feed that the page of a site names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFeed {
    pub site: String,
    pub url: String,
    pub title: Option<String>,
}

/// A site that several feeds of an account link to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteLinks {
    pub site: String,
    pub n_feeds: u64,
    /// The feeds that linked to it last, at most three.
    pub feeds: Vec<FeedId>,
}

impl Store {
    /// Notes the site of each feed, by its page or else by its address. Feeds with secrets have
    /// none.
    pub fn note_feed_sites(&self) -> Result<usize, StoreError> {
        let changed = self.read(|conn| {
            let sql = "select f.id, coalesce(f.site, ''), f.url, n.site from feeds f \
                       left join feed_sites n on n.feed = f.id \
                       where f.id not in (select feed from private_feeds)";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.scan([])?;
            let mut changed = Vec::new();
            while let Some(row) = &rows.next()? {
                let (page, url): (String, String) = (row.get(1)?, row.get(2)?);
                let known: Option<String> = row.get(3)?;
                let site = site_of(&page).or_else(|| site_of(&url));
                if let Some(site) = site.filter(|site| known.as_ref() != Some(site)) {
                    changed.push((FeedId(row.get(0)?), site));
                }
            }
            Ok(changed)
        })?;
        for part in changed.chunks(WRITTEN_AT_ONCE) {
            let part = part.to_vec();
            self.write(move |conn| {
                let sql = "insert into feed_sites (feed, site) \
                           select id, $1 from feeds where id = $2 \
                           on conflict (feed) do update set site = excluded.site";
                let mut statement = conn.prepare_cached(sql)?;
                for (feed, site) in &part {
                    statement.execute(params![site, feed.0])?;
                }
                Ok(())
            })?;
        }
        Ok(changed.len())
    }

    /// Returns sites that at least `feeds_min` feeds of one person linked to since a time, that
    /// this person does not read, and whose page was not searched since another time.
    pub fn site_candidates(
        &self,
        feeds_min: u64,
        linked_since: Time,
        looked_since: Time,
        limit: u32,
    ) -> Result<Vec<SiteCandidate>, StoreError> {
        let (min, since) = (feeds_min.cast_signed(), linked_since.millis());
        self.read(|conn| {
            let sql = "select l.site, max(l.origin) from linked_sites l where l.linked_at >= $1 \
                       and not exists (select 1 from site_looks k \
                        where k.site = l.site and k.looked_at >= $2) \
                       group by l.site having count(*) >= $3 order by count(*) desc, l.site \
                       limit $4";
            let mut statement = conn.prepare_cached(sql)?;
            let values = [since, looked_since.millis(), min, CANDIDATES_MAX];
            let rows = statement.query_map(values, |row| {
                Ok(SiteCandidate { site: row.get(0)?, origin: row.get(1)? })
            })?;
            let found: Vec<SiteCandidate> = rows.collect::<Result<_, _>>()?;
            let wanted = wanted(conn, &found, since, min)?;
            let wanted = found.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
            Ok(wanted.map(|(site, _)| site).take(limit as usize).collect())
        })
    }

    /// Stores the feeds that the page of a site names; none if it could not be read.
    pub fn record_site_look(
        &self,
        site: &str,
        feeds: Vec<SiteFeed>,
        at: Time,
    ) -> Result<(), StoreError> {
        let site = site.to_owned();
        self.write(move |conn| {
            let sql = "insert into site_looks (site, looked_at) values ($1, $2) \
                       on conflict (site) do update set looked_at = excluded.looked_at";
            conn.execute(sql, params![site, at.millis()])?;
            conn.execute("delete from site_feeds where site = $1", [site.as_str()])?;
            let sql = "insert into site_feeds (site, place, url, title) values ($1, $2, $3, $4)";
            for (place, one) in feeds.iter().enumerate() {
                conn.execute(sql, params![site, place as i64, one.url, one.title])?;
            }
            Ok(())
        })
    }

    /// Returns how many sites were looked at since a time.
    pub fn n_site_looks(&self, since: Time) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from site_looks where looked_at >= $1";
            Ok(conn.prepare_cached(sql)?.query_row([since.millis()], |row| count(row, 0))?)
        })
    }

    /// Forgets links from before a time, and the sites that were not looked at since.
    pub fn forget_links(&self, before: Time) -> Result<(), StoreError> {
        let before = before.millis();
        let old = "select 1 from linked_sites where linked_at < $1 limit 1";
        while self.read(|conn| Ok(conn.prepare_cached(old)?.exists([before])?))? {
            self.write(move |conn| {
                let sql = "delete from linked_sites where linked_at < $1 and feed in \
                           (select feed from linked_sites where linked_at < $1 \
                            order by linked_at limit $2)";
                Ok(conn.execute(sql, [before, FORGOTTEN_AT_ONCE])?)
            })?;
        }
        let old = "select 1 from site_looks where looked_at < $1 limit 1";
        if self.read(|conn| Ok(conn.prepare_cached(old)?.exists([before])?))? {
            self.write(move |conn| {
                Ok(conn.execute("delete from site_looks where looked_at < $1", [before])?)
            })?;
        }
        Ok(())
    }

    /// Returns the sites that most feeds of an account linked to since a time, at least
    /// `feeds_min`. The account does not read them, and their feeds are known.
    pub fn linked_sites_of(
        &self,
        account: AccountId,
        feeds_min: u64,
        since: Time,
        limit: u32,
    ) -> Result<Vec<SiteLinks>, StoreError> {
        self.read(|conn| {
            let own = own_feeds(account);
            let sql = format!(
                "select l.site, count(*) from linked_sites l where l.feed in ({own}) \
                 and l.linked_at >= $2 \
                 and exists (select 1 from site_feeds f where f.site = l.site) \
                 and not exists (select 1 from feed_sites o where o.site = l.site \
                  and o.feed in ({own})) \
                 group by l.site having count(*) >= $3 order by count(*) desc, l.site limit $4"
            );
            let values = params![account.0, since.millis(), feeds_min.cast_signed(), limit];
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map(values, |row| {
                Ok(SiteLinks { site: row.get(0)?, n_feeds: count(row, 1)?, feeds: Vec::new() })
            })?;
            let mut found: Vec<SiteLinks> = rows.collect::<Result<_, _>>()?;
            let sql = format!(
                "select l.feed from linked_sites l where l.feed in ({own}) \
                 and l.site = $2 and l.linked_at >= $3 order by l.linked_at desc, l.feed limit $4"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            for site in &mut found {
                let values = params![account.0, site.site, since.millis(), NAMED_MAX];
                let rows = statement.query_map(values, |row| row.get(0).map(FeedId))?;
                site.feeds = rows.collect::<Result<_, _>>()?;
            }
            Ok(found)
        })
    }

    /// Returns the feeds that the pages of these sites name, in the order of the pages.
    pub fn site_feeds(&self, sites: &[String]) -> Result<Vec<SiteFeed>, StoreError> {
        self.read(|conn| {
            let sql = "select url, title from site_feeds where site = $1 order by place";
            let keys: Vec<Value<'_>> = sites.iter().map(|site| Value::Text(site)).collect();
            Ok(conn.prepare_cached(sql)?.each(&keys, &[], |place, row| {
                let (url, title) = (row.get(0)?, row.get(1)?);
                Ok(SiteFeed { site: sites[place].clone(), url, title })
            })?)
        })
    }

    /// Returns the sites of the feeds of an account, with one of its feeds. Platforms with many
    /// feeds on the instance are left out.
    pub fn sites_of(&self, account: AccountId) -> Result<HashMap<String, FeedId>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select s.site, min(s.feed) from feed_sites s where s.feed in ({}) and \
                 (select count(*) from feed_sites o where o.site = s.site) <= $2 group by s.site",
                own_feeds(account)
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([account.0, SITE_FEEDS_MAX], |row| {
                Ok((row.get(0)?, FeedId(row.get(1)?)))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns feeds of the instance on the sites that an account reads, which it does not read.
    /// Each belongs to the instance, or at least `people_min` people subscribe to it.
    pub fn feeds_of_own_sites(
        &self,
        account: AccountId,
        people_min: u64,
        limit: u32,
    ) -> Result<Vec<(FeedId, String)>, StoreError> {
        self.read(|conn| {
            let own = own_feeds(account);
            let sql = format!(
                "select o.feed, o.site from feed_sites o join feeds f on f.id = o.feed \
                 left join feed_popularity p on p.feed = o.feed \
                 where o.site in (select m.site from feed_sites m where m.feed in ({own})) \
                 and o.feed not in ({own}) and o.feed not in (select feed from private_feeds) \
                 and (f.of_instance = 1 or p.subscribers >= $2) \
                 and (select count(*) from feed_sites c where c.site = o.site) <= $3 \
                 order by coalesce(p.subscribers, 0) desc, o.feed limit $4"
            );
            let values = params![account.0, people_min.cast_signed(), SITE_FEEDS_MAX, limit];
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map(values, |row| Ok((FeedId(row.get(0)?), row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The feeds of account `$1`, as a subquery. The person at the machine reads all feeds.
fn own_feeds(account: AccountId) -> &'static str {
    match account {
        AccountId::LOCAL => "select id from feeds where $1 = 0",
        _ => "select feed from subscriptions where account = $1",
    }
}

/// Returns for each site whether a person who does not read it has enough feeds that link to it.
fn wanted(
    conn: &Connection,
    sites: &[SiteCandidate],
    since: i64,
    feeds_min: i64,
) -> Result<Vec<bool>, DbError> {
    let keys: Vec<Value<'_>> = sites.iter().map(|one| Value::Text(&one.site)).collect();
    let with_accounts = has_accounts(conn)?;
    let sql = match with_accounts {
        true => {
            "select s.account from linked_sites l join subscriptions s on s.feed = l.feed \
             where l.site = $1 and l.linked_at >= $2 and not exists \
             (select 1 from feed_sites o join subscriptions t on t.feed = o.feed \
              where o.site = $1 and t.account = s.account) \
             group by s.account having count(*) >= $3 limit 1"
        }
        // The person at the machine reads all feeds.
        false => "select feed from feed_sites where site = $1 limit 1",
    };
    let others = [Value::Int(since), Value::Int(feeds_min)];
    let others = if with_accounts { &others[..] } else { &[] };
    let mut wanted = vec![!with_accounts; sites.len()];
    for place in conn.prepare_cached(sql)?.each(&keys, others, |place, _| Ok(place))? {
        wanted[place] = with_accounts;
    }
    Ok(wanted)
}
