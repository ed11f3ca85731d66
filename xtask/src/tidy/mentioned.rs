//! The names that ARCHITECTURE.md mentions exist: crates, modules, types, functions and files.
//!
//! It reads the words between backquotes. A path such as `store::db::lock` must lead from a crate
//! through its modules to something that the crate declares. The type of a path such as
//! `Store::record` must be declared in the same crate as its method. A word such as `PollJob` must
//! be a type or a variant. A path with a slash must be a file or folder of the repository.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::homonyms::type_names;
use super::parsed::SourceFile;
use super::{TextFile, Violation};

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The names that one crate declares.
#[derive(Default)]
struct Declared {
    /// The paths of its modules, such as `db::lock`.
    modules: BTreeSet<String>,
    /// Types, variants, functions, methods and constants.
    names: BTreeSet<String>,
}

pub fn check(files: &[TextFile], sources: &[SourceFile]) -> Vec<Violation> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else {
        return vec![Violation::new(DOCUMENT, 1, "the map of the house is missing; write it")];
    };
    let crates = declared(sources);
    let mut violations = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        for mention in line.split('`').skip(1).step_by(2) {
            if let Some(unknown) = unknown(mention, &crates, files) {
                let what = format!("`{mention}`: there is not any {unknown}; correct the document");
                violations.push(Violation::new(DOCUMENT, index + 1, what));
            }
        }
    }
    violations
}

/// The part of a mention that does not exist.
fn unknown(mention: &str, crates: &BTreeMap<&str, Declared>, files: &[TextFile]) -> Option<String> {
    let path = mention.split(['(', '<', ' ']).next().unwrap_or("");
    let is_name = !path.is_empty()
        && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '/' | '.' | '-'));
    if !is_name {
        return None;
    }
    let parts: Vec<&str> = path.split("::").collect();
    if path.contains('/') && !path.starts_with('/') {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        let exists = files.iter().any(|f| f.path == path || f.path.starts_with(&folder));
        return (!exists).then(|| format!("file or folder `{path}`"));
    }
    match parts.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => match crates.get(first) {
            Some(own) => own.unknown(rest).map(|part| format!("`{part}` in crate `{first}`")),
            None if is_type(first) => unknown_member(crates, first, rest),
            None => Some(format!("crate `{first}`")),
        },
        [word] if is_type(word) => missing(crates, word),
        _ => None,
    }
}

impl Declared {
    /// The first part of a path inside the crate that does not exist. Leading parts are modules,
    /// each below the one before; the root re-exports everything else.
    fn unknown<'p>(&self, path: &[&'p str]) -> Option<&'p str> {
        let n_modules =
            (1..=path.len()).take_while(|n| self.modules.contains(&path[..*n].join("::"))).count();
        path[n_modules..].iter().find(|part| !self.names.contains(**part)).copied()
    }
}

/// The part of a path such as `Store::record` that no crate declares.
fn unknown_member(
    crates: &BTreeMap<&str, Declared>,
    owner: &str,
    members: &[&str],
) -> Option<String> {
    missing(crates, owner).or_else(|| {
        let mut owners = crates.values().filter(|declared| declared.names.contains(owner));
        let is_declared =
            owners.any(|own| members.iter().all(|member| own.names.contains(*member)));
        (!is_declared).then(|| format!("`{}` in the crate of `{owner}`", members.join("::")))
    })
}

fn is_type(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_lowercase())
}

fn missing(crates: &BTreeMap<&str, Declared>, word: &str) -> Option<String> {
    let exists = crates.values().any(|declared| declared.names.contains(word));
    (!exists).then(|| format!("type `{word}`"))
}

fn declared(sources: &[SourceFile]) -> BTreeMap<&str, Declared> {
    let mut crates: BTreeMap<&str, Declared> = BTreeMap::new();
    for source in sources {
        let own = crates.entry(&source.package).or_default();
        own.modules.extend((1..=source.module.len()).map(|n| source.module[..n].join("::")));
        own.names.extend(type_names(source));
        let mut collector = DeclaredNames(&mut own.names);
        source.items.iter().for_each(|item| collector.visit_item(item));
    }
    crates
}

struct DeclaredNames<'a>(&'a mut BTreeSet<String>);

impl<'ast> Visit<'ast> for DeclaredNames<'_> {
    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.0.insert(variant.ident.to_string());
        visit::visit_variant(self, variant);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.0.insert(signature.ident.to_string());
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.0.insert(item.ident.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed::sources;
    use super::*;

    #[track_caller]
    fn check_mention(mention: &str, n_violations: usize) {
        let file =
            |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let code = "pub struct Store { open: bool } impl Store { fn record(&self) {} }\n\
                    enum Mode { ReadOnly }";
        let files = [
            file("crates/store/src/db/lock.rs", code),
            file(DOCUMENT, &format!("See `{mention}`.")),
        ];
        let sources = sources(&files).unwrap();
        assert_eq!(check(&files, &sources).len(), n_violations, "{mention}");
    }

    #[test]
    fn names_that_exist_are_not_faults() {
        for mention in [
            "store::db::lock",
            "store::Store::record",
            "Store::record(…)",
            "Mode::ReadOnly",
            "Store { open }",
            "crates/store/",
            "crates/store/src/db/lock.rs",
            "cargo metadata",
            "tidings run --role web",
            "/websub/hub",
            "next_at",
        ] {
            check_mention(mention, 0);
        }
    }

    #[test]
    fn names_that_do_not_exist_are_faults() {
        for mention in [
            "store::lock::open_it",
            "store::lock",
            "store::db::open",
            "store::Stores",
            "Stores",
            "Store2::record",
            "Store::records",
            "stores::db",
            "a/b.rs",
        ] {
            check_mention(mention, 1);
        }
    }
}
