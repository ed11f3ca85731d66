//! Suggests the word that a person probably meant: the nearest of the expected words, or ours for a
//! word of another language. Suggests only if it is nearly certain.

/// Words of other languages, and ours for them. One word can mean different things in different
/// positions, so there is a list of meanings.
const CALLED: [(&str, &[&str]); 59] = [
    ("SELECT", &["RETURN", "CREATE"]),
    ("REPLACE", &["OR REPLACE"]),
    ("FEEDS", &["ALL FEEDS"]),
    ("CATEGORIES", &["CATEGORY"]),
    ("EXIST", &["EXISTS"]),
    ("S", &["SECONDS"]),
    ("SEC", &["SECONDS"]),
    ("M", &["MINUTES"]),
    ("MIN", &["MINUTES"]),
    ("H", &["HOURS"]),
    ("D", &["DAYS"]),
    ("MONTH", &["DAYS"]),
    ("MONTHS", &["DAYS"]),
    ("YEAR", &["DAYS"]),
    ("YEARS", &["DAYS"]),
    ("W", &["WEEKS"]),
    ("DAILY", &["EVERY"]),
    ("HOURLY", &["EVERY"]),
    ("FROM", &["RETURN"]),
    ("QUERY", &["FEED"]),
    ("STREAM", &["FEED"]),
    ("DELETE", &["DROP"]),
    ("REMOVE", &["DROP"]),
    ("ADD", &["CREATE"]),
    ("NEW", &["CREATE"]),
    ("IF", &["WHERE"]),
    ("WHEN", &["WHERE"]),
    ("FILTER", &["WHERE"]),
    ("HAVING", &["WHERE"]),
    ("LIKE", &["CONTAINS", "SIMILAR"]),
    ("HAS", &["CONTAINS"]),
    ("IN", &["CONTAINS", "WITHIN"]),
    ("INCLUDES", &["CONTAINS"]),
    ("REGEX", &["MATCHES"]),
    ("REGEXP", &["MATCHES"]),
    ("IS", &["`=`"]),
    ("EQUALS", &["`=`"]),
    ("UNIQUE", &["DISTINCT"]),
    ("DEDUPE", &["DISTINCT"]),
    ("DEDUPLICATE", &["DISTINCT"]),
    ("LIMIT", &["LAST", "WINDOW"]),
    ("DESCRIPTION", &["SUMMARY"]),
    ("BODY", &["CONTENT"]),
    ("TEXT", &["ITEM", "CONTENT"]),
    ("ENTRY", &["ITEM"]),
    ("ENTRIES", &["ITEMS"]),
    ("ANY", &["ITEM", "ALL FEEDS"]),
    ("URL", &["LINK"]),
    ("DATE", &["PUBLISHED"]),
    ("TIME", &["PUBLISHED"]),
    ("TAG", &["CATEGORY"]),
    ("TAGS", &["CATEGORY", "TAG"]),
    ("LANG", &["LANGUAGE"]),
    ("SOURCE", &["FEED"]),
    ("SEND", &["DELIVER"]),
    ("SHARE", &["PUBLISH"]),
    ("MAIL", &["EMAIL"]),
    ("HOOK", &["WEBHOOK"]),
    ("NAMED", &["TITLED"]),
];

/// Words of the language. A keyword is not a text whose quotes were forgotten.
const KEYWORDS: [&str; 59] = [
    "ALL",
    "AND",
    "ARTICLE",
    "ARTICLES",
    "AS",
    "AT",
    "AUTHOR",
    "BY",
    "CATEGORY",
    "CONTAINS",
    "CONTENT",
    "COUNT",
    "CREATE",
    "DAY",
    "DAYS",
    "DELIVER",
    "DISTINCT",
    "DROP",
    "EMAIL",
    "EVERY",
    "EXISTS",
    "FEED",
    "FEEDS",
    "FILE",
    "HOUR",
    "HOURS",
    "IF",
    "ITEM",
    "ITEMS",
    "JOIN",
    "LANGUAGE",
    "LAST",
    "LINK",
    "MATCHES",
    "MINUTES",
    "NEAR",
    "NOT",
    "ON",
    "OR",
    "PRIVATE",
    "PUBLISH",
    "PUBLISHED",
    "REPLACE",
    "RETURN",
    "ROLLING",
    "SECRET",
    "SIGNED",
    "SIMILAR",
    "SUMMARY",
    "TAG",
    "TAGGED",
    "TITLE",
    "TITLED",
    "TO",
    "TOPIC",
    "WEBHOOK",
    "WHERE",
    "WINDOW",
    "WITHIN",
];

pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Returns the candidate that `found` probably means.
pub(crate) fn meant<'a>(found: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let upper = found.to_uppercase();
    let called = CALLED.iter().find(|(theirs, _)| *theirs == upper);
    let ours = called.and_then(|(_, ours)| {
        ours.iter().find_map(|o| candidates.iter().find(|c| *c == o).copied())
    });
    ours.or_else(|| nearest(&upper, candidates))
}

/// Returns the name that `found` probably means. Unlike keywords, names differ by case.
pub fn meant_name<'a>(found: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = found.to_lowercase();
    let scored = names.filter_map(|name| {
        let distance = distance(&lower, &name.to_lowercase());
        is_near(distance, found).then_some((distance, name))
    });
    scored.min().map(|(_, name)| name)
}

fn nearest<'a>(found: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let scored = candidates.iter().filter_map(|candidate| {
        let distance = distance(found, candidate);
        // An exact match cannot be the correction of itself.
        (distance > 0 && is_near(distance, found)).then_some((distance, *candidate))
    });
    scored.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// One typing error in a short word, two in a longer one.
fn is_near(distance: usize, found: &str) -> bool {
    let letters = found.chars().count();
    distance <= if letters < 3 { 0 } else { 1 + usize::from(letters > 4) }
}

/// Counts the typing errors between two words: a letter too many, too few, wrong, or two swapped.
/// Skips words longer than any keyword or name, because the cost is quadratic.
fn distance(a: &str, b: &str) -> usize {
    const LETTERS_MAX: usize = 64;
    let a: Vec<char> = a.chars().take(LETTERS_MAX).collect();
    let b: Vec<char> = b.chars().take(LETTERS_MAX).collect();
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j - 1] + cost).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_other_languages_are_understood() {
        let fields = ["ITEM", "TITLE", "CONTENT", "CATEGORY", "LINK"];
        assert_eq!(meant("titel", &fields), Some("TITLE"));
        assert_eq!(meant("itm", &fields), Some("ITEM"));
        assert_eq!(meant("url", &fields), Some("LINK"));
        assert_eq!(meant("tag", &fields), Some("CATEGORY"));
        assert_eq!(meant("xyzzy", &fields), None);
        assert_eq!(meant("OR", &["AND", "ON"]), None);
    }

    #[test]
    fn names_are_suggested_with_their_own_case() {
        let names = ["Volcano", "Volcanoes", "Other"];
        assert_eq!(meant_name("volcano", names.into_iter()), Some("Volcano"));
        assert_eq!(meant_name("Vulcanoes", names.into_iter()), Some("Volcanoes"));
        assert_eq!(meant_name("Nothing", names.into_iter()), None);
    }

    #[test]
    fn exchanged_letters_are_one_slip() {
        assert_eq!(distance("WHEER", "WHERE"), 1);
        assert_eq!(distance("", "AB"), 2);
        assert_eq!(distance("A", "ABCD"), usize::MAX);
    }
}
