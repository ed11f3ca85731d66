//! Reads any text as a file of statements. It must not panic, and faults must point into the file.
//! Statements must survive being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{Catalog, Statement};

fuzz_target!(|text: &str| {
    let lines: Vec<&str> = text.split('\n').collect();
    let statements = match query::parse(text) {
        Ok(statements) => statements,
        Err(faults) => {
            assert!(!faults.is_empty());
            for fault in faults {
                let line = lines[fault.at.line as usize - 1];
                assert!(fault.at.column as usize <= line.chars().count() + 1, "{fault}");
                assert!(!fault.to_string().contains('\n'), "{fault}");
            }
            return;
        }
    };
    for statement in &statements {
        let shown = statement.to_string();
        let again = query::parse(&shown).unwrap_or_else(|faults| panic!("{shown}\n{faults:?}"));
        match (statement, &again[0]) {
            (Statement::Create(a), Statement::Create(b)) => {
                assert_eq!(shown, b.to_string());
                assert_eq!(a.query.condition, b.query.condition);
                assert_eq!(a.query.deliveries, b.query.deliveries);
            }
            (a, b) => assert_eq!(a.to_string(), b.to_string()),
        }
    }
    let mut catalog = Catalog::new();
    let before = catalog.clone();
    let checked = catalog.check(&statements);
    assert_eq!(catalog, before);
    assert_eq!(checked.is_ok(), catalog.apply(&statements).is_ok());
});
