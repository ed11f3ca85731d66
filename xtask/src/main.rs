//! `cargo run -p xtask -- tidy` checks the repository. `-- described` compares a running instance
//! with its API description. `-- postgres` starts a PostgreSQL server for a command;
//! `-- postgres-tests` runs the tests on one. `-- machines` measures an instance on several
//! machines, `-- articles` one that fetches the pages behind entries. `-- bench` compares Tidings
//! with other programs. No crate of the program imports this one.

mod articles;
mod bench;
mod described;
mod http;
mod machines;
mod postgres;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: xtask tidy
       xtask described [--examples N]
       xtask postgres [--durable] COMMAND [ARGUMENT …]
       xtask postgres-tests [ARGUMENT …]
       xtask machines figure-3 [--rounds N]
       xtask machines scale [--seconds N]
       xtask machines feeds FILE.opml [--feeds N]
       xtask articles [--seconds N] [--program FILE]
       xtask bench [--write] [--feeds N,N] [--idle N] [--only tidings]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("tidy") if args.len() == 1 => tidy::command(&root()),
        Some("described") => described::command(&root(), &args[1..]),
        Some("postgres") => postgres::command(&args[1..]),
        Some("postgres-tests") => postgres::suites::command(&root(), &args[1..]),
        Some("machines") => machines::command(&root(), &args[1..]),
        Some("articles") => articles::command(&args[1..]),
        Some("bench") => bench::command(&root(), &args[1..]),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository: the folder above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
