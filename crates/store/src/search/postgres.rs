//! The index of words on PostgreSQL: a `tsvector` for each entry, and a GIN index over them.

use std::fmt::Write as _;

use feed::{EntryId, SearchExpression, Time};

use super::SearchWords;
use super::tsquery::WordQuery;
use super::tsvector::{WordList, block_of, block_start, block_word};
use crate::db::postgres::{Parameter, PgConnection};
use crate::db::sql::{Connection, Result, Value};

/// Entry numbers that a search reads one by one before it asks the GIN index. Most searches are for
/// a common word and end here. The index would collect the matches of a whole block.
const NEWEST: i64 = 1024;

/// Entries that the index collects at once. If there are more, the search looks at fewer blocks.
const RARE: u32 = 500;

/// Blocks that are searched at once, if the blocks before had no match. They are 130,000 entries.
/// Before the first such step, the search asks once for all older blocks.
const BLOCKS_MAX: i64 = 8;

/// Adds or replaces entries, each of them once. An entry that was deleted or edited meanwhile must
/// not keep its old words: the first is left out, the second marked to be indexed again.
pub(super) fn put(conn: &PgConnection, entries: &[SearchWords]) -> Result<()> {
    let lists: Vec<WordList> =
        entries.iter().map(|words| WordList::new(&words.title, &words.body)).collect();
    let ids: Vec<Value<'_>> = entries.iter().map(|words| Value::Int(words.entry.0)).collect();
    let literals = entries.iter().zip(&lists).map(|(words, list)| {
        let block = block_word(block_of(words.entry.0));
        format!("{} {block}", list.literal)
    });
    let literals: Vec<String> = literals.collect();
    let literals: Vec<Value<'_>> = literals.iter().map(|text| Value::Text(text)).collect();
    let long: Vec<Value<'_>> =
        lists.iter().map(|list| Value::Int(i64::from(list.is_long))).collect();
    let edited = |words: &SearchWords| words.edited_at.map_or(Value::Null, edit_time);
    let edited: Vec<Value<'_>> = entries.iter().map(edited).collect();
    let articles = entries.iter().map(|words| words.article_at.map_or(Value::Null, edit_time));
    let articles: Vec<Value<'_>> = articles.collect();
    let (ids, edited) = (Parameter::List(&ids), Parameter::List(&edited));
    conn.execute_lists(
        "insert into search (entry, words, is_long) \
         select e.id, n.words::tsvector, n.is_long \
         from unnest($1::bigint[], $2::text[], $3::boolean[]) as n (entry, words, is_long) \
         join entries e on e.id = n.entry \
         on conflict (entry) do update set words = excluded.words, is_long = excluded.is_long",
        &[ids, Parameter::List(&literals), Parameter::List(&long)],
    )?;
    conn.execute_lists("delete from search_stale where entry = any($1::bigint[])", &[ids])?;
    conn.execute_lists(
        "insert into search_stale (entry) select e.id \
         from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as n (entry, edited_at, article_at) \
         join entries e on e.id = n.entry \
         left join articles a on a.entry = e.id and a.why_not is null \
         where e.edited_at is distinct from n.edited_at \
         or a.fetched_at is distinct from n.article_at",
        &[ids, edited, Parameter::List(&articles)],
    )?;
    Ok(())
}

fn edit_time(at: Time) -> Value<'static> {
    Value::Int(at.millis())
}

pub(super) fn remove(conn: &PgConnection, entries: &[EntryId]) -> Result<()> {
    let ids: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let ids = Parameter::List(&ids);
    conn.execute_lists("delete from search where entry = any($1::bigint[])", &[ids])?;
    conn.execute_lists("delete from search_stale where entry = any($1::bigint[])", &[ids])?;
    Ok(())
}

/// Returns the entries below a number that may fit, the newest first.
pub(super) fn candidates(
    conn: &Connection,
    expression: &SearchExpression,
    below: i64,
    limit: u32,
) -> Result<Vec<EntryId>> {
    let query = WordQuery::new(expression);
    let sql = "select coalesce(min(entry), 0), coalesce(max(entry), 0) from search";
    let (first, last): (i64, i64) =
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut below = below.min(last + 1);
    let one_by_one = below - NEWEST;
    let found = ask(conn, newest, &query, None, (one_by_one, below), limit)?;
    below = one_by_one;
    if found.len() as u64 >= u64::from(limit) || below <= first {
        return Ok(found);
    }
    walk_blocks(conn, &query, (first, below), limit, found)
}

/// Returns those of some entries that may fit, in their order, up to the limit.
pub(super) fn among(
    conn: &Connection,
    expression: &SearchExpression,
    entries: &[EntryId],
    limit: u32,
) -> Result<Vec<EntryId>> {
    let query = WordQuery::new(expression);
    let by_index =
        "select entry from search where entry = $1 and words @@ (select $2::text::tsquery)";
    let (sql, words) = match &query.exact {
        None => (by_index.to_owned(), vec![Value::Text(&query.loose)]),
        Some(exact) => (
            format!("{by_index} and (is_long or words @@ (select $3::text::tsquery))"),
            vec![Value::Text(&query.loose), Value::Text(exact)],
        ),
    };
    let mut statement = conn.prepare_cached(&sql)?;
    let mut found = Vec::new();
    for some in entries.chunks(NEWEST as usize) {
        let keys: Vec<Value<'_>> = some.iter().map(|entry| Value::Int(entry.0)).collect();
        found.extend(statement.each(&keys, &words, |_, row| row.get(0).map(EntryId))?);
        if found.len() >= limit as usize {
            break;
        }
    }
    found.truncate(limit as usize);
    Ok(found)
}

/// Searches block by block, the newest first. The steps grow while the blocks have no match. The
/// index collects all matches of a step. So after a step with too many matches, its blocks are
/// searched one by one.
fn walk_blocks(
    conn: &Connection,
    query: &WordQuery,
    (first, mut below): (i64, i64),
    limit: u32,
    mut found: Vec<EntryId>,
) -> Result<Vec<EntryId>> {
    let (mut n_blocks, mut may_be_rare) = (1, true);
    while found.len() < limit as usize && below > first {
        if n_blocks == BLOCKS_MAX && std::mem::take(&mut may_be_rare) {
            let rest = ask(conn, any, query, None, (first, below), RARE)?;
            if rest.len() < RARE as usize {
                add_newest(&mut found, rest, limit);
                return Ok(found);
            }
        }
        let last = block_of(below - 1);
        let start = block_start(last - n_blocks + 1).max(first);
        let blocks: Vec<String> = (0..n_blocks).map(|n| block_word(last - n)).collect();
        let blocks = Some(blocks.join(" | "));
        let mut more = ask(conn, any, query, blocks.as_deref(), (start, below), RARE)?;
        if more.len() == RARE as usize && n_blocks > 1 {
            n_blocks = 1;
            continue;
        }
        if more.len() == RARE as usize {
            more = ask(conn, newest_found, query, blocks.as_deref(), (start, below), limit)?;
        }
        n_blocks = if more.is_empty() { (n_blocks * 2).min(BLOCKS_MAX) } else { 1 };
        below = start;
        add_newest(&mut found, more, limit);
    }
    Ok(found)
}

/// Adds the newest of some entries, up to the limit.
fn add_newest(found: &mut Vec<EntryId>, mut more: Vec<EntryId>, limit: u32) {
    more.sort_unstable_by(|one, other| other.cmp(one));
    found.extend(more);
    found.truncate(limit as usize);
}

/// Asks for entries from the first to below the second number, of all blocks or of some.
fn ask(
    conn: &Connection,
    sql: fn(&str) -> String,
    query: &WordQuery,
    blocks: Option<&str>,
    (first, below): (i64, i64),
    limit: u32,
) -> Result<Vec<EntryId>> {
    // A query in a `select` of its own is read once, not once for each row. It also keeps the
    // planner from guessing how common the words are.
    let mut condition = "words @@ (select $1::text::tsquery)".to_owned();
    let mut values = vec![
        Value::Text(&query.loose),
        Value::Int(first),
        Value::Int(below),
        Value::Int(i64::from(limit)),
    ];
    if let Some(blocks) = blocks {
        // Two conditions let the index skip from one block's entries to the matches and back. As
        // parts of one query, it would look at every entry of the blocks.
        values.push(Value::Text(blocks));
        let _ = write!(condition, " and words @@ (select ${}::text::tsquery)", values.len());
    }
    if let Some(exact) = &query.exact {
        values.push(Value::Text(exact));
        let n = values.len();
        let _ = write!(condition, " and (is_long or words @@ (select ${n}::text::tsquery))");
    }
    let mut statement = conn.prepare_cached(&sql(&condition))?;
    let read = |row: &crate::db::sql::Row<'_>| row.get(0).map(EntryId);
    statement.query_map(&values[..], read)?.collect()
}

/// Tests entries one by one, the newest first.
fn newest(condition: &str) -> String {
    format!(
        "select entry from (select entry, words, is_long from search \
         where entry >= $2 and entry < $3 order by entry desc offset 0) as newest \
         where {condition} order by entry desc limit $4"
    )
}

/// Asks the GIN index, and stops at the limit. The entries have no order.
fn any(condition: &str) -> String {
    format!("with {} limit $4) select entry from found", by_index(condition))
}

/// Asks the GIN index for all entries, and returns the newest.
fn newest_found(condition: &str) -> String {
    format!("with {}) select entry from found order by entry desc limit $4", by_index(condition))
}

/// A query of the GIN index without its closing bracket. Without the fence of `materialized`, the
/// planner would read the entries one by one.
fn by_index(condition: &str) -> String {
    format!(
        "found as materialized (select entry from search where {condition} \
         and entry + 0 >= $2 and entry + 0 < $3"
    )
}

#[cfg(test)]
mod tests {
    use feed::{FeedUrl, Time};

    use super::*;
    use crate::{NewFeed, OpenMode, Store, testing};

    const N_ENTRIES: i64 = 70_000;

    /// Entries whose numbers are multiples of a step. `often` is in every third, `early` in the
    /// first 20,000, `rare` in every 9,000th.
    fn filled(folder: &std::path::Path, step: i64) -> Store {
        let location = testing::location(folder);
        let store = Store::open(location.clone(), OpenMode::ReadWrite).unwrap();
        let url = FeedUrl::parse("https://example.org/").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        store.add_feed(&new, Time::from_secs(0)).unwrap();
        let sql = format!(
            "insert into entries (id, feed, key, published_at, seen_at, content_hash) \
             select n * {step}, 1, '', 0, 0, 0 from generate_series(1, {N_ENTRIES}) as n; \
             insert into search (entry, words, is_long) \
             select n * {step}, concat(''' ', n * {step} / 16384, '''', \
             case when n % 3 = 0 then ' often:1B' end, case when n <= 20000 then ' early:2B' end, \
             case when n % 9000 = 0 then ' rare:3B' end)::tsvector, false \
             from generate_series(1, {N_ENTRIES}) as n"
        );
        testing::execute(&location, &sql);
        store
    }

    #[test]
    fn common_and_rare_words_are_found_in_order_wherever_they_are() {
        if !testing::is_postgres() {
            return;
        }
        // All entries are in five blocks, or in 86. A search of so many asks for all older ones.
        for step in [1, 20] {
            let folder = tempfile::tempdir().unwrap();
            check_all_searches(&filled(folder.path(), step), step);
        }
    }

    fn check_all_searches(store: &Store, step: i64) {
        let word = |word| SearchExpression::phrase(None, [word], false).unwrap();
        let phrase = |words: [&str; 2]| SearchExpression::phrase(None, words, false).unwrap();
        let both = SearchExpression::all(vec![word("often"), word("early")]).unwrap();
        type SearchCase = (SearchExpression, fn(i64) -> bool);
        let cases: [SearchCase; 5] = [
            (word("often"), |n| n % 3 == 0),
            (word("early"), |n| n <= 20_000),
            (word("rare"), |n| n % 9000 == 0),
            (both, |n| n % 3 == 0 && n <= 20_000),
            (phrase(["often", "early"]), |n| n % 3 == 0 && n <= 20_000),
        ];
        for (expression, fits) in cases {
            for below in [i64::MAX, 60_000 * step, 16_384, 16_385, 4000 * step, 3, 0] {
                for limit in [1, 50, 6000] {
                    let found = store.read(|conn| Ok(candidates(conn, &expression, below, limit)?));
                    let found: Vec<i64> = found.unwrap().iter().map(|entry| entry.0).collect();
                    let all = (1..=N_ENTRIES).rev();
                    let expect = all.filter(|n| n * step < below && fits(*n)).map(|n| n * step);
                    let expect: Vec<i64> = expect.take(limit as usize).collect();
                    assert_eq!(found, expect, "{expression:?} below {below}, {limit}");
                }
            }
        }
    }

    #[test]
    fn the_entries_of_an_account_are_tested_from_the_newest_on() {
        if !testing::is_postgres() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path(), 1);
        let word = |word| SearchExpression::phrase(None, [word], false).unwrap();
        let phrase = SearchExpression::phrase(None, ["often", "early"], false).unwrap();
        let own: Vec<EntryId> = (1..=10_000).rev().map(|n| EntryId(n * 6)).collect();
        for (expression, expect) in [(word("often"), 10_000), (word("rare"), 6), (phrase, 3333)] {
            let all = store.read(|conn| Ok(among(conn, &expression, &own, 20_000)?)).unwrap();
            assert_eq!(all.len(), expect, "{expression:?}");
            assert!(all.is_sorted_by(|one, next| one > next));
            let some = store.read(|conn| Ok(among(conn, &expression, &own, 3)?)).unwrap();
            assert_eq!(some, all[..3]);
        }
    }

    #[test]
    fn the_block_of_a_number_is_as_in_the_rows_above() {
        assert_eq!(block_word(block_of(16_384)), "' 1'");
        assert_eq!((block_of(16_383), block_start(1)), (0, 16_384));
    }
}
