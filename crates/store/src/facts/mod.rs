//! The facts about an entry that the engine finds out when it records it: language, category,
//! topic and whether its page is fetched. Here are the values and their columns. The engine
//! decides.

pub(crate) mod languages;

use crate::db::sql::{Result, Row};

/// The facts about one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFacts {
    /// `None`: unknown.
    pub language: Option<EntryLanguage>,
    /// `None`: neither the entry nor its feed names one. Then the folder of the feed counts.
    pub category: Option<EntryCategory>,
    /// The number of a top Media Topic of the IPTC, from 1 to 17.
    pub topic: Option<u8>,
    /// The page behind the entry is fetched without being asked.
    pub wants_article: bool,
}

/// The language of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLanguage {
    /// A tag such as `de` or `de-AT`.
    pub tag: String,
    pub source: LanguageOrigin,
    /// From 0 to 1000, if it was detected.
    pub confidence_permille: Option<u16>,
}

impl EntryLanguage {
    /// Returns the primary subtag: `de` for `de-AT`.
    pub fn primary(&self) -> &str {
        self.tag.split('-').next().unwrap_or_default()
    }

    /// Returns the tag, if it says more than its primary subtag.
    pub(crate) fn longer_tag(&self) -> Option<&str> {
        self.tag.contains('-').then_some(self.tag.as_str())
    }
}

/// The origin of a language. The store keeps the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageOrigin {
    /// The entry or its page declares it.
    Declared = 0,
    /// The words of the entry show it.
    Detected = 1,
    /// The words of the feed's last documents show it.
    DetectedInFeed = 2,
    /// The feed declares it.
    DeclaredByFeed = 3,
    /// The operator's default for entries that say nothing.
    Default = 4,
}

impl LanguageOrigin {
    const ALL: [LanguageOrigin; 5] = [
        LanguageOrigin::Declared,
        LanguageOrigin::Detected,
        LanguageOrigin::DetectedInFeed,
        LanguageOrigin::DeclaredByFeed,
        LanguageOrigin::Default,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            LanguageOrigin::Declared => "declared",
            LanguageOrigin::Detected => "detected",
            LanguageOrigin::DetectedInFeed => "detected in feed",
            LanguageOrigin::DeclaredByFeed => "declared by feed",
            LanguageOrigin::Default => "default",
        }
    }

    pub(crate) const fn code(self) -> i64 {
        self as i64
    }
}

/// The category of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryCategory {
    pub name: String,
    pub source: CategoryOrigin,
}

/// The place that a category comes from. The store keeps the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CategoryOrigin {
    Item = 0,
    /// The section that the page behind the entry declares.
    Section = 1,
    Feed = 2,
}

impl CategoryOrigin {
    const ALL: [CategoryOrigin; 3] =
        [CategoryOrigin::Item, CategoryOrigin::Section, CategoryOrigin::Feed];

    pub const fn word(self) -> &'static str {
        match self {
            CategoryOrigin::Item => "item",
            CategoryOrigin::Section => "section",
            CategoryOrigin::Feed => "feed",
        }
    }

    pub(crate) const fn code(self) -> i64 {
        self as i64
    }
}

/// Reads eight columns: lang, lang_tag, lang_source, lang_confidence, category, category_source,
/// topic, wants_article. A number that this program does not know counts as the first.
pub(crate) fn read(row: &Row<'_>, first: usize) -> Result<EntryFacts> {
    let primary: Option<String> = row.get(first)?;
    let longer: Option<String> = row.get(first + 1)?;
    let code = |column: usize| -> Result<usize> {
        let code: Option<i64> = row.get(first + column)?;
        Ok(code.and_then(|code| usize::try_from(code).ok()).unwrap_or(0))
    };
    let confidence: Option<i64> = row.get(first + 3)?;
    let origin = LanguageOrigin::ALL.get(code(2)?).copied().unwrap_or(LanguageOrigin::Declared);
    let language = longer.or(primary).map(|tag| EntryLanguage {
        tag,
        source: origin,
        confidence_permille: confidence.and_then(|n| u16::try_from(n).ok()),
    });
    let source = CategoryOrigin::ALL.get(code(5)?).copied().unwrap_or(CategoryOrigin::Item);
    let name: Option<String> = row.get(first + 4)?;
    let topic: Option<i64> = row.get(first + 6)?;
    Ok(EntryFacts {
        language,
        category: name.map(|name| EntryCategory { name, source }),
        topic: topic.and_then(|n| u8::try_from(n).ok()),
        wants_article: row.get::<_, Option<i64>>(first + 7)? == Some(1),
    })
}
