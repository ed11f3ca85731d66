//! The requirements of tests on the machine: programs, and the right to mount. On a developer's
//! machine a test without them says so and ends. With `CI` set it fails, so that no run is green
//! because nothing was tried.

/// Ends a test that cannot run here: a line on standard error, or a failure where `CI` is set.
#[track_caller]
pub fn missing(what: &str) {
    let ci = std::env::var("CI").ok();
    match verdict(ci.as_deref(), what) {
        Ok(line) => eprintln!("{line}"),
        Err(message) => panic!("{message}"),
    }
}

fn verdict(ci: Option<&str>, what: &str) -> Result<String, String> {
    if matches!(ci, None | Some("" | "0" | "false")) {
        return Ok(format!("skipped: this test needs {what}"));
    }
    Err(format!(
        "this test needs {what}; with CI set that is a failure. `make packages` installs programs; \
         mounting needs root"
    ))
}

#[test]
fn what_is_missing_is_a_failure_only_where_ci_is_set() {
    for off in [None, Some(""), Some("0"), Some("false")] {
        assert_eq!(verdict(off, "groff"), Ok("skipped: this test needs groff".to_owned()));
    }
    for on in ["true", "1"] {
        let message = verdict(Some(on), "groff").unwrap_err();
        assert!(message.starts_with("this test needs groff; with CI set that is a failure"));
    }
}
