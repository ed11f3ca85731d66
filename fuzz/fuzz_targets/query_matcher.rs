//! Compares many queries at once with the same queries one by one, without an index. Both must keep
//! the same entries, before and after learning, and after queries were added and removed.
#![no_main]

use feed::{EntryId, FeedId, Time};
use libfuzzer_sys::fuzz_target;
use query::{Catalog, Condition, Create, Entry, Matcher, QueryId, Scratch, Statement, States};

/// A query without a word to find it by: it is checked for every entry.
fn unindexed(create: &Create) -> query::Query {
    let mut query = create.query.clone();
    query.condition = query
        .condition
        .map(|condition| Condition::Not(Box::new(Condition::Not(Box::new(condition)))));
    query
}

fn entry<'a>(n: i64, text: &'a str, tags: &'a [String]) -> Entry<'a> {
    let (title, content) = text.split_at(text.floor_char_boundary(text.len() / 3));
    let mut entry = Entry::bare(EntryId(n), FeedId(1), "https://e.org/f", Time::from_secs(n));
    entry.title = Some(title);
    entry.content = Some(content);
    entry.author = text.split(' ').next();
    entry.link = text.lines().last();
    entry.language = Some("de-AT");
    entry.published = Some(Time::from_secs(0));
    entry.tags = tags;
    entry
}

fuzz_target!(|text: &str| {
    // Statements, then a line of dashes, then entries, one in each paragraph.
    let Some((file, entries)) = text.split_once("\n----\n") else { return };
    let Ok(statements) = query::parse(file) else { return };
    // Names must be unique and free of cycles, as the catalog promises.
    let replaces = |s: &Statement| !matches!(s, Statement::Create(create) if !create.replace);
    if statements.iter().any(replaces) || Catalog::new().apply(&statements).is_err() {
        return;
    }
    let creates: Vec<&Create> = statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Create(create) => Some(&**create),
            Statement::Drop(_) => None,
        })
        .take(20)
        .collect();
    let mut together = Matcher::new();
    let mut apart = Matcher::new();
    for (n, create) in creates.iter().enumerate() {
        together.insert(QueryId(n as u32), &create.name.text, &create.query);
        apart.insert(QueryId(n as u32), &create.name.text, &unindexed(create));
    }
    let tags = ["news".to_owned()];
    let (mut states_a, mut scratch_a) = (States::default(), Scratch::new());
    let (mut states_b, mut scratch_b) = (States::default(), Scratch::new());
    for (n, text) in entries.split("\n\n").take(20).enumerate() {
        let entry = entry(n as i64 + 1, text, &tags);
        let a = together.matches(&entry, &mut states_a, &mut scratch_a).to_vec();
        let b = apart.matches(&entry, &mut states_b, &mut scratch_b);
        assert_eq!(a, b, "{file}\n{text:?}");
        assert_eq!(states_a.take_changes(), states_b.take_changes());
        together.learn(&mut scratch_a, 5);
        if n % 5 == 4
            && let Some(create) = creates.first()
        {
            // The first query is removed and added again. Its state stays.
            together.remove(QueryId(0));
            together.insert(QueryId(0), &create.name.text, &create.query);
        }
    }
});
