//! Rules made from an entry: "mute this word, author or tag here". One click makes the rule; the
//! next page shows its effect on past entries and undoes it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use feed::{EntryId, Time};
use query::{Field, QuerySource, RuleAction};
use store::{AccountId, EntryRow, Store, StoreError};

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::WriteForm;
use crate::page::notice::{not_found, notice, store_error};
use crate::rule_book::{SaveRuleError, save_rule};
use crate::sanitise;
use crate::words::sentence;

/// Words of a title that the page offers.
const WORDS_MAX: usize = 6;
/// Categories that the page offers.
const CATEGORIES_MAX: usize = 6;
/// Shorter words are seldom a subject.
const WORD_CHARS_MIN: usize = 4;
const VALUE_CHARS_MAX: usize = 200;

/// The kinds of values: the name in the form, the word on the page, and the field of the rule.
const KINDS: [(&str, &str, Field); 3] = [
    ("author", "author", Field::Author),
    ("category", "tag", Field::Category),
    ("word", "word", Field::Title),
];

/// A button that mutes something of an entry.
pub struct MuteButton {
    /// The kind of the value: a field of the form.
    pub kind: &'static str,
    pub word: &'static str,
    pub value: String,
}

/// Returns the buttons of an entry: its author, its categories, and words of its title.
pub fn mute_buttons(entry: &EntryRow) -> Vec<MuteButton> {
    let button = |kind: usize, value: &str| {
        let (kind, word, _) = KINDS[kind];
        MuteButton { kind, word, value: value.to_owned() }
    };
    let mut buttons = Vec::new();
    // A value with markup in it is seldom the name of anything.
    let fits = |text: &str| {
        !text.trim().is_empty()
            && text.chars().count() <= VALUE_CHARS_MAX
            && sanitise::text(text) == text
    };
    if let Some(author) = entry.author.as_deref().filter(|author| fits(author)) {
        buttons.push(button(0, author));
    }
    for category in entry.categories.iter().filter(|text| fits(text)).take(CATEGORIES_MAX) {
        buttons.push(button(1, category));
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
    buttons.extend(words.into_iter().take(WORDS_MAX).map(|word| button(2, word)));
    buttons
}

/// Makes a rule that hides new entries with the author, category or word of a button, and switches
/// it on. The answer is the page of the rule: it shows the effect on past entries and an undo.
pub async fn mute(State(context): State<ServerContext>, sent: WriteForm) -> Response {
    let entry = sent.form.text("entry").parse().ok().map(EntryId);
    let chosen = KINDS.iter().find(|(kind, ..)| sent.form.has(kind));
    let value = chosen.map_or("", |(kind, ..)| sent.form.text(kind)).trim();
    let value: String = value.chars().take(VALUE_CHARS_MAX).collect();
    let field = chosen.map(|(.., field)| *field).filter(|_| !value.is_empty());
    let (store, account, now) = (context.store.clone(), sent.visitor.account(), (context.now)());
    let done = run_blocking(move || {
        let (Some(entry), Some(field)) = (entry, field) else { return Ok(None) };
        make(&store, account, (entry, field, value), now)
    });
    match done.await {
        Ok(Some(Ok(name))) => Redirect::to(&format!("/rule/{name}?made=1")).into_response(),
        Ok(Some(Err(SaveRuleError::Rule(why)))) => {
            let text = sentence(&why.to_string());
            notice(&context, sent.visitor, StatusCode::CONFLICT, "No rule was made", text)
        }
        Ok(Some(Err(SaveRuleError::Text(_))) | None) => {
            let text = "The entry is gone, or a rule cannot hold this value.".to_owned();
            not_found(&context, sent.visitor, text)
        }
        Err(error) => store_error(&context, sent.visitor, &error),
    }
}

/// Returns the name of the rule, or `None` if the entry does not exist.
fn make(
    store: &Store,
    account: AccountId,
    (entry, field, value): (EntryId, Field, String),
    now: Time,
) -> Result<Option<Result<String, SaveRuleError>>, StoreError> {
    let Some(row) = store.read_entries(account, &[entry])?.pop() else { return Ok(None) };
    let feed = store.feed_rows_of(account, &[row.entry.feed])?.pop();
    // An address may hold a secret, which stays with the people who may change the feed.
    let here = feed.map(|feed| feed.location.url).filter(|url| url.masked() == url.as_str());
    let source = [here.map_or(QuerySource::AllFeeds, QuerySource::Url)];
    let text = |name: &str| query::rule_text(name, &source, field, &value, &[RuleAction::Hide]);
    let rules = store.rules(account)?;
    // A second click must not make a second rule.
    if let Some(same) = rules.iter().find(|rule| text(&rule.name).as_ref() == Some(&rule.text)) {
        store.switch_rule(account, &same.name, true, now)?;
        return Ok(Some(Ok(same.name.clone())));
    }
    let taken: Vec<String> = rules.into_iter().map(|rule| rule.name).collect();
    let Some(text) = text(&free_name(&value, &taken)) else { return Ok(None) };
    let saved = save_rule(store, account, &text, None, true, now)?;
    Ok(Some(saved.map(|rule| rule.name)))
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
