//! One word, one meaning: a type name may be declared in one module of the workspace only.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Violation;
use super::parsed::{SourceFile, is_for_tests};

/// Names that may be declared more than once, each with the reason.
const SHARED: [(&str, &str); 1] =
    [("Settings", "one in each crate that has settings, always written with the crate's name")];

/// A declaration of a type.
struct Declaration {
    name: String,
    line: usize,
}

pub fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let mut places: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for source in sources {
        for Declaration { name, line } in declarations(source) {
            places.entry(name).or_default().push((&source.path, line));
        }
    }
    let mut violations = Vec::new();
    for (name, places) in places {
        let (first, _) = places[0];
        for (path, line) in places.iter().skip(1) {
            if is_shared(&name) && crate_of(path) != crate_of(first) {
                continue;
            }
            let what =
                format!("type `{name}` is also declared in {first}; give one of them another name");
            violations.push(Violation::new(path, *line, what));
        }
    }
    violations
}

fn is_shared(name: &str) -> bool {
    SHARED.iter().any(|(shared, _)| *shared == name)
}

fn crate_of(path: &str) -> &str {
    path.split("/src/").next().unwrap_or(path)
}

fn declarations(source: &SourceFile) -> Vec<Declaration> {
    let mut collector = TypeNames(Vec::new());
    source.items.iter().for_each(|item| collector.visit_item(item));
    collector.0
}

/// The names of all types that a file declares.
pub fn type_names(source: &SourceFile) -> Vec<String> {
    declarations(source).into_iter().map(|declaration| declaration.name).collect()
}

struct TypeNames(Vec<Declaration>);

impl TypeNames {
    fn add(&mut self, ident: &proc_macro2::Ident) {
        self.0.push(Declaration { name: ident.to_string(), line: ident.span().start().line });
    }
}

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            item if is_for_tests(item) => return,
            syn::Item::Struct(item) => self.add(&item.ident),
            syn::Item::Enum(item) => self.add(&item.ident),
            syn::Item::Union(item) => self.add(&item.ident),
            syn::Item::Trait(item) => self.add(&item.ident),
            syn::Item::Type(item) => self.add(&item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextFile;
    use super::super::parsed::sources;
    use super::*;

    #[track_caller]
    fn check_texts(texts: &[(&str, &str)], expect: &[&str]) {
        let files: Vec<TextFile> = texts
            .iter()
            .map(|(path, text)| TextFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        let violations: Vec<String> =
            check(&sources(&files).unwrap()).iter().map(Violation::to_string).collect();
        assert_eq!(violations.len(), expect.len(), "{violations:?}");
        for (violation, start) in violations.iter().zip(expect) {
            assert!(violation.starts_with(start), "{violation}");
        }
    }

    #[test]
    fn a_name_that_two_modules_declare_is_a_fault() {
        check_texts(
            &[("crates/a/src/lib.rs", "struct Place;"), ("crates/b/src/c.rs", "\nenum Place {}")],
            &["crates/b/src/c.rs:2: type `Place`"],
        );
    }

    #[test]
    fn associated_types_tests_and_settings_of_two_crates_are_not() {
        let text = "impl Iterator for A { type Item = u8; }\nstruct Settings;\n\
                    #[cfg(test)]\nmod tests { struct Place; }";
        check_texts(&[("crates/a/src/lib.rs", text), ("crates/b/src/lib.rs", text)], &[]);
        check_texts(
            &[("crates/a/src/lib.rs", text), ("crates/a/src/b.rs", "struct Settings;")],
            &["crates/a/src/b.rs:1: type `Settings`"],
        );
    }
}
