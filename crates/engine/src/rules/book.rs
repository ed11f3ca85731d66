//! All rules that are on, in one matcher. It is brought up to date when rules change. The same tag
//! of two people is two tags here, so that each rule means the tags of its own account.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use feed::{EntryId, FeedId};
use query::{Entry, Matcher, QueryId, RuleAction, Scratch, States};
use store::{
    AccountId, EntryRow, FeedAudience, FeedRow, RuleAct, RuleEffect, RuleId, Store, StoreError,
};

/// Entries after which the matcher learns how often words occurred, and rules that may then move.
const LEARN_EVERY: usize = 1000;
const MOVES_MAX: usize = 100;

/// A rule that is on.
struct KnownRule {
    id: RuleId,
    account: AccountId,
    since: EntryId,
    effects: Arc<[RuleEffect]>,
}

/// The rules of all people.
#[derive(Default)]
pub struct RuleBook {
    /// The version of the rules in here.
    version: Option<i64>,
    versions: HashMap<RuleId, i64>,
    matcher: Matcher,
    rules: HashMap<QueryId, KnownRule>,
    states: States,
    scratch: Scratch,
    n_shown: usize,
}

impl RuleBook {
    /// Reads the rules that have changed.
    pub fn update(&mut self, store: &Store, version: i64) -> Result<(), StoreError> {
        if self.version == Some(version) {
            return Ok(());
        }
        let changes = store.changed_rules(&self.versions)?;
        let changed = changes.changed.iter().map(|row| row.id);
        for id in changes.gone.iter().copied().chain(changed) {
            self.versions.remove(&id);
            if let Some(number) = number(id) {
                self.matcher.remove(number);
                self.rules.remove(&number);
            }
        }
        for row in changes.changed {
            self.versions.insert(row.id, row.version);
            let (Some(number), Ok(rule)) = (number(row.id), query::parse_rule(&row.text)) else {
                // A newer version of the program may read it.
                tracing::error!(rule = row.name, "a stored rule cannot be read, so it is not used");
                continue;
            };
            let named = |tag: &str| tag_of(row.account, tag);
            self.matcher.insert(number, &row.id.0.to_string(), &rule.query(named));
            let effects = rule.actions.into_iter().map(effect).collect();
            let (account, since) = (row.account, row.since);
            self.rules.insert(number, KnownRule { id: row.id, account, since, effects });
        }
        // A change after the version was read is refused by the store and read again.
        self.version = Some(changes.version);
        Ok(())
    }

    /// Returns the entry after which some rule acts; `None` if no rule is on.
    pub fn since(&self) -> Option<EntryId> {
        self.rules.values().map(|rule| rule.since).min()
    }

    /// Returns what rules do with these entries: all rules, or `only` one that acts on the past.
    pub fn match_entries(
        &mut self,
        store: &Store,
        entries: &[EntryRow],
        only: Option<RuleId>,
    ) -> Result<Vec<RuleAct>, StoreError> {
        let feeds = feeds_for_rules(store, entries)?;
        let mut acts = Vec::new();
        for entry in entries {
            // A feed that was removed meanwhile has no entries any more.
            let Some(feed) = feeds.get(&entry.feed) else { continue };
            let shown = feed.entry(entry);
            for found in self.matcher.matches(&shown, &mut self.states, &mut self.scratch) {
                let Some(rule) = self.rules.get(&found.query) else { continue };
                let is_meant = match only {
                    Some(only) => rule.id == only,
                    None => entry.id > rule.since,
                };
                if is_meant && feed.readers.contains(&rule.account) {
                    acts.push(RuleAct {
                        rule: rule.id,
                        account: rule.account,
                        entry: entry.id,
                        effects: Arc::clone(&rule.effects),
                    });
                }
            }
        }
        self.n_shown += entries.len();
        if self.n_shown >= LEARN_EVERY {
            self.n_shown = 0;
            self.matcher.learn(&mut self.scratch, MOVES_MAX);
        }
        Ok(acts)
    }
}

/// A feed as the rules of its readers see it.
struct FeedForRules {
    url: String,
    language: Option<String>,
    /// The tags of all readers, each under the name of its owner.
    tags: Vec<String>,
    readers: BTreeSet<AccountId>,
}

/// Reads the feeds of these entries, with all their readers who have rules.
fn feeds_for_rules(
    store: &Store,
    entries: &[EntryRow],
) -> Result<HashMap<FeedId, FeedForRules>, StoreError> {
    let feeds: BTreeSet<FeedId> = entries.iter().map(|entry| entry.feed).collect();
    let feeds: Vec<FeedId> = feeds.into_iter().collect();
    let mut audiences = store.feed_audiences(&feeds)?;
    let rows = store.feed_rows(&feeds)?.into_iter();
    Ok(rows
        .map(|row| {
            let audience = audiences.remove(&row.id).unwrap_or_default();
            (row.id, FeedForRules::new(row, audience))
        })
        .collect())
}

impl FeedForRules {
    fn new(row: FeedRow, audience: FeedAudience) -> FeedForRules {
        let named = |(account, tags): (&AccountId, &Vec<String>)| {
            tags.iter().map(|tag| tag_of(*account, tag)).collect::<Vec<_>>()
        };
        FeedForRules {
            url: row.location.url.as_str().to_owned(),
            language: row.facts.language,
            tags: audience.iter().flat_map(named).collect(),
            readers: audience.into_keys().collect(),
        }
    }

    fn entry<'a>(&'a self, entry: &'a EntryRow) -> Entry<'a> {
        let topic = entry.facts.topic.and_then(article::topic::MediaTopic::numbered);
        Entry {
            tags: &self.tags,
            title: entry.title.as_deref(),
            summary: entry.summary.as_deref(),
            content: entry.content.as_deref(),
            author: entry.author.as_deref(),
            categories: &entry.categories,
            link: entry.link.as_deref(),
            language: match &entry.facts.language {
                Some(language) => Some(language.tag.as_str()),
                None => entry.language.as_deref().or(self.language.as_deref()),
            },
            topic: topic.map(article::topic::MediaTopic::name),
            published: Some(entry.published_at),
            ..Entry::bare(entry.id, entry.feed, &self.url, entry.seen_at)
        }
    }
}

/// Returns the name of a tag of one account. No tag of a feed contains this character.
fn tag_of(account: AccountId, tag: &str) -> String {
    format!("{account}\u{1f}{tag}")
}

fn number(id: RuleId) -> Option<QueryId> {
    u32::try_from(id.0).ok().map(QueryId)
}

fn effect(action: RuleAction) -> RuleEffect {
    match action {
        RuleAction::MarkRead => RuleEffect::MarkRead,
        RuleAction::Star => RuleEffect::Star,
        RuleAction::Hide => RuleEffect::Hide,
        RuleAction::Label(name) => RuleEffect::Label(name),
        RuleAction::Notify => RuleEffect::Notify,
    }
}
