//! Starts a PostgreSQL server of our own in a temporary folder, runs a command with its address in
//! `TIDINGS_TEST_STORE`, and stops the server.

pub mod server;
pub(crate) mod suites;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::server::Server;

/// The variable that makes the tests use the server.
const VARIABLE: &str = "TIDINGS_TEST_STORE";
/// The variable with the process id of the server, for measurements.
const SERVER_VARIABLE: &str = "TIDINGS_TEST_SERVER";

/// The settings of a server for tests, whose data need not survive.
const FOR_TESTS: [&str; 1] = ["fsync=off"];
/// The settings of a server for measurements. A commit is synced. The cache may have a quarter of
/// the memory, as docs/how-to/move-from-sqlite-to-postgresql.md advises.
const AS_FOR_USERS: [&str; 2] = ["fsync=on", "shared_buffers=2GB"];

/// Runs `args` as a command. A durable server runs as it does for users.
pub(crate) fn command(args: &[String]) -> Result<bool> {
    let is_durable = args.first().is_some_and(|first| first == "--durable");
    let Some((program, rest)) = args[usize::from(is_durable)..].split_first() else {
        bail!("usage: xtask postgres [--durable] COMMAND [ARGUMENT …]");
    };
    let server = Server::start(if is_durable { &AS_FOR_USERS[..] } else { &FOR_TESTS[..] })?;
    let mut command = with_server(program.as_ref(), &server);
    let status = command.args(rest).status();
    Ok(status.with_context(|| format!("cannot start {program}"))?.success())
}

/// A command that knows the address of the server.
fn with_server(program: &Path, server: &Server) -> Command {
    let mut command = Command::new(program);
    command.env(VARIABLE, server.url()).env(SERVER_VARIABLE, server.id());
    forget_package(&mut command);
    command
}

/// Removes the variables that `cargo run` sets about our own package.
fn forget_package(command: &mut Command) {
    for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if describes_package(&name) {
            command.env_remove(name);
        }
    }
}

/// Returns whether a variable is about our own package. Build scripts of other packages look at
/// such variables, and a cargo below us would build these packages again.
fn describes_package(name: &str) -> bool {
    let names = ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_MANIFEST_LINKS", "OUT_DIR"];
    name.starts_with("CARGO_PKG_") || names.contains(&name)
}
