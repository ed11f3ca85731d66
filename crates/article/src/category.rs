//! The category of an article: the publisher's own word, taken from the nearest place that has
//! one. Words are kept as they are written.

/// The place that a category comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CategorySource {
    Item,
    /// The section that the article's page declares.
    Section,
    Feed,
    Folder,
    /// Nobody named one.
    Absent,
}

/// The category of an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleCategory {
    pub name: String,
    pub source: CategorySource,
}

/// The places that may name a category, nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct CategoryPlaces<'a> {
    pub item: &'a [String],
    pub section: Option<&'a str>,
    pub feed: &'a [String],
    /// The folder of the subscription list.
    pub folder: Option<&'a str>,
}

/// The name of the category where nobody named one.
pub const UNCATEGORIZED: &str = "uncategorized";

/// Words that software writes where the author chose nothing.
const EMPTY_WORDS: [&str; 10] = [
    "uncategorized",
    "uncategorised",
    "unknown",
    "general",
    "blog",
    "news",
    "allgemein",
    "none",
    "default",
    "sin categoría",
];

/// Characters of a category. Longer ones are sentences.
const CHARS_MAX: usize = 100;

/// Returns the category of an article.
pub fn category(places: &CategoryPlaces<'_>) -> ArticleCategory {
    let item = places.item.iter().map(|name| (name.as_str(), CategorySource::Item));
    let section = places.section.map(|name| (name, CategorySource::Section));
    let feed = places.feed.iter().map(|name| (name.as_str(), CategorySource::Feed));
    let folder = places.folder.map(|name| (name, CategorySource::Folder));
    let mut named = item.chain(section).chain(feed).chain(folder);
    match named.find(|(name, _)| says_something(name)) {
        Some((name, source)) => ArticleCategory { name: name.trim().to_owned(), source },
        None => ArticleCategory { name: UNCATEGORIZED.to_owned(), source: CategorySource::Absent },
    }
}

/// Whether a word says more than that there is no category.
pub fn says_something(name: &str) -> bool {
    let folded = folded_word(name);
    let n_chars = folded.chars().count();
    (1..=CHARS_MAX).contains(&n_chars) && !EMPTY_WORDS.contains(&folded.as_str())
}

/// Returns a word as it is compared: trimmed, in lower case, with single spaces.
pub fn folded_word(word: &str) -> String {
    word.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_that_says_something_wins() {
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let (item, feed) = (words(&["Uncategorized", " Rust "]), words(&["Technology"]));
        let all = CategoryPlaces {
            item: &item,
            section: Some("Opinion"),
            feed: &feed,
            folder: Some("My folder"),
        };
        let check = |places: CategoryPlaces<'_>, name: &str, source| {
            assert_eq!(category(&places), ArticleCategory { name: name.to_owned(), source });
        };
        check(all, "Rust", CategorySource::Item);
        let empty = words(&["NEWS", "general", ""]);
        check(CategoryPlaces { item: &empty, ..all }, "Opinion", CategorySource::Section);
        check(
            CategoryPlaces { item: &[], section: Some("Blog"), ..all },
            "Technology",
            CategorySource::Feed,
        );
        let folder = CategoryPlaces { folder: Some("Friends"), ..CategoryPlaces::default() };
        check(folder, "Friends", CategorySource::Folder);
        check(CategoryPlaces::default(), "uncategorized", CategorySource::Absent);
    }
}
