//! Statements with faults, as a table in `data/faults.txt`: the statement, then `=> ` and its
//! faults with position and advice. After a change of wording, `QUERY_FAULTS=write cargo test -p
//! query` writes the table again; read the difference.

use std::path::{Path, PathBuf};

use query::Catalog;

struct Case {
    /// Headings and empty lines before the statement.
    before: String,
    statement: String,
    said: Vec<String>,
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults.txt")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(path()).unwrap();
    let mut cases = Vec::new();
    let mut case = Case { before: String::new(), statement: String::new(), said: Vec::new() };
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("=> ") {
            case.said.push(said.to_owned());
            continue;
        }
        if !case.said.is_empty() {
            let empty = Case { before: String::new(), statement: String::new(), said: Vec::new() };
            cases.push(std::mem::replace(&mut case, empty));
        }
        if case.statement.is_empty() && (line.is_empty() || line.starts_with("# ")) {
            case.before += &format!("{line}\n");
        } else {
            case.statement += &format!("{line}\n");
        }
    }
    cases.push(case);
    cases
}

/// Returns the faults of a file, from the parser or from the catalog.
fn said(statement: &str) -> Vec<String> {
    let known = "CREATE FEED Volcano AS RETURN ALL FEEDS; CREATE FEED Ash AS RETURN FEED Volcano";
    let mut catalog = Catalog::new();
    catalog.apply(&query::parse(known).unwrap()).unwrap();
    let faults = match query::parse(statement.trim_end()) {
        Ok(statements) => catalog.check(&statements).err().unwrap_or_default(),
        Err(faults) => faults,
    };
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn faults_have_their_place_and_advice() {
    let cases = cases();
    let mut table = String::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let said = said(&case.statement);
        table += &format!("{}{}", case.before, case.statement);
        said.iter().for_each(|line| table += &format!("=> {line}\n"));
        if said != case.said {
            wrong.push(format!("{}expected {:#?}\nsaid {said:#?}", case.statement, case.said));
        }
        assert!(!said.is_empty(), "no fault: {}", case.statement);
    }
    if std::env::var("QUERY_FAULTS").is_ok_and(|value| value == "write") {
        std::fs::write(path(), table).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(cases.len() >= 200, "{} cases", cases.len());
}

#[test]
fn every_fault_says_what_to_do_or_what_was_expected() {
    for case in cases() {
        for said in &case.said {
            let helps = said.contains("expected") || said.contains("; ") || said.contains("limit");
            let reason = ["must", "more than", "twice", "between", "cannot", "longer", "at most"];
            assert!(helps || reason.iter().any(|word| said.contains(word)), "{said}");
        }
    }
}

/// Limits on the size of a statement; the statements are too large for the table.
#[test]
fn oversized_statements_are_refused_with_the_limit() {
    let start = "CREATE FEED a AS RETURN ALL FEEDS WHERE ";
    let list = |one: &str, joint: &str, n: usize| vec![one; n].join(joint);
    let check = |statement: &str, column: u32, part: &str| {
        let faults = query::parse(statement).unwrap_err();
        assert!(faults[0].message.contains(part), "{}", faults[0]);
        assert_eq!((faults[0].at.line, faults[0].at.column), (1, column), "{}", faults[0]);
    };
    let words = format!("{start}ITEM CONTAINS {}", list("\"w\"", " OR ", 1001));
    check(&words, 55 + 7 * 1000, "more than 1000 texts");
    let brackets = format!("{start}{}ITEM CONTAINS \"x\"{}", "(".repeat(65), ")".repeat(65));
    check(&brackets, 41 + 65, "nested more than 64 deep");
    let nots = format!("{start}{}ITEM CONTAINS \"x\"", "NOT ".repeat(100_000 / 4));
    check(&nots, 41 + 65 * 4, "nested more than 64 deep");
    let long = format!("{start}ITEM CONTAINS \"{}\"", "x".repeat(9000));
    check(&long, 55, "more than 8192 bytes");
    let huge = format!("{start}ITEM CONTAINS {}", list("\"word\"", " OR ", 30_000));
    check(&huge, 1, "the limit is 262144");
    let sources = format!("CREATE FEED a AS RETURN {}", list("ALL FEEDS", " | ", 1001));
    check(&sources, 25 + 12 * 1000, "at most 1000 sources");
    let patterns = format!("{start}{}", list("ITEM MATCHES /x/", " OR ", 17));
    check(&patterns, 41 + 20 * 16 + 13, "more than 16 expressions");
    let receivers = " DELIVER TO FILE \"x\"".repeat(17);
    check(&format!("CREATE FEED a AS RETURN ALL FEEDS{receivers}"), 34 + 20 * 16 + 9, "at most 16");
    check(&" ".repeat((16 << 20) + 1), 1, "the limit is 16777216");
    let phrase = format!("{start}ITEM CONTAINS \"{}\"", "a ".repeat(33));
    check(&phrase, 55, "at most 32 words");
}

#[test]
fn a_file_with_many_faults_names_the_first_hundred() {
    let faults = query::parse(&"CREATE FEED;\n".repeat(500)).unwrap_err();
    assert_eq!(faults.len(), 100);
    assert_eq!(faults[99].at.line, 100);
}

/// The lexer computes positions in one pass; otherwise this would take minutes.
#[test]
fn a_file_on_one_line_is_read_in_one_pass() {
    let one = "CREATE FEED a AS RETURN TAG \"x\" WINDOW 1 DAY;";
    let file = one.repeat(100_000) + "CREATE FEED b AS RETURN TAG x";
    let faults = query::parse(&file).unwrap_err();
    assert_eq!((faults[0].at.line, faults[0].at.column), (1, one.len() as u32 * 100_000 + 29));
}

/// The parser finds the end of a broken statement in one pass too.
#[test]
fn a_faulty_statement_on_one_line_is_passed_over_in_one_pass() {
    let file = "CREATE ".repeat(1_000_000)
        + ";
CREATE FEED b AS RETURN TAG x";
    let faults = query::parse(&file).unwrap_err();
    let lines: Vec<u32> = faults.iter().map(|fault| fault.at.line).collect();
    assert_eq!(lines, [1, 2]);
}
