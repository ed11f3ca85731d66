//! One word, one meaning: a type name may be declared in one module of the workspace only.
//!
//! The JSON types of the API count too, although macros declare them. Clients know their names, so
//! they may share a name with a type of another crate, but not with one of their own crate.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::Violation;
use super::parsed::{SourceFile, is_for_tests};

/// Names that may be declared more than once, each with the reason.
const SHARED: [(&str, &str); 1] =
    [("Settings", "one in each crate that has settings, always written with the crate's name")];

/// The macros of the API that declare JSON types.
const JSON_MACROS: [&str; 2] = ["answer", "request"];

/// A declaration of a type.
struct Declaration {
    name: String,
    line: usize,
    /// It is a JSON type of the API.
    is_json: bool,
}

pub fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let mut places: BTreeMap<String, Vec<(&str, Declaration)>> = BTreeMap::new();
    for source in sources {
        for declaration in declarations(source) {
            places.entry(declaration.name.clone()).or_default().push((&source.path, declaration));
        }
    }
    let mut violations = Vec::new();
    for places in places.values() {
        for (index, (path, declaration)) in places.iter().enumerate() {
            let Some((first, _)) = places[..index].iter().find(|(other, before)| {
                !may_share(before, declaration) || crate_of(other) == crate_of(path)
            }) else {
                continue;
            };
            let name = &declaration.name;
            let what =
                format!("type `{name}` is also declared in {first}; give one of them another name");
            violations.push(Violation::new(path, declaration.line, what));
        }
    }
    violations
}

/// Whether two crates may declare both types.
fn may_share(a: &Declaration, b: &Declaration) -> bool {
    is_shared(&a.name) || a.is_json != b.is_json
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
    fn add(&mut self, ident: &Ident) {
        self.0.push(declaration(ident, false));
    }

    /// Adds the types of `answer! { Name { field: Type, } … }`.
    fn add_json(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for pair in tokens.windows(2) {
            if let [TokenTree::Ident(name), TokenTree::Group(fields)] = pair
                && fields.delimiter() == Delimiter::Brace
            {
                self.0.push(declaration(name, true));
            }
        }
    }
}

fn declaration(ident: &Ident, is_json: bool) -> Declaration {
    Declaration { name: ident.to_string(), line: ident.span().start().line, is_json }
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
            syn::Item::Macro(item) if JSON_MACROS.iter().any(|m| item.mac.path.is_ident(m)) => {
                self.add_json(item.mac.tokens.clone());
            }
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

    #[test]
    fn json_types_share_names_with_other_crates_only() {
        let json = "answer! {\n/// A feed.\nFeed {\n/// Its number.\nid: u32,\n}\n}";
        let own = ("crates/api/src/v1/feeds.rs", json);
        check_texts(&[own, ("crates/store/src/a.rs", "struct Feed;")], &[]);
        check_texts(
            &[own, ("crates/api/src/page.rs", "struct Feed;")],
            &["crates/api/src/page.rs:1: type `Feed`"],
        );
        check_texts(&[own, ("crates/demo/src/a.rs", json)], &["crates/demo/src/a.rs:3: type"]);
    }
}
