//! The Rust files of the workspace as syntax trees, each with its crate and module path.
//!
//! Input: the text files of the repository. Output: one [`SourceFile`] for each file below a
//! `src` folder, without code that only tests compile. It judges nothing.

use anyhow::{Context, Result};
use syn::{Attribute, Item, Meta};

use super::TextFile;

/// One parsed file below a `src` folder.
pub struct SourceFile {
    pub path: String,
    /// The folder name of its crate, such as `store`.
    pub package: String,
    /// Its module path inside the crate: empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    /// Its items, without those that only tests compile.
    pub items: Vec<Item>,
}

/// Parses every file that belongs to the program itself.
pub fn sources(files: &[TextFile]) -> Result<Vec<SourceFile>> {
    let mut found = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with(".rs")) {
        let Some((package, module)) = module_of(&file.path) else { continue };
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        let tree = syn::parse_file(&file.text)
            .with_context(|| format!("{} is not valid Rust", file.path))?;
        let items = tree.items.into_iter().filter(|item| !is_for_tests(item)).collect();
        found.push(SourceFile { path: file.path.clone(), package, module, items });
    }
    Ok(found)
}

/// The crate and the module path of a file such as `crates/store/src/db/lock.rs`.
fn module_of(path: &str) -> Option<(String, Vec<String>)> {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    let (package, inside) = match parts.as_slice() {
        ["crates", package, "src", inside @ ..] => (package, inside),
        ["xtask", "src", inside @ ..] => (&"xtask", inside),
        _ => return None,
    };
    let mut module: Vec<String> = inside.iter().map(|part| (*part).to_owned()).collect();
    let is_root = inside.len() == 1 && matches!(inside[0], "lib" | "main");
    if is_root || inside.last() == Some(&"mod") {
        module.pop();
    }
    Some(((*package).to_owned(), module))
}

/// Whether an item carries `#[cfg(test)]`.
pub fn is_for_tests(item: &Item) -> bool {
    attributes(item).iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expect: Option<(&str, &[&str])>) {
        let expect = expect.map(|(package, module)| {
            (package.to_owned(), module.iter().map(|s| (*s).to_owned()).collect())
        });
        assert_eq!(module_of(path), expect, "{path}");
    }

    #[test]
    fn a_path_names_its_crate_and_module() {
        check("crates/store/src/lib.rs", Some(("store", &[])));
        check("crates/store/src/db/lock.rs", Some(("store", &["db", "lock"])));
        check("xtask/src/tidy/mod.rs", Some(("xtask", &["tidy"])));
        check("crates/store/tests/it/main.rs", None);
    }

    #[test]
    fn code_that_only_tests_compile_is_left_out() {
        let text = "mod a;\n#[cfg(test)]\nmod tests { struct A; }\n";
        let file = TextFile { path: "crates/a/src/lib.rs".to_owned(), text: text.to_owned() };
        let files =
            [file, TextFile { path: "crates/a/src/b/tests.rs".to_owned(), text: String::new() }];
        let sources = sources(&files).unwrap();
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].items.len(), 1);
    }
}
