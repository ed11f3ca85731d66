//! Plain English in comments and documents, as far as a machine can check it: words that are out,
//! sentences without a subject, and sentences that are too long.

use std::sync::LazyLock;

use super::{TextFile, Violation};

/// Words and phrases that a reader has to read twice, with the word to write instead. Each is split
/// in two, so that this file does not contain it.
const BANNED: [(&str, &str, &str); 26] = [
    ("an", "ew", "again"),
    ("who", "ever", "name the person or the part"),
    ("there", "by", "so"),
    ("where", "upon", "then"),
    ("laid", " down", "scheduled, stored"),
    ("lies", " in", "is in"),
    ("is", " had", "an active verb"),
    ("of", " which", "a second sentence"),
    ("of", " whom", "a second sentence"),
    ("reck", "on", "calculate, assume"),
    ("reck", "ons", "calculates, assumes"),
    ("reck", "oned", "calculated, assumed"),
    ("reck", "oning", "calculating, assuming"),
    ("some", " hundred", "the number"),
    ("some", " thousand", "the number"),
    ("some", " dozen", "the number"),
    ("hold", " up", "delay"),
    ("holds", " up", "delays"),
    ("held", " up", "delayed"),
    ("bes", "ide", "next to, compared with, in addition to"),
    ("is", " no", "is not"),
    ("are", " no", "are not"),
    ("was", " no", "was not"),
    ("were", " no", "were not"),
    ("for", " ever", "permanently"),
    ("by a fault", " of ours", "internal error"),
];

/// Words with one bad meaning, which are good names in code. So only comments and documents are
/// checked for them. Split like the others.
const BANNED_IN_PROSE: [(&str, &str, &str); 2] =
    [("to", "ld", "given, or an active verb"), ("comp", "any", "burst, group, organisation")];

/// Endings that turn a banned phrase into standard English.
const ALLOWED_AFTER: [&str; 4] = [" longer", " more than", " to ", "-op"];

/// A sentence that begins so has no subject, unless it is a question.
const HEADLESS: [&str; 7] = ["What", "Who", "Whatever", "Whose", "Whom", "Of", "Where"];

/// Longer sentences hold more than one thought.
const SENTENCE_WORDS_MAX: usize = 30;

/// The banned phrases, joined once.
static PHRASES: LazyLock<Vec<(String, &str)>> = LazyLock::new(|| {
    BANNED.iter().map(|(head, tail, instead)| (format!("{head}{tail}"), *instead)).collect()
});

/// Texts that never change: recorded runs quote their definitions, and a released migration is
/// never edited.
const FROZEN: [&str; 2] = ["experiments/definitions/", "crates/store/migrations/"];

pub fn check(file: &TextFile) -> Vec<Violation> {
    if FROZEN.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let paragraphs = match file.path.rsplit('.').next() {
        Some("rs") => comments(&file.text),
        Some("md") => paragraphs(&file.text),
        _ => Vec::new(),
    };
    let mut violations = Vec::new();
    for (line, text) in paragraphs {
        for sentence in sentences(&text) {
            let what = headless(sentence).or_else(|| long(sentence)).or_else(|| poetic(sentence));
            violations.extend(what.map(|what| Violation::new(&file.path, line, what)));
        }
    }
    for (index, line) in file.text.lines().enumerate() {
        violations.extend(banned(line).map(|what| Violation::new(&file.path, index + 1, what)));
    }
    violations
}

fn banned(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    PHRASES.iter().find_map(|(phrase, instead)| {
        let is_used = lower.match_indices(phrase.as_str()).any(|(at, _)| {
            let (before, after) = (&lower[..at], &lower[at + phrase.len()..]);
            let is_word = !before.ends_with(char::is_alphanumeric)
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            is_word
                && !before.ends_with('_')
                && !before.ends_with("there ")
                && !ALLOWED_AFTER.iter().any(|allowed| after.starts_with(allowed))
        });
        is_used.then(|| format!("`{phrase}`: plain English says: {instead}"))
    })
}

/// Finds a word of [`BANNED_IN_PROSE`], or a wish with "let" and a passive verb soon after it.
fn poetic(sentence: &str) -> Option<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words: Vec<String> = sentence.split_whitespace().map(bare).collect();
    let banned = BANNED_IN_PROSE
        .iter()
        .find(|(head, tail, _)| words.iter().any(|word| word.strip_prefix(head) == Some(*tail)));
    if let Some((head, tail, instead)) = banned {
        return Some(format!("`{head}{tail}`: plain English says: {instead}"));
    }
    let at = words.iter().position(|word| word == "let")?;
    let is_wish = words.iter().skip(at + 2).take(3).any(|word| word == "be");
    is_wish.then(|| "`let … be`: plain English uses an active verb".to_owned())
}

fn headless(sentence: &str) -> Option<String> {
    let first = sentence.split_whitespace().next()?;
    let is_headless = HEADLESS.contains(&first) && !sentence.trim_end().ends_with('?');
    is_headless.then(|| {
        let start: String = sentence.chars().take(40).collect();
        format!("a sentence begins with a headless \"{first}\" ({start}…); name its subject")
    })
}

fn long(sentence: &str) -> Option<String> {
    let n_words = sentence.split_whitespace().count();
    (n_words > SENTENCE_WORDS_MAX).then(|| {
        let start: String = sentence.chars().take(40).collect();
        format!(
            "a sentence of {n_words} words ({start}…), the limit is {SENTENCE_WORDS_MAX}; make two"
        )
    })
}

/// The comments of a Rust file, one text for each paragraph, with the line of its first word.
/// Tables are left out.
fn comments(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("//!").or(line.strip_prefix("///"));
        let text = comment.or(line.strip_prefix("//")).map_or("", str::trim);
        if text.starts_with('|') { "" } else { text }
    });
    joined(lines)
}

/// The paragraphs of a Markdown document. Headings, tables, quotations and code are left out.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().map(|line| {
        let is_other = line.starts_with(['#', '|', '!', '>']) || line.starts_with("    ");
        if is_other { "" } else { line.trim() }
    });
    joined(lines)
}

/// Joins lines into paragraphs. An empty line, a list item or a code fence ends one.
fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut in_code) = (false, false);
    for (index, line) in lines.enumerate() {
        if line.starts_with("```") {
            (in_code, is_open) = (!in_code, false);
            continue;
        }
        let item = line.strip_prefix("- ").or(line.strip_prefix("* ")).or(numbered(line));
        match (line.is_empty() || in_code, item) {
            (true, _) => is_open = false,
            (false, Some(item)) => {
                found.push((index + 1, item.to_owned()));
                is_open = true;
            }
            (false, None) if is_open => {
                if let Some((_, text)) = found.last_mut() {
                    text.push(' ');
                    text.push_str(line);
                }
            }
            (false, None) => {
                found.push((index + 1, line.to_owned()));
                is_open = true;
            }
        }
    }
    found
}

/// The text of a list item such as `3. text`.
fn numbered(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(". ")?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// The sentences of a paragraph: they end with a mark that a space and a capital letter follow.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(['.', '!', '?', ':', ';']) {
        let mut rest = text[at + 1..].chars();
        if rest.next() == Some(' ')
            && rest.next().is_some_and(|c| c.is_uppercase() || "`*([".contains(c))
        {
            found.push(text[start..=at].trim());
            start = at + 1;
        }
    }
    found.push(text[start..].trim());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expect: &[&str]) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        let violations: Vec<String> = check(&file).iter().map(Violation::to_string).collect();
        assert_eq!(violations.len(), expect.len(), "{violations:?}");
        for (violation, part) in violations.iter().zip(expect) {
            assert!(violation.contains(part), "{violation}");
        }
    }

    #[test]
    fn sentences_without_a_subject_are_faults() {
        check_text("a.rs", "/// What came.\nfn a() {}\n", &["a.rs:1: a sentence begins"]);
        check_text("a.rs", "// It ends. Of these, two\n// stay.\n", &["headless \"Of\""]);
        check_text("a.md", "Where it is, is unknown.\n", &["headless \"Where\""]);
        check_text("a.md", "What will the feed do? Ask the model.\n", &[]);
        check_text("a.rs", "let a = \"What came.\";\n", &[]);
    }

    #[test]
    fn poetic_words_are_faults_in_prose_but_not_in_code() {
        check_text("a.rs", &format!("// The time that it was {}{}.\n", "to", "ld"), &["given"]);
        check_text("a.rs", &format!("let {}{} = 1;\n", "to", "ld"), &[]);
        check_text("a.md", "Do not let a slow feed be a burden.\n", &["active verb"]);
        check_text("a.md", "Tidings lets you read, and that will be all.\n", &[]);
    }

    #[test]
    fn long_sentences_are_faults() {
        let words = "word ".repeat(31);
        check_text("a.md", &words, &["a sentence of 31 words"]);
        check_text("a.md", &format!("1. {}\n2. {}\n", "word ".repeat(20), "word ".repeat(20)), &[]);
        check_text("a.md", &format!("| {words} |\n\n```\n{words}\n```\n"), &[]);
        check_text(
            "a.md",
            &"Ten words make one sentence that nobody reads twice today. ".repeat(4),
            &[],
        );
    }

    #[test]
    fn banned_words_are_found_as_words_in_every_file() {
        check_text("a.toml", &format!("# read {}{}", "an", "ew"), &["again"]);
        check_text("a.rs", &format!("let a = \"{}{} feed\";", "is", " no"), &["is not"]);
        check_text(
            "a.md",
            &format!("It {}{} longer does, {}{}sy.", "is", " no", "who", "ever"),
            &[],
        );
    }
}
