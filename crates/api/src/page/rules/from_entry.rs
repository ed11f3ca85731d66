//! Rules made from an entry: "mute this word, author or tag here". A link leads to the rule, which
//! is tried on the past; a button there switches it on.

use feed::EntryId;
use query::{Field, QuerySource, RuleAction};
use store::{AccountId, EntryRow, Store, StoreError};
use url::form_urlencoded;

use crate::page::params;
use crate::sanitise;

/// Words of a title that the page offers.
const WORDS_MAX: usize = 6;
/// Categories that the page offers.
const CATEGORIES_MAX: usize = 6;
/// Shorter words are seldom a subject.
const WORD_CHARS_MIN: usize = 4;
const VALUE_CHARS_MAX: usize = 200;

/// A link that mutes something of an entry.
pub struct MuteLink {
    pub text: String,
    pub href: String,
}

/// Returns the links of an entry: its author, its categories, and words of its title.
pub fn mute_links(entry: &EntryRow) -> Vec<MuteLink> {
    let link = |kind: &str, text: String, value: &str| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("entry", &entry.id.0.to_string());
        query.append_pair("field", kind).append_pair("value", value);
        MuteLink { text, href: format!("/rules/new?{}", query.finish()) }
    };
    let mut links = Vec::new();
    // A value with markup in it is seldom the name of anything.
    let fits = |text: &str| {
        !text.trim().is_empty()
            && text.chars().count() <= VALUE_CHARS_MAX
            && sanitise::text(text) == text
    };
    if let Some(author) = entry.author.as_deref().filter(|author| fits(author)) {
        links.push(link("author", format!("author {author}"), author));
    }
    for category in entry.categories.iter().filter(|text| fits(text)).take(CATEGORIES_MAX) {
        links.push(link("category", format!("tag {category}"), category));
    }
    let title = entry.title.as_deref().map(sanitise::text).unwrap_or_default();
    let mut words: Vec<&str> = title
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .collect();
    // Long words say more; the order of the title stays.
    let mut by_length = words.clone();
    by_length.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    by_length.truncate(WORDS_MAX);
    words.retain(|word| by_length.contains(word));
    words.dedup();
    links.extend(
        words.into_iter().take(WORDS_MAX).map(|word| link("title", format!("word {word}"), word)),
    );
    links
}

/// Returns the text of the rule that an address asks for.
pub fn text(
    store: &Store,
    account: AccountId,
    query: Option<&str>,
) -> Result<Option<String>, StoreError> {
    let entry = params::number(query, "entry").map(|id| EntryId(i64::from(id)));
    let value = params::text(query, "value").unwrap_or_default();
    let value: String = value.trim().chars().take(VALUE_CHARS_MAX).collect();
    let field = match params::text(query, "field").as_deref() {
        Some("author") => Field::Author,
        Some("category") => Field::Category,
        _ => Field::Title,
    };
    let Some(entry) = entry.filter(|_| !value.is_empty()) else { return Ok(None) };
    let Some(row) = store.read_entries(account, &[entry])?.pop() else { return Ok(None) };
    let feed = store.feed_rows_of(account, &[row.entry.feed])?.pop();
    // An address may hold a secret, which stays with the people who may change the feed.
    let here = feed.map(|feed| feed.location.url).filter(|url| url.masked() == url.as_str());
    let source = here.map_or(QuerySource::AllFeeds, QuerySource::Url);
    let taken: Vec<String> = store.rules(account)?.into_iter().map(|row| row.name).collect();
    let name = free_name(&value, &taken);
    Ok(query::rule_text(&name, &[source], field, &value, &[RuleAction::Hide]))
}

/// Returns a name that no rule has yet.
fn free_name(value: &str, taken: &[String]) -> String {
    let mut base = "mute".to_owned();
    for word in value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if base.len() + word.len() > 40 {
            break;
        }
        base.push('-');
        base.push_str(&word.to_lowercase());
    }
    let is_free = |name: &String| !taken.contains(name);
    let numbered = (2..=taken.len() + 2).map(|n| format!("{base}-{n}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_plain_letters_and_free() {
        assert_eq!(free_name("Fußball & Co", &[]), "mute-fu-ball-co");
        assert_eq!(free_name("火山", &[]), "mute");
        let taken = ["mute-x".to_owned(), "mute-x-2".to_owned()];
        assert_eq!(free_name("x", &taken), "mute-x-3");
        assert!(free_name(&"long ".repeat(50), &[]).len() <= 41);
    }
}
