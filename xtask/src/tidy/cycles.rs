//! The top-level modules of a crate import each other in one direction only.
//!
//! An import is a path that begins with `crate::`, or with enough `super::` to reach the root. A
//! name that the root re-exports counts as an import of the module that declares it. Items that the
//! root declares itself form one more module: nothing hides there.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::Violation;
use super::parsed::{SourceFile, is_for_tests};

/// The name of the module that the items of the root form.
const ROOT: &str = "the root";

/// From one top-level module to another, with the file and line of the first import.
type Imports = BTreeMap<(String, String), (String, usize)>;

pub fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let packages: BTreeSet<&str> = sources.iter().map(|s| s.package.as_str()).collect();
    packages.into_iter().flat_map(|package| check_crate(package, sources)).collect()
}

fn check_crate(package: &str, sources: &[SourceFile]) -> Vec<Violation> {
    let own: Vec<&SourceFile> = sources.iter().filter(|s| s.package == package).collect();
    let exports = exports(&own);
    let mut imports = Imports::new();
    for source in &own {
        let mut collector = RootNames { module: source.module.clone(), names: Vec::new() };
        source.items.iter().for_each(|item| collector.visit_item(item));
        let from = source.module.first().map_or(ROOT, String::as_str);
        for (name, line) in collector.names {
            let Some(to) = exports.get(&name).filter(|to| *to != from) else { continue };
            imports
                .entry((from.to_owned(), to.clone()))
                .or_insert_with(|| (source.path.clone(), line));
        }
    }
    imports
        .iter()
        .filter(|((from, to), _)| reaches(&imports, to, from))
        .map(|((from, to), (path, line))| {
            let what = format!(
                "module `{from}` imports `{to}`, which imports `{from}` in turn; move the items \
                 that both need into a module below them"
            );
            Violation::new(path, *line, what)
        })
        .collect()
}

/// Whether the imports lead from one module to another.
fn reaches(imports: &Imports, from: &str, to: &str) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        for (_, next) in imports.keys().filter(|(start, _)| start == module) {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Every name at the root of the crate with the top-level module behind it.
fn exports(own: &[&SourceFile]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let roots = own.iter().filter(|source| source.module.is_empty());
    for item in roots.clone().flat_map(|root| &root.items) {
        if let Item::Mod(module) = item {
            names.insert(module.ident.to_string(), module.ident.to_string());
        } else if let Some(name) = declared(item) {
            names.insert(name.to_string(), ROOT.to_owned());
        }
    }
    for item in roots.flat_map(|root| &root.items) {
        if let Item::Use(item) = item {
            let mut paths = Vec::new();
            flatten(&item.tree, &mut Vec::new(), &mut paths);
            for (path, _) in paths {
                let path: Vec<&String> = path.iter().filter(|part| *part != "crate").collect();
                if let [module, .., last] = path.as_slice()
                    && names.get(*module) == Some(*module)
                {
                    names.entry((*last).clone()).or_insert_with(|| (*module).clone());
                }
            }
        }
    }
    names
}

/// The name that an item declares.
fn declared(item: &Item) -> Option<&proc_macro2::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        _ => None,
    }
}

/// Every path of a use tree, under the name that it gives, with its line.
fn flatten(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<(Vec<String>, usize)>) {
    let mut with = |ident: &proc_macro2::Ident| {
        let mut path = before.clone();
        path.push(ident.to_string());
        paths.push((path, ident.span().start().line));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Name(name) => with(&name.ident),
        UseTree::Rename(rename) => {
            with(&rename.ident);
            with(&rename.rename);
        }
        UseTree::Glob(_) => paths.push((before.clone(), 0)),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| flatten(tree, before, paths));
        }
    }
}

/// The names at the crate's root that a file mentions.
struct RootNames {
    module: Vec<String>,
    names: Vec<(String, usize)>,
}

impl RootNames {
    /// Takes a path if it begins at the root of the crate.
    fn add(&mut self, path: &[String], line: usize) {
        let n_up = path.iter().take_while(|part| *part == "super").count();
        let name = match path.first().map(String::as_str) {
            Some("crate") => path.get(1),
            Some("super") if n_up >= self.module.len() => path.get(n_up),
            // In the root, the name of a module needs nothing before it.
            Some(_) if self.module.is_empty() => path.first(),
            _ => None,
        };
        if let Some(name) = name {
            self.names.push((name.clone(), line));
        }
    }

    /// Macros hold tokens instead of paths; `crate::name` is found there too.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match (token, tokens.get(index + 3)) {
                (TokenTree::Group(group), _) => self.add_tokens(group.stream()),
                (TokenTree::Ident(start), Some(TokenTree::Ident(name))) if start == "crate" => {
                    self.names.push((name.to_string(), name.span().start().line));
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for RootNames {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            item if is_for_tests(item) => {}
            // A re-export of the root is not an import: `exports` looks through it.
            Item::Use(item) if self.module.is_empty() && !is_private(&item.vis) => {}
            Item::Use(item) => {
                let mut paths = Vec::new();
                flatten(&item.tree, &mut Vec::new(), &mut paths);
                paths.iter().for_each(|(path, line)| self.add(path, *line));
            }
            Item::Mod(module) => {
                self.module.push(module.ident.to_string());
                visit::visit_item_mod(self, module);
                self.module.pop();
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |s| s.ident.span().start().line);
        self.add(&parts, line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, macro_call: &'ast syn::Macro) {
        self.add_tokens(macro_call.tokens.clone());
        visit::visit_macro(self, macro_call);
    }
}

fn is_private(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Inherited)
}

#[cfg(test)]
mod tests {
    use super::super::TextFile;
    use super::super::parsed::sources;
    use super::*;

    #[track_caller]
    fn check_texts(texts: &[(&str, &str)], n_violations: usize) {
        let files: Vec<TextFile> = texts
            .iter()
            .map(|(path, text)| TextFile {
                path: format!("crates/a/src/{path}"),
                text: (*text).to_owned(),
            })
            .collect();
        let violations = check(&sources(&files).unwrap());
        assert_eq!(violations.len(), n_violations, "{violations:?}");
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod a; mod b; mod c; pub use b::{inner::Thing, Other};");

    #[test]
    fn one_direction_is_no_cycle() {
        check_texts(&[ROOT, ("a.rs", "use crate::Thing;"), ("b.rs", "use crate::c::X;")], 0);
    }

    #[test]
    fn a_cycle_is_found_through_re_exports_supers_expressions_and_macros() {
        let back = ("b.rs", "fn f() { crate::a::g(); }");
        check_texts(&[ROOT, ("a.rs", "use crate::{Thing, c};"), back], 2);
        check_texts(&[ROOT, ("a.rs", "use super::Other;"), back], 2);
        check_texts(&[ROOT, ("a/deep.rs", "use super::super::b;"), back], 2);
        check_texts(&[ROOT, ("a.rs", "fn f() { vec![crate::b::x()]; }"), back], 2);
        check_texts(&[ROOT, ("a.rs", "use crate::c::X;"), back, ("c.rs", "use crate::b;")], 3);
    }

    #[test]
    fn items_of_the_root_are_a_module_too() {
        let root = |items| ("lib.rs", items);
        let uses = ("a.rs", "use crate::Thing;");
        check_texts(&[root("mod a; struct Thing(a::X);"), uses], 2);
        check_texts(&[root("mod a; use a::X; enum Thing { One(X) }"), uses], 2);
        check_texts(&[root("mod a; pub use a::X; struct Thing;"), uses], 0);
        check_texts(&[root("mod a; fn thing() { a::f(); }"), ("a.rs", "fn f() {}")], 0);
    }

    #[test]
    fn imports_of_tests_and_of_siblings_are_not_imports_of_the_module() {
        let back = ("b.rs", "use crate::a;");
        check_texts(&[ROOT, ("a.rs", "#[cfg(test)] mod tests { use crate::b; }"), back], 0);
        check_texts(&[ROOT, ("a/deep.rs", "use super::b;"), back], 0);
    }
}
