//! A full disk: a small file system, if the test may mount one.

use std::path::Path;
use std::process::{Command, Stdio};

use store::{ErrorKind, OpenMode, Store};

use crate::needed::missing;
use crate::sample::{add, at, guids, item, seen};

/// A small file system that is unmounted when the test ends.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    pub fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(SmallDisk(folder));
        }
        missing("the right to mount a tmpfs, so that a disk can fill up");
        None
    }

    pub fn remount_read_only(&self) {
        let args = ["-o", "remount,ro"];
        let remounted = Command::new("mount").args(args).arg(self.path()).status().unwrap();
        assert!(remounted.success());
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} stays mounted", self.path().display());
        }
    }
}

#[test]
fn a_really_full_disk_loses_nothing_and_it_goes_on_when_there_is_space() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let Some(disk) = SmallDisk::mount() else { return };
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; 600_000]).unwrap();
    let store = Store::open(store::testing::location(disk.path()), OpenMode::ReadWrite).unwrap();
    let id = add(&store, "https://example.org/a");
    let mut kept = Vec::new();
    let mut poll = |n: i64| {
        let mut shown = item(&n.to_string(), "t");
        shown.content = Some("x".repeat(40_000));
        let record = seen(&store, id, &[shown], at(n));
        let result = store.record_blocking(record);
        if result.is_ok() {
            kept.push(n.to_string());
        }
        result
    };
    let full = (0..100).map(&mut poll).find_map(Result::err).expect("2 MB hold 100 polls");
    assert_eq!(full.kind(), ErrorKind::DiskFull, "{full}: {full:?}");
    for n in 200..203 {
        let again = poll(n).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::DiskFull, "{again}: {again:?}");
    }
    std::fs::remove_file(&ballast).unwrap();
    poll(300).unwrap();
    poll(301).unwrap();
    assert_eq!(guids(&store), kept);
    assert_eq!(store.check().unwrap(), []);
    drop(store);
    let again = Store::open(store::testing::location(disk.path()), OpenMode::ReadWrite).unwrap();
    assert_eq!(guids(&again), kept);
    assert_eq!(again.check().unwrap(), []);
}
