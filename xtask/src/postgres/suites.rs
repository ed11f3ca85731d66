//! Runs the tests that depend on the database, on PostgreSQL. They are the test programs that
//! `cargo test --workspace` has built, so nothing is compiled again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::server::Server;
use super::with_server;

/// The packages whose tests run, and the names of tests to run; none means all. Other tests of the
/// program would say nothing new on PostgreSQL.
const SUITES: [(&str, &[&str]); 4] = [
    ("store", &[]),
    ("engine", &[]),
    ("api", &[]),
    ("tidings", &["browser::", "clients::", "durability::soak::", "on_server::"]),
];

/// A test program.
struct TestProgram {
    package: String,
    executable: PathBuf,
    /// The folder of its package.
    folder: PathBuf,
}

/// Runs all suites, with more arguments for the test programs. Returns whether all tests passed.
pub(crate) fn command(root: &Path, args: &[String]) -> Result<bool> {
    let programs = built(root)?;
    let server = Server::start(&["fsync=off"])?;
    let mut passed = true;
    for (package, names) in SUITES {
        let of_package: Vec<_> = programs.iter().filter(|one| one.package == package).collect();
        ensure!(!of_package.is_empty(), "cargo built no tests of {package}");
        for program in of_package {
            println!("     Running {} on PostgreSQL", program.executable.display());
            let mut command = with_server(&program.executable, &server);
            command.args(names).args(args).current_dir(&program.folder);
            passed &= command.status().context("cannot start a test program")?.success();
        }
    }
    Ok(passed)
}

/// Builds the tests of the workspace and returns their programs.
fn built(root: &Path) -> Result<Vec<TestProgram>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    super::forget_package(&mut cargo);
    let output = cargo.current_dir(root).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the tests cannot be built");
    let text = String::from_utf8(output.stdout).context("the output of cargo is not text")?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter_map(|message| test_program(&message)).collect())
}

fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message["profile"]["test"] == true;
    let executable = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let kinds = message["target"]["kind"].as_array()?;
    let is_wanted = kinds.iter().any(|kind| kind == "lib" || kind == "test");
    let package = folder.file_name()?.to_str()?.to_owned();
    is_wanted.then(|| TestProgram { package, executable: executable.into(), folder })
}
