//! If the disk is full or cannot be written, the program says so and stops recording. When there is
//! space again, nothing is missing. The tests need a mount. If that is not allowed, they say that
//! they proved nothing, and fail if `CI` is set.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::documents::{opml, rss};
use crate::needed::missing;
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// A small file system in memory, unmounted when dropped.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn new(at: &Path, kilobytes: u32) -> Option<Mounted> {
        std::fs::create_dir_all(at).unwrap();
        let options = format!("size={kilobytes}k");
        let args = ["-t", "tmpfs", "-o", &options, "tidings-test", path_text(at)];
        let mounted = Command::new("mount").args(args).output();
        if mounted.is_ok_and(|m| m.status.success()) {
            return Some(Mounted(at.to_owned()));
        }
        missing("the right to mount a tmpfs, so that a disk can fill up");
        None
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let args = ["-o", &options, path_text(&self.0)];
        assert!(Command::new("mount").args(args).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn publisher(n_feeds: usize, n_items: usize) -> (Publisher, String) {
    let publisher = Publisher::start(8);
    let urls: Vec<String> = (0..n_feeds)
        .map(|feed| {
            let path = format!("/d{feed}");
            publisher.set(&path, rss(&format!("d{feed}"), n_items));
            publisher.server.url(publisher.addresses[feed % 8], &path)
        })
        .collect();
    (publisher, opml(&urls))
}

#[track_caller]
fn complete(instance: &Instance, expect: usize) {
    let entries = instance.entries();
    let distinct: HashSet<&str> = entries.iter().map(|e| e["link"].as_str().unwrap()).collect();
    assert_eq!((entries.len(), distinct.len()), (expect, expect), "every entry is there once");
}

#[test]
fn a_full_disk_is_named_and_nothing_is_lost_when_there_is_room_again() {
    let instance = Instance::in_folder();
    let Some(disk) = Mounted::new(&instance.data, 64 << 10) else { return };
    let (_publisher, list) = publisher(300, 20);
    instance.import(&list).ok();
    // The space that is left is enough for some of the first polls, not for all.
    fill(&instance.data, 1 << 20);
    let once = ["run", "--once", FREELY[0], FREELY[1], FREELY[2]];
    let full = instance.run(&once);
    full.says(1, &["disk"]);
    let mut daemon = instance.daemon(&FREELY);
    eventually("the daemon names the disk", || {
        daemon.log().to_lowercase().contains("disk").then_some(())
    });
    daemon.kill();

    std::fs::remove_file(instance.data.join("ballast")).unwrap();
    instance.run(&["feed", "poll", "--all", "--json", FREELY[0], FREELY[1], FREELY[2]]).ok();
    complete(&instance, 300 * 20);
    drop(disk);
}

#[test]
fn the_program_is_not_ready_while_the_disk_is_full_and_ready_again_by_itself() {
    let instance = Instance::in_folder();
    let Some(disk) = Mounted::new(&instance.data, 64 << 10) else { return };
    let (_publisher, list) = publisher(300, 20);
    let daemon = instance.daemon(&FREELY).ready();
    fill(&instance.data, 1 << 20);
    let metric = |value: u8| {
        let (_, text) = wire::get(daemon.listen, "/metrics").unwrap();
        text.contains(&format!("\ntidings_ready {value}\n"))
    };
    eventually("its figure says that it is ready", || metric(1).then_some(()));
    // Some polls have enough space, the others do not.
    instance.import(&list);
    let why = eventually("it says that it is not ready", || {
        let (status, text) = wire::get(daemon.listen, "/readyz").unwrap();
        (status == 503).then_some(text)
    });
    assert!(why.contains("disk is full"), "{why}");
    // A small write may still fit, and then the program is ready for a moment.
    eventually("its figure says so", || metric(0).then_some(()));
    eventually("its page says so", || {
        let (_, page) = wire::get(daemon.listen, "/health").unwrap();
        (page.contains("disk is full") && !page.contains("All feeds work")).then_some(())
    });
    std::fs::remove_file(instance.data.join("ballast")).unwrap();
    eventually("it is ready again", || {
        let (status, _) = wire::get(daemon.listen, "/readyz").unwrap();
        (status == 200 && metric(1)).then_some(())
    });
    drop(daemon);
    drop(disk);
}

#[test]
fn a_command_that_the_daemon_cannot_answer_ends_and_says_why() {
    let instance = Instance::in_folder();
    let Some(disk) = Mounted::new(&instance.data, 8 << 10) else { return };
    let (asked, waits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let (told, held) = (Arc::clone(&asked), Arc::clone(&waits));
    let addresses = wire::addresses(1);
    let server = wire::Server::start(&addresses, move |_, stream| {
        told.store(true, Ordering::SeqCst);
        while held.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        wire::Response::rss(rss("d", 200)).send(stream)
    });
    let url = server.url(addresses[0], "/d");
    let daemon = instance.daemon(&FREELY).ready();
    let ended = std::thread::scope(|scope| {
        let command = scope.spawn(|| instance.run(&["feed", "add", &url]));
        eventually("its server is asked", || asked.load(Ordering::SeqCst).then_some(()));
        fill(&instance.data, 0);
        waits.store(false, Ordering::SeqCst);
        command.join().unwrap()
    });
    ended.says(1, &["disk is full"]);
    drop(daemon);
    drop(disk);
}

/// Fills the file system except for `left` bytes.
pub(crate) fn fill(folder: &Path, left: usize) {
    use std::io::Write as _;
    let path = folder.join("ballast");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut n = 0;
    while file.write_all(&[0; 4096]).is_ok() {
        n += 4096;
    }
    file.set_len(n - left as u64).unwrap();
}

#[test]
fn a_data_folder_that_may_not_be_written_is_named_with_a_remedy() {
    let instance = Instance::in_folder();
    let Some(disk) = Mounted::new(&instance.data, 64 << 10) else { return };
    let (publisher, list) = publisher(5, 4);
    instance.import(&list).ok();
    disk.remount("ro");
    let data = path_text(&instance.data);
    instance.run(&["run", "--once", FREELY[0]]).says(1, &[data]);
    let url = publisher.url("/d1");
    instance.run(&["feed", "add", &url, FREELY[0]]).says(1, &[data]);
    assert!(publisher.take_asked().is_empty(), "what cannot be kept is not asked for");
    disk.remount("rw");
    instance.run(&["run", "--once", FREELY[0], FREELY[1], FREELY[2]]).ok();
    complete(&instance, 20);
}

#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let mut instance = Instance::in_folder();
    let file = instance.write("file", "not a folder");
    instance.data = file.join("data");
    let ended = instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]);
    ended.says(1, &[path_text(&file)]);
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let instance = Instance::in_folder();
    instance.import(&opml(&["http://example.org/f".to_owned()])).ok();
    let largest = std::fs::read_dir(&instance.data)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .max_by_key(|p| p.metadata().unwrap().len())
        .expect("a database file");
    for entry in std::fs::read_dir(&instance.data).unwrap() {
        let path = entry.unwrap().path();
        if path != largest {
            std::fs::remove_file(path).unwrap();
        }
    }
    let junk = "this is not a database".repeat(400);
    std::fs::write(&largest, &junk).unwrap();
    let ended = instance.run(&["feed", "list"]);
    ended.says(1, &[path_text(&instance.data)]);
    assert_eq!(std::fs::read_to_string(&largest).unwrap(), junk);
}
