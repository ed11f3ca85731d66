//! Runs a test once more in its own process, because the environment of this process cannot be
//! changed while other tests run.

use std::process::Command;

const ARGUMENT: &str = "FETCH_TEST_ARGUMENT";

/// The input from the parent process, if this is a child.
pub fn argument() -> Option<String> {
    std::env::var(ARGUMENT).ok()
}

/// Runs this one test in a child with these variables. It must pass there.
pub async fn run(test: &str, argument: &str, environment: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env(ARGUMENT, argument).envs(environment.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
