//! Rules for one Rust file: its size, its functions, its columns, its first line.

use super::code::{functions, only_code};
use super::{TextFile, Violation};

/// A longer file should be two files.
const FILE_LINES_MAX: usize = 400;
/// The lines that fit on one screen.
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;

/// Functions that may stay longer until somebody shortens them: (file, function). Never add to it.
const LONG_FUNCTIONS: [(&str, &str); 0] = [];

pub fn check(file: &TextFile) -> Vec<Violation> {
    let path = file.path.as_str();
    let mut violations = Vec::new();
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if !first.starts_with("//!") {
        let what = "no `//!` on top; say the module's duty in one sentence, then what it refuses";
        violations.push(Violation::new(path, 1, what));
    }
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        let what = format!("{lines} lines, the limit is {FILE_LINES_MAX}; split it by duty");
        violations.push(Violation::new(path, lines, what));
    }
    for (index, line) in file.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS_MAX {
            let what = format!("{columns} columns, the limit is {COLUMNS_MAX}; break the line");
            violations.push(Violation::new(path, index + 1, what));
        }
    }
    for function in functions(&only_code(&file.text)) {
        let allowed = LONG_FUNCTIONS.contains(&(path, function.name.as_str()));
        if function.lines > FUNCTION_LINES_MAX && !allowed {
            let what = format!(
                "`{}` has {} lines, the limit is {FUNCTION_LINES_MAX}; name its steps",
                function.name, function.lines
            );
            violations.push(Violation::new(path, function.line, what));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, expect: &[&str]) {
        let file = TextFile { path: "a.rs".to_owned(), text: text.to_owned() };
        let violations: Vec<String> = check(&file).iter().map(Violation::to_string).collect();
        assert_eq!(violations.len(), expect.len(), "{violations:?}");
        for (violation, start) in violations.iter().zip(expect) {
            assert!(violation.starts_with(start), "{violation}");
        }
    }

    #[test]
    fn a_good_file_has_no_fault() {
        check_text("//! Duty.\nfn a() {}\n", &[]);
    }

    #[test]
    fn a_file_without_its_duty_is_a_fault() {
        check_text("fn a() {}\n", &["a.rs:1: no `//!`"]);
    }

    #[test]
    fn long_lines_functions_and_files_are_faults() {
        check_text(&format!("//! Duty.\n//{}\n", "é".repeat(99)), &["a.rs:2: 101 columns"]);
        let body = "    x();\n".repeat(69);
        check_text(&format!("//! D.\nfn a() {{\n{body}}}\n"), &["a.rs:2: `a` has 71 lines"]);
        check_text(&"//! D.\n".repeat(401), &["a.rs:401: 401 lines"]);
    }
}
