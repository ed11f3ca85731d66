//! Words that must not be in the repository: marks of unfinished work, names that say nothing,
//! paths of one machine, hosts of package registries.

use super::code::only_code;
use super::{TextFile, Violation};

/// Names that say nothing about their content.
const DRAWERS: [&str; 8] =
    ["common", "core", "util", "types", "helpers", "manager", "service", "handler"];

/// Words in two halves, so that this file does not contain them.
const FORBIDDEN: [(&str, &str, &str); 14] = [
    ("TO", "DO", "an unfinished mark; finish it or open an issue"),
    ("FIX", "ME", "an unfinished mark; finish it or open an issue"),
    ("XX", "X", "an unfinished mark; finish it or open an issue"),
    ("HA", "CK", "an unfinished mark; finish it or say why it is so"),
    ("to", "do!", "a hole in the program; write it"),
    ("unimpl", "emented!", "a hole in the program; write it"),
    ("#[ig", "nore", "a test that does not run; make it pass, or take it out"),
    ("/work", "/main", "a path of one machine; make it relative to the repository"),
    ("/work", "/shared", "a path of one machine; make it relative to the repository"),
    ("/ro", "ot/", "a path of one machine; make it relative to the repository"),
    ("cra", "tes.io", "a registry's host; say `the Rust registry`"),
    ("py", "pi.org", "a registry's host; say `PyPI`"),
    ("npm", "js.org", "a registry's host; say `npm`"),
    ("deb.deb", "ian.org", "a registry's host; say `Debian`"),
];

pub fn check(file: &TextFile) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for (head, tail, why) in FORBIDDEN {
            let word = format!("{head}{tail}");
            if contains_word(line, &word) {
                violations.push(Violation::new(&file.path, index + 1, format!("`{word}`: {why}")));
            }
        }
    }
    if file.path.ends_with(".rs") {
        violations.extend(drawers(file));
    }
    violations
}

/// Modules (files, folders, or inline) and crates with a name that says nothing.
fn drawers(file: &TextFile) -> Vec<Violation> {
    let remedy = "name it by its duty";
    let mut violations = Vec::new();
    for part in file.path.trim_end_matches(".rs").split('/') {
        if DRAWERS.contains(&part) {
            violations.push(Violation::new(
                &file.path,
                1,
                format!("`{part}` says nothing; {remedy}"),
            ));
        }
    }
    for (index, line) in only_code(&file.text).lines().enumerate() {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let named = words.find(|w| *w == "mod").and_then(|_| words.next());
        if let Some(name) = named.filter(|name| DRAWERS.contains(name)) {
            let what = format!("module `{name}` says nothing; {remedy}");
            violations.push(Violation::new(&file.path, index + 1, what));
        }
    }
    violations
}

/// The word, not inside a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    let bounded = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let starts_as_word = word.starts_with(|c: char| c.is_alphanumeric());
    let ends_as_word = word.ends_with(|c: char| c.is_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        (!starts_as_word || bounded(line[..at].chars().next_back()))
            && (!ends_as_word || bounded(line[at + word.len()..].chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> usize {
        check(&TextFile { path: path.to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn unfinished_marks_are_found_as_words_only() {
        let mark = format!("// {}{}: later", "TO", "DO");
        assert_eq!(violations("a.rs", &mark), 1);
        assert_eq!(violations("a.md", &mark.replace(':', "S:")), 0);
        assert_eq!(violations("a.rs", &format!("{}{}()", "to", "do!")), 1);
    }

    #[test]
    fn paths_of_one_machine_are_found_in_every_file() {
        assert_eq!(violations("a.md", &format!("see {}{}/x", "/work", "/main")), 1);
    }

    #[test]
    fn drawers_are_found_as_files_and_as_modules() {
        assert_eq!(violations("crates/a/src/util.rs", "//! x"), 1);
        assert_eq!(violations("crates/a/src/b.rs", "pub mod helpers {"), 1);
        assert_eq!(violations("crates/a/src/b.rs", "// mod helpers\nmod helper;"), 0);
    }
}
