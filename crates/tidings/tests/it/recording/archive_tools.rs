//! The judges of data sets: `warcio` for archives and `frictionless` for tables, in an environment
//! of their own below the target folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::needed;

/// The versions that we have tested.
const TOOLS: [&str; 2] = ["warcio==1.8.1", "frictionless==5.21.0"];

/// Returns the folder of the tools; installs them at the first call.
pub fn tools() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(install);
    if folder.is_none() {
        needed::missing("Python with warcio and frictionless");
    }
    folder.as_deref()
}

fn install() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_tidings")).ancestors().nth(2)?;
    let home = built.join("dataset-tools");
    let bin = home.join("bin");
    if bin.join("complete").exists() {
        return Some(bin);
    }
    let quiet = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        let done = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let place = home.to_str()?;
    let made = quiet(Path::new("python3"), &["-m", "venv", place])
        && quiet(&bin.join("pip"), &["install", "-q", "--timeout", "20", TOOLS[0], TOOLS[1]]);
    if !made {
        // An incomplete environment would look complete.
        let _ = std::fs::remove_dir_all(&home);
        return None;
    }
    std::fs::write(bin.join("complete"), "").ok()?;
    Some(bin)
}

/// Checks all archives of a data set.
#[track_caller]
pub fn check_archives(tools: &Path, folder: &Path) {
    let archives = folder.join("warc");
    for file in std::fs::read_dir(archives).unwrap() {
        let path = file.unwrap().path();
        let done = Command::new(tools.join("warcio")).args(["check", "-v"]).arg(&path).output();
        let done = done.unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{path:?}: {said}");
    }
}

/// Returns the SHA-256 of every payload that an archive plays back, revisits included.
pub fn payloads(tools: &Path, folder: &Path) -> Vec<(String, String, String)> {
    let script = r#"
import hashlib, glob, sys
from warcio.archiveiterator import ArchiveIterator
kept = {}
for path in sorted(glob.glob(sys.argv[1] + "/warc/*.warc.gz")):
    for record in ArchiveIterator(open(path, "rb")):
        head = record.rec_headers
        uri = head.get_header("WARC-Target-URI")
        if record.rec_type == "response":
            body = record.content_stream().read()
            kept[head.get_header("WARC-Record-ID")] = body
        elif record.rec_type == "revisit":
            body = kept[head.get_header("WARC-Refers-To")]
        else:
            continue
        status = record.http_headers.get_statuscode()
        print(uri, status, hashlib.sha256(body).hexdigest())
"#;
    let done =
        Command::new(tools.join("python3")).args(["-c", script]).arg(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines()
        .map(|line| {
            let parts: Vec<&str> = line.split(' ').collect();
            (parts[0].to_owned(), parts[1].to_owned(), parts[2].to_owned())
        })
        .collect()
}

/// Validates the tables of a data set against their description.
#[track_caller]
pub fn validate(tools: &Path, folder: &Path) {
    let done = Command::new(tools.join("frictionless"))
        .args(["validate", "datapackage.json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
}
