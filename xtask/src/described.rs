//! `xtask described`: compares a running instance with its own API description. schemathesis sends
//! thousands of valid and invalid requests. No answer may be a server error or differ from the
//! description. The instance is the demonstration: it has feeds, entries and polls, and needs no
//! network. Without Python nothing is checked, and the command says so.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The version that we have tested.
const VERSION: &str = "schemathesis==4.32.5";
/// The checks that every answer must pass.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method";
/// Half a minute of requests; `--examples` sets more.
const EXAMPLES: &str = "15";
/// A stream never ends, so it is left out.
const ENDLESS: &str = "/api/v1/entries/stream";
/// Tries to reach the instance, five a second. The machine may be very busy.
const STARTS_WITHIN: u32 = 600;

const QUERY: &str =
    "CREATE FEED described AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"the\" PUBLISH;\n";

pub fn command(root: &Path, args: &[String]) -> Result<bool> {
    let examples = match args {
        [] => EXAMPLES,
        [flag, n] if flag == "--examples" && n.parse::<u32>().is_ok() => n,
        _ => bail!("usage: xtask described [--examples N]"),
    };
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let Some(tool) = tool(&target)? else {
        eprintln!("described: Python or schemathesis is not at hand; nothing was checked");
        return Ok(true);
    };
    let folder = tempfile::tempdir()?;
    let (_instance, address) = start(&program(&target)?, folder.path())?;
    let done = Command::new(tool)
        .args(["run", &format!("http://{address}/api/openapi.json")])
        .args(["--exclude-path", ENDLESS, "--checks", CHECKS, "--phases", "coverage,fuzzing"])
        // Python 3.11 counts the depth of syntax trees for all threads together. With two workers,
        // the tool itself fails now and then.
        .args(["--max-examples", examples, "--request-timeout", "20", "--workers", "1"])
        .args(["--seed", "1", "--no-color"])
        .env("HYPOTHESIS_STORAGE_DIRECTORY", folder.path().join("hypothesis"))
        .current_dir(folder.path())
        .status()
        .context("schemathesis could not be started")?;
    Ok(done.success())
}

/// Installs schemathesis into its own environment below the target folder, at the first call.
fn tool(target: &Path) -> Result<Option<PathBuf>> {
    let home = target.join("schemathesis");
    let tool = home.join("bin/schemathesis");
    if tool.exists() {
        return Ok(Some(tool));
    }
    let quiet = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        let done = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let place = home.to_str().context("the target folder's name is not valid UTF-8")?;
    let made = quiet(Path::new("python3"), &["-m", "venv", place])
        && quiet(&home.join("bin/pip"), &["install", "-q", "--timeout", "20", VERSION]);
    if !made {
        // An incomplete environment would look complete.
        let _ = fs::remove_dir_all(&home);
    }
    Ok(made.then_some(tool))
}

/// Returns the program that was built last.
fn program(target: &Path) -> Result<PathBuf> {
    let built = ["debug", "release"].map(|profile| target.join(profile).join("tidings"));
    let built = built.into_iter().filter(|path| path.exists());
    let newest = built.max_by_key(|path| fs::metadata(path).and_then(|m| m.modified()).ok());
    newest.context("build the program first: cargo build --bin tidings")
}

/// An instance that is stopped when it is dropped.
struct Instance(Child);

impl Drop for Instance {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &Path, folder: &Path) -> Result<(Instance, String)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let data = folder.join("data");
    let child = Command::new(program)
        .args(["run", "--demo", "--listen", &address, "--data"])
        .arg(&data)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} could not be started", program.display()))?;
    let instance = Instance(child);
    let file = folder.join("queries.tq");
    fs::File::create(&file)?.write_all(QUERY.as_bytes())?;
    for _ in 0..STARTS_WITHIN {
        sleep(Duration::from_millis(200));
        let applied = Command::new(program)
            .args(["query", "apply"])
            .arg(&file)
            .arg("--data")
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if applied.success() {
            return Ok((instance, address));
        }
    }
    bail!("the instance did not take a query; does `tidings run --demo` start?")
}
