//! feedparser's own documents: every condition in their comments about values that we keep.

use std::path::Path;

use parse::{Limits, document};
use url::Url;

use crate::{corpus, difference, expect, model};

/// The address under which feedparser's tests serve their files.
const SERVED_AT: &str = "http://127.0.0.1:8097/tests/";

struct Case {
    /// The path below `tests/`.
    name: String,
    bytes: Vec<u8>,
    condition: Option<String>,
    content_type: Option<String>,
    base: Url,
}

impl Case {
    fn read(root: &Path, path: &Path) -> Case {
        let bytes = std::fs::read(path).unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        // Comments are ASCII; without its zero bytes UTF-16 and UTF-32 is too.
        let ascii: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
        let text = String::from_utf8_lossy(&ascii).into_owned();
        let after = |label: &str| {
            text.lines().find_map(|line| {
                let at = line.find(label)?;
                Some(line[at + label.len()..].trim().to_owned())
            })
        };
        let header = |wanted: &str| {
            text.lines().find_map(|line| {
                let (name, value) = line.trim().strip_prefix("Header:")?.trim().split_once(':')?;
                name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
            })
        };
        let served = Url::parse(SERVED_AT).unwrap().join(&name).unwrap();
        let base = header("Content-Location")
            .and_then(|location| served.join(&location).ok())
            .filter(|url| url.scheme() == "http")
            .unwrap_or(served);
        Case {
            name,
            condition: after("Expect:"),
            content_type: header("Content-type"),
            base,
            bytes,
        }
    }

    fn parse(&self) -> Result<parse::Document, parse::NotAFeed> {
        document(&self.bytes, self.content_type.as_deref(), Some(&self.base), &Limits::default())
    }
}

fn cases(root: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let all = corpus::files(root);
    let read = all.iter().filter(|p| p.extension().is_some_and(|e| e == "xml"));
    read.map(|path| Case::read(root, path)).filter(|case| wanted(&case.name)).collect()
}

fn roots() -> Vec<std::path::PathBuf> {
    corpus::both("feedparser", "feeds/kurtmckee__feedparser/tests")
}

#[test]
fn well_formed_documents_show_the_items_that_their_markup_shows() {
    for root in roots() {
        let cases = cases(&root, |name| name.starts_with("wellformed/") && !name.contains("/cdf"));
        assert!(!cases.is_empty());
        let (mut good, mut wrong) = (0, Vec::new());
        for case in &cases {
            match case.parse() {
                Ok(doc) if doc.items.len() == corpus::implied_items(&case.bytes) => good += 1,
                Ok(doc) => wrong.push(format!(
                    "{}: {} items, implied {}",
                    case.name,
                    doc.items.len(),
                    corpus::implied_items(&case.bytes)
                )),
                Err(refusal) => wrong.push(format!("{}: {refusal}", case.name)),
            }
        }
        println!("{}: {good} of {} as implied; {wrong:#?}", root.display(), cases.len());
        assert!(good * 100 >= cases.len() * 99, "{wrong:#?}");
    }
}

#[test]
fn expected_values_hold_but_for_the_deliberate_differences() {
    let listed = difference::read();
    for root in roots() {
        let (mut held, mut unknown, mut failed) = (0, 0, Vec::new());
        for case in cases(&root, |name| !name.contains("/cdf") && !name.contains("/sanitize/")) {
            let Some(condition) = &case.condition else { continue };
            let result = match case.parse() {
                Ok(doc) => expect::holds(condition, &|name| model::value(&doc, name)),
                Err(_) => expect::holds(condition, &|name| match name {
                    "feed" | "entries" => expect::Value::None,
                    _ => expect::Value::Unknown,
                }),
            };
            match result {
                Some(true) => held += 1,
                None => unknown += 1,
                Some(false) => failed.push(case),
            }
        }
        let unlisted: Vec<String> = failed
            .iter()
            .filter(|case| !listed.contains_key(&case.name))
            .map(|case| {
                format!(
                    "{}: {} but {:#?}",
                    case.name,
                    case.condition.as_ref().unwrap(),
                    case.parse()
                )
            })
            .collect();
        println!(
            "{}: {held} hold, {} differ deliberately, {unknown} ask for what is not kept",
            root.display(),
            failed.len() - unlisted.len()
        );
        assert!(unlisted.is_empty(), "{} differ: {}", unlisted.len(), unlisted.join("\n"));
        let stale: Vec<&String> = listed
            .keys()
            .filter(|name| root.join(name).exists() && !failed.iter().any(|c| c.name == **name))
            .collect();
        assert!(stale.is_empty(), "listed as different but are not: {stale:?}");
        assert!(held > 20);
    }
}

#[test]
fn ill_formed_documents_yield_what_a_tolerant_reader_would() {
    let nothing_to_read = ["illformed/rss_empty_document.xml"];
    for root in roots() {
        let cases = cases(&root, |name| name.starts_with("illformed/"));
        let mut wrong = Vec::new();
        for case in &cases {
            let fine = match case.parse() {
                // A cut item without its id is left out, because it would come back as another
                // entry.
                Ok(doc) => doc.items.len() + 1 >= corpus::implied_items(&case.bytes),
                Err(_) => nothing_to_read.contains(&case.name.as_str()),
            };
            if !fine {
                wrong.push(&case.name);
            }
        }
        assert!((cases.len() - wrong.len()) * 10 >= cases.len() * 9, "{wrong:?}");
    }
}
