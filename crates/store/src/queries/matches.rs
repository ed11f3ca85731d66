//! Shows the new entries of a poll to the matcher and stores its matches, the state of the queries,
//! and the feed's share of relevant entries. Called inside the writer's transaction.

use std::collections::HashSet;

use crate::db::dialect;
use crate::db::sql::{Connection, OptionalExtension, Row, params};
use feed::{EntryId, FeedId, Item, Time};

use crate::error::DbError;
use crate::feeds::rows;
use crate::matching::scope::{self, PrivateAddress};
use crate::matching::{
    ArrivedArticle, ArrivedEntry, EntryMatcher, MatcherSlot, QueryMatch, QueryStateChange,
    RelevantShare, change_states,
};
use crate::{AccountId, EntryFacts, QueryId, Store, StoreError};

/// The data of a feed that queries use.
pub(crate) struct FeedView {
    pub url: String,
    pub language: Option<String>,
    pub tags: Vec<String>,
}

impl FeedView {
    pub fn read(conn: &Connection, feed: FeedId) -> Result<FeedView, DbError> {
        let sql = "select f.url, f.language, p.owner, p.url from feeds f \
                   left join private_feeds p on p.feed = f.id where f.id = $1";
        let found = conn
            .prepare_cached(sql)?
            .query_row([feed.0], |row| Ok((row.get(0)?, row.get(1)?, private_address(row, 2)?)))
            .optional()?;
        let (url, language, private) = found.ok_or(StoreError::NoFeed(feed))?;
        let read_by = scope::read_by(conn, feed)?;
        let tags = scope::complete_tags(rows::tags(conn, feed)?, private.as_ref(), read_by);
        Ok(FeedView { url, language, tags })
    }
}

/// Reads two columns: the owner of a private feed and its address.
pub(crate) fn private_address(
    row: &Row<'_>,
    first: usize,
) -> crate::db::sql::Result<Option<PrivateAddress>> {
    let Some(owner) = row.get(first)? else { return Ok(None) };
    Ok(Some(PrivateAddress { owner: AccountId(owner), url: row.get(first + 1)? }))
}

/// A new entry with its number.
#[derive(Clone, Copy)]
pub(crate) struct NewArrival<'a> {
    pub id: EntryId,
    pub item: &'a Item,
    pub facts: &'a EntryFacts,
    pub published_at: Time,
}

/// Matches the new entries of a poll and stores the matches. Returns how many there are.
pub(crate) fn match_new_entries(
    conn: &Connection,
    slot: &MatcherSlot,
    feed: FeedId,
    seen_at: Time,
    new: &[NewArrival<'_>],
) -> Result<u64, DbError> {
    if new.is_empty() {
        return Ok(0);
    }
    let n_matches = slot.with_matcher(conn, |matcher| {
        if matcher.is_empty() {
            return Ok(0);
        }
        let view = FeedView::read(conn, feed)?;
        let before = || Ok(share(conn, feed)?.unwrap_or_default());
        let found = FoundMatches::find(matcher, feed, &view, seen_at, new, before)?;
        for (one, id) in &found.matches {
            add(conn, one, *id)?;
        }
        let matched_by: HashSet<_> = found.matches.iter().map(|(one, _)| one.query).collect();
        wake_receivers(conn, matched_by)?;
        change_states(conn, &found.changes)?;
        match found.share {
            None => {
                let sql = "delete from feed_relevance where feed = $1";
                conn.prepare_cached(sql)?.execute([feed.0])?;
            }
            Some(change) => change_share(conn, feed, change)?,
        }
        Ok(found.matches.len() as u64)
    })?;
    Ok(n_matches.unwrap_or(0))
}

/// The matches of the new entries of one feed, and the changes that they make.
pub(crate) struct FoundMatches {
    /// In the order of the outboxes.
    pub matches: Vec<(QueryMatch, EntryId)>,
    pub changes: Vec<QueryStateChange>,
    /// The feed's share of relevant entries. `None`: no query reads the feed, so all its entries
    /// count as relevant.
    pub share: Option<ShareChange>,
}

/// A feed's share of relevant entries before and after a poll. Another process may store a
/// judgement meanwhile, so the poll adds the difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShareChange {
    pub before: RelevantShare,
    pub after: RelevantShare,
}

impl FoundMatches {
    /// Shows new entries to the matcher. `before` returns the feed's share before them.
    pub fn find(
        matcher: &mut dyn EntryMatcher,
        feed: FeedId,
        view: &FeedView,
        seen_at: Time,
        new: &[NewArrival<'_>],
        before: impl FnOnce() -> Result<RelevantShare, DbError>,
    ) -> Result<FoundMatches, DbError> {
        let (mut matches, mut n_relevant) = (Vec::new(), 0);
        for new in new {
            let (id, entry) = (new.id, arrival(feed, view, new, seen_at));
            let found = matcher.match_entry(&entry);
            n_relevant += u32::from(!found.is_empty());
            matches.extend(found.into_iter().map(|one| (one, id)));
        }
        let changes = matcher.take_changes();
        let share = if matcher.reads(&view.url, &view.tags) {
            let n_seen = u32::try_from(new.len()).unwrap_or(u32::MAX);
            let before = before()?;
            let after = matcher.decayed_share(before, n_seen, n_relevant);
            Some(ShareChange { before, after })
        } else {
            None
        };
        Ok(FoundMatches { matches, changes, share })
    }
}

fn arrival<'a>(
    feed: FeedId,
    view: &'a FeedView,
    new: &NewArrival<'a>,
    seen_at: Time,
) -> ArrivedEntry<'a> {
    let NewArrival { id, item, facts, published_at } = *new;
    let language = facts.language.as_ref().map(|language| language.tag.as_str());
    let expected = facts.wants_article && item.link.is_some();
    ArrivedEntry {
        id,
        feed,
        feed_url: &view.url,
        tags: &view.tags,
        language: language.or(item.language.as_deref()).or(view.language.as_deref()),
        topic: facts.topic,
        title: item.title.as_deref(),
        summary: item.summary.as_deref(),
        content: item.content.as_deref(),
        author: item.author.as_deref(),
        categories: &item.categories,
        link: item.link.as_deref(),
        article: if expected { ArrivedArticle::Expected } else { ArrivedArticle::Absent },
        published_at,
        seen_at,
    }
}

/// Stores a match at the next position of its query.
pub(crate) fn add(conn: &Connection, kept: &QueryMatch, entry: EntryId) -> Result<(), DbError> {
    let sql = "update queries set last_position = last_position + 1 where id = $1 \
               returning last_position";
    let position: i64 = conn.prepare_cached(sql)?.query_row([kept.query.0], |row| row.get(0))?;
    let sql = "insert into query_entries (query, position, entry, partner) \
               values ($1, $2, $3, $4)";
    let partner = kept.partner.map(|id| id.0);
    conn.prepare_cached(sql)?.execute(params![kept.query.0, position, entry.0, partner])?;
    Ok(())
}

/// Returns the names of the queries that have kept an entry.
pub(crate) fn kept_by(conn: &Connection, entry: EntryId) -> Result<Vec<String>, DbError> {
    let sql = "select distinct q.name from query_entries m join queries q on q.id = m.query \
               where m.entry = $1 order by q.name";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([entry.0], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Marks the receivers of these queries as waiting. Called once for each poll, not for each match.
pub(crate) fn wake_receivers(
    conn: &Connection,
    queries: impl IntoIterator<Item = QueryId>,
) -> Result<(), DbError> {
    let sql = "update deliveries set waits = 1 where query = $1 and waits = 0";
    let mut statement = conn.prepare_cached(sql)?;
    for query in queries {
        statement.execute([query.0])?;
    }
    Ok(())
}

/// SQL assignments that change a share. Each pair names the columns `seen` and `kept`. A share that
/// nobody has changed meanwhile gets exactly the new values.
pub(crate) fn share_assignments(stored: &str, before: [&str; 2], after: [&str; 2]) -> String {
    let ([seen_before, kept_before], [seen, kept]) = (before, after);
    let seen = format!(
        "case when {stored}.seen = {seen_before} then {seen} \
         else {stored}.seen + ({seen} - {seen_before}) end"
    );
    let kept = format!(
        "case when {stored}.kept = {kept_before} then {kept} \
         else {stored}.kept + ({kept} - {kept_before}) end"
    );
    format!(
        "seen = {seen}, kept = case when {kept} < 0 then 0 \
         when {kept} > {seen} then {seen} else {kept} end"
    )
}

fn change_share(conn: &Connection, feed: FeedId, change: ShareChange) -> Result<(), DbError> {
    let ShareChange { before, after } = change;
    let assignments =
        share_assignments("feed_relevance", ["$4", "$5"], ["excluded.seen", "excluded.kept"]);
    let sql = format!(
        "insert into feed_relevance (feed, seen, kept) values ($1, $2, $3) \
         on conflict (feed) do update set {assignments}"
    );
    let values = params![feed.0, after.seen, after.kept, before.seen, before.kept];
    conn.prepare_cached(&sql)?.execute(values)?;
    Ok(())
}

fn share(conn: &Connection, feed: FeedId) -> Result<Option<RelevantShare>, DbError> {
    let sql = "select seen, kept from feed_relevance where feed = $1";
    let found = conn
        .prepare_cached(sql)?
        .query_row([feed.0], |row| Ok(RelevantShare { seen: row.get(0)?, kept: row.get(1)? }));
    Ok(found.optional()?)
}

impl Store {
    /// Returns how many entries of a feed were seen and how many were relevant, since queries read
    /// it.
    pub fn share(&self, feed: FeedId) -> Result<Option<RelevantShare>, StoreError> {
        self.read(|conn| share(conn, feed))
    }

    /// Returns whether an account may judge an entry. All queries and polls use the same judgement,
    /// so it is for admins and for the owners of queries that match the entry.
    pub fn may_judge(&self, account: AccountId, entry: EntryId) -> Result<bool, StoreError> {
        let sql = "select 1 from accounts where id = $1 and role = 'admin' union all \
                   select 1 from queries q join query_entries m on m.query = q.id \
                   where q.owner = $1 and m.entry = $2";
        self.read(|conn| {
            let is_found = conn.prepare_cached(sql)?.exists(params![account.0, entry.0])?;
            Ok(account == AccountId::LOCAL || is_found)
        })
    }

    /// Stores a consumer's judgement of an entry. A relevant entry that no query matched counts for
    /// its feed like a match. Returns `false` if the entry does not exist.
    pub fn note_relevance(
        &self,
        entry: EntryId,
        relevant: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            // Two people may judge an entry at once. The answer of the other one must be seen. The
            // process that records does not wait: it inserts rows that refer to the entry.
            let lock = dialect::for_no_key_update(conn);
            let sql = format!("select 1 from entries where id = $1{lock}");
            if !conn.prepare_cached(&sql)?.exists([entry.0])? {
                return Ok(false);
            }
            let sql = "select e.feed, exists (select 1 from query_entries q where q.entry = e.id), \
                       (select r.relevant from relevance r where r.entry = e.id) \
                       from entries e where e.id = $1";
            let (feed, kept, said) = conn.query_row(sql, [entry.0], |row| {
                let said: Option<bool> = row.get(2)?;
                Ok((row.get::<_, u32>(0)?, row.get::<_, bool>(1)?, said))
            })?;
            let sql = "insert into relevance (entry, relevant, at) values ($1, $2, $3) \
                       on conflict (entry) do update set relevant = excluded.relevant, \
                       at = excluded.at";
            conn.execute(sql, params![entry.0, i64::from(relevant), now.millis()])?;
            if said.unwrap_or(kept) != relevant {
                // Added in SQL, because the process that records changes the same row.
                let first: f64 = if relevant { 1.0 } else { 0.0 };
                let step: f64 = if relevant { 1.0 } else { -1.0 };
                let sql = "insert into feed_relevance (feed, seen, kept) values ($1, 1, $2) \
                           on conflict (feed) do update set kept = case \
                           when feed_relevance.kept + $3 < 0 then 0 \
                           when feed_relevance.kept + $3 > feed_relevance.seen \
                           then feed_relevance.seen else feed_relevance.kept + $3 end";
                conn.execute(sql, params![feed, first, step])?;
            }
            Ok(true)
        })
    }
}
