//! The languages of an account's feeds. Counting them joins all its subscriptions, which takes many
//! milliseconds for twenty thousand feeds. So the figures of such accounts are kept for a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use article::language::language_tag;
use feed::Time;
use store::{AccountId, LanguageCount, Store, StoreError};

/// Up to this many feeds are counted for each page.
const COUNTED_MAX: u64 = 1000;
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Accounts whose figures are kept: some kilobytes each.
const ACCOUNTS_MAX: usize = 1000;

/// Figures of accounts with many feeds, and when they were counted.
#[derive(Default)]
pub struct LanguageFigures {
    kept: Mutex<HashMap<AccountId, (Time, Vec<LanguageCount>)>>,
}

impl LanguageFigures {
    /// Returns the languages of an account that reads so many feeds, the most frequent first.
    pub fn of(
        &self,
        store: &Store,
        account: AccountId,
        n_feeds: u64,
        now: Time,
    ) -> Result<Vec<LanguageCount>, StoreError> {
        if n_feeds <= COUNTED_MAX {
            return Ok(normalised(store.languages_of(account)?));
        }
        let is_fresh = |at: Time| at <= now && now < at + KEPT_FOR;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&account).cloned();
        if let Some((_, figures)) = kept.filter(|(at, _)| is_fresh(*at)) {
            return Ok(figures);
        }
        let figures = normalised(store.languages_of(account)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= ACCOUNTS_MAX {
            kept.retain(|_, (at, _)| is_fresh(*at));
        }
        if kept.len() < ACCOUNTS_MAX {
            kept.insert(account, (now, figures.clone()));
        }
        Ok(figures)
    }
}

/// Adds up the languages that publishers write in different ways, such as `English` and `en`. Other
/// words go.
fn normalised(counts: Vec<LanguageCount>) -> Vec<LanguageCount> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for count in counts {
        let Some(tag) = language_tag(&count.language) else { continue };
        let primary = tag.split('-').next().unwrap_or_default().to_owned();
        *sums.entry(primary).or_default() += count.n_entries;
    }
    let line = |(language, n_entries)| LanguageCount { language, n_entries };
    let mut counts: Vec<LanguageCount> = sums.into_iter().map(line).collect();
    counts.sort_by(|one, other| {
        other.n_entries.cmp(&one.n_entries).then(one.language.cmp(&other.language))
    });
    counts
}

#[cfg(test)]
mod tests {
    use feed::{FeedUrl, Outcome};
    use store::{EntryFacts, EntryLanguage, LanguageOrigin, NewFeed, OpenMode, PollRecord};

    use super::*;

    #[test]
    fn languages_are_added_up_however_they_are_written() {
        let line = |(language, n_entries): (&str, u64)| LanguageCount {
            language: language.to_owned(),
            n_entries,
        };
        let raw = [("de", 5), ("english", 3), ("en", 4), ("eng", 1), ("unknown", 9)];
        let found = normalised(raw.map(line).to_vec());
        assert_eq!(found, [("en", 8), ("de", 5)].map(line).to_vec());
    }

    #[test]
    fn only_figures_of_many_feeds_are_kept_and_for_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let figures = LanguageFigures::default();
        let now = Time::from_secs(1_700_000_000);
        let of = |n_feeds, now| figures.of(&store, AccountId::LOCAL, n_feeds, now).unwrap().len();
        assert_eq!((of(COUNTED_MAX, now), of(COUNTED_MAX + 1, now)), (0, 0));
        let url = FeedUrl::parse("https://example.org/").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let feed = store.add_feed(&new, now).unwrap().id;
        let (tag, source) = ("de".to_owned(), LanguageOrigin::Declared);
        let language = EntryLanguage { tag, source, confidence_permille: None };
        let mut record = PollRecord::empty(feed, 0, now, Outcome::Seen, now);
        record.document_mut().entries.new.push(store::NewEntry {
            key: feed::EntryKey::from_bytes([1; 16]),
            item: feed::Item::default(),
            published: feed::Published { claim: None, at: now },
            content: 0,
            facts: EntryFacts { language: Some(language), ..EntryFacts::default() },
        });
        store.record_blocking(record).unwrap();
        assert_eq!(of(COUNTED_MAX, now), 1, "few feeds are counted each time");
        assert_eq!(of(COUNTED_MAX + 1, now + KEPT_FOR / 2), 0);
        assert_eq!(of(COUNTED_MAX + 1, now + KEPT_FOR), 1);
        assert_eq!(of(COUNTED_MAX + 1, now), 1, "a clock that was set back counts again");
    }
}
