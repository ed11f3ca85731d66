//! Random records of polls, with every kind of change that a record can make.

use std::time::Duration;

use feed::{Domain, EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Source, Time, Trouble};
use feed::{Enclosure, Window};

use crate::{
    CategoryOrigin, DocumentRecord, EditedEntry, EntryCategory, EntryFacts, EntryLanguage, Gone,
    LanguageOrigin, NewEntry, PendingRedirect, PollContent, PollProblem, PollRecord, PushTrust,
    PushTrustChange, StoredPace, StoredValidators,
};

pub const T0: Time = Time::from_secs(1_700_000_000);
pub const FEEDS: u32 = 40;

/// A source of chance with a fixed start (xorshift).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 >> 33).unwrap() % n
    }

    /// Happens in so many of a hundred cases.
    pub fn percent(&mut self, n: u32) -> bool {
        self.below(100) < n
    }

    fn some<T>(&mut self, percent: u32, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        self.percent(percent).then(|| value(self))
    }

    fn word(&mut self) -> String {
        let words = ["alpha", "beta", "gamma", "", "null\0byte", "ünï", "alpha beta"];
        words[self.below(7) as usize].to_owned()
    }
}

pub fn url(n: u32) -> FeedUrl {
    FeedUrl::parse(&format!("https://d{}.example/{n}", n % 5)).unwrap()
}

/// A record of a feed at this generation.
pub fn record(dice: &mut Dice, feed: FeedId, generation: u32, at: Time) -> PollRecord {
    let outcomes = [Outcome::Seen, Outcome::Unchanged, Outcome::Failed, Outcome::Damaged];
    let outcome = outcomes[dice.below(4) as usize];
    let next = at + Duration::from_secs(u64::from(dice.below(5)) * 900);
    let mut record = PollRecord::empty(feed, generation, at, outcome, next);
    record.cause = dice.some(30, Dice::word);
    record.exchange.status = dice.some(80, |dice| 200 + u16::try_from(dice.below(5)).unwrap());
    record.exchange.bytes = u64::from(dice.below(5000));
    record.exchange.elapsed = Duration::from_millis(u64::from(dice.below(300)));
    record.exchange.paces = (0..dice.below(3)).map(|_| pace(dice, at)).collect();
    record.observed.len = dice.below(20);
    record.observed.overlap = dice.below(20);
    record.observed.suspected_miss = dice.percent(10);
    record.warnings = (0..dice.below(3)).map(|_| "line\nof warning".repeat(50)).collect();
    record.problem = dice.some(20, |dice| PollProblem {
        error: dice.word(),
        trouble: dice.some(50, |_| Trouble::Connect),
    });
    record.location.gone = dice.some(5, |dice| Gone { at, reason: dice.word() });
    record.location.pending =
        dice.some(5, |dice| PendingRedirect { to: url(dice.below(40)), count: dice.below(3) });
    record.location.effective_url = dice.some(3, |dice| url(dice.below(80)));
    record.decision.learned = dice.some(70, |dice| vec![7; dice.below(4) as usize]);
    record.decision.failures = dice.below(3);
    record.decision.next.wanted_at = dice.some(50, |_| next);
    record.decision.next.why.reason = dice.some(50, Dice::word);
    record.decision.next.why.held = dice.some(20, Dice::word);
    record.decision.next.why.cause = dice.some(20, Dice::word);
    record.trust = dice.some(20, |dice| PushTrustChange {
        subscription: i64::from(dice.below(4)),
        trust: PushTrust { n_proofs: dice.below(9), n_misses: dice.below(9) },
    });
    record.content = match dice.below(4) {
        0 => PollContent::Nothing,
        1 => PollContent::Unchanged { validators: dice.some(50, validators) },
        _ => PollContent::Document(Box::new(document(dice, at))),
    };
    record
}

fn pace(dice: &mut Dice, at: Time) -> StoredPace {
    StoredPace {
        domain: Domain::from_stored(&format!("d{}.example", dice.below(8))),
        last_request_at: dice.some(80, |_| at),
        not_before: dice.some(30, |_| at + Duration::from_secs(60)),
        reason: dice.some(30, Dice::word),
    }
}

fn validators(dice: &mut Dice) -> StoredValidators {
    StoredValidators {
        etag: dice.some(50, |dice| vec![1; dice.below(3) as usize]),
        last_modified: dice.some(50, |_| vec![2; 3]),
        of: dice.some(50, |_| 5),
    }
}

fn document(dice: &mut Dice, at: Time) -> DocumentRecord {
    let mut document = DocumentRecord {
        validators: validators(dice),
        body_hash: [u8::try_from(dice.below(200)).unwrap(); 16],
        ..DocumentRecord::default()
    };
    let facts = &mut document.facts;
    facts.title = dice.some(60, Dice::word);
    facts.site = dice.some(30, |_| "https://site.example/".to_owned());
    facts.language = dice.some(50, |dice| ["de", "en"][dice.below(2) as usize].to_owned());
    facts.hub = dice.some(10, Dice::word);
    document.hints.ttl = dice.some(20, |dice| Duration::from_secs(u64::from(dice.below(9))));
    for _ in 0..dice.below(4) {
        let (key, content) = (key(dice), u64::from(dice.below(3)));
        let claim = dice.some(50, |_| at);
        let published = Published { claim, at };
        let (item, facts) = (item(dice), entry_facts(dice));
        document.entries.new.push(NewEntry { key, item, published, content, facts });
    }
    for _ in 0..dice.below(3) {
        let (key, content) = (key(dice), u64::from(dice.below(3)));
        let (item, facts) = (item(dice), entry_facts(dice));
        document.entries.edited.push(EditedEntry { key, item, content, facts });
    }
    document.entries.window = dice.some(70, window);
    document
}

fn key(dice: &mut Dice) -> EntryKey {
    EntryKey::from_bytes([u8::try_from(dice.below(60)).unwrap(); 16])
}

fn entry_facts(dice: &mut Dice) -> EntryFacts {
    let languages = [
        LanguageOrigin::Declared,
        LanguageOrigin::Detected,
        LanguageOrigin::DetectedInFeed,
        LanguageOrigin::Default,
    ];
    let categories = [CategoryOrigin::Item, CategoryOrigin::Section, CategoryOrigin::Feed];
    EntryFacts {
        language: dice.some(60, |dice| EntryLanguage {
            tag: ["de", "de-AT", "en"][dice.below(3) as usize].to_owned(),
            source: languages[dice.below(4) as usize],
            confidence_permille: dice.some(50, |_| 900),
        }),
        category: dice.some(40, |dice| EntryCategory {
            name: dice.word(),
            source: categories[dice.below(3) as usize],
        }),
        topic: dice.some(20, |_| 11),
        wants_article: dice.percent(20),
    }
}

fn item(dice: &mut Dice) -> Item {
    let link = |dice: &mut Dice| format!("https://d1.example/e{}", dice.below(9));
    Item {
        id: dice.some(70, |dice| format!("id {}", dice.below(9))),
        title: if dice.below(150) == 0 {
            Some("panic".to_owned())
        } else {
            dice.some(80, Dice::word)
        },
        link: dice.some(50, link),
        author: dice.some(20, Dice::word),
        summary: dice.some(40, Dice::word),
        content: dice.some(40, |dice| "<p>text</p>".repeat(dice.below(40) as usize)),
        updated: dice.some(20, |_| T0),
        categories: (0..dice.below(2)).map(|_| dice.word()).collect(),
        enclosures: (0..dice.below(2))
            .map(|_| Enclosure { url: link(dice), length: Some(5), ..Enclosure::default() })
            .collect(),
        source: dice.some(4, |dice| Source {
            url: Some(url(dice.below(FEEDS)).as_str().to_owned()),
            ..Source::default()
        }),
        ..Item::default()
    }
}

/// A window with some keys, made from its stored form.
fn window(dice: &mut Dice) -> Window {
    let mut bytes = vec![1, 0];
    for n in 0..60_u8 {
        if dice.percent(20) {
            bytes.extend([n; 16]);
            bytes.extend([0; 24]);
        }
    }
    Window::decode(&bytes).unwrap()
}
