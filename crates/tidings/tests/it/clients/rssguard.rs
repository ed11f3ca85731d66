//! RSS Guard 4.0, as in Debian, on a virtual screen, with an account of the type `Google Reader
//! API`. It is controlled by keys that its configuration gives to the actions. It sends marks when
//! it fetches everything.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::screen::Screen;
use super::{Desk, desk, installed};
use crate::program::eventually;

/// The keys of this test.
const CONFIG: &str = "[main]\nfirst_run=false\nfirst_run_4.0.4=false\n\
                      [keyboard]\nm_actionUpdateAllItems=Ctrl+1\nm_actionSelectNextItem=Ctrl+2\n\
                      m_actionSelectNextUnreadMessage=Ctrl+3\n\
                      m_actionSwitchImportanceOfSelectedMessages=Ctrl+4\n\
                      m_actionMarkAllItemsRead=Ctrl+5\n";
const FETCH_ALL: &str = "ctrl+1";
const NEXT_FEED: &str = "ctrl+2";
const NEXT_UNREAD: &str = "ctrl+3";
const STAR: &str = "ctrl+4";
const ALL_READ: &str = "ctrl+5";
/// A fetch begins and ends within so many looks, ten in a second.
const FETCH_LOOKS: usize = 50;
/// Any server with this API, in the app's list of services.
const OTHER_SERVICE: u32 = 1024;
/// The app encrypts passwords with the number in this file.
const KEY: u8 = 1;

struct RssGuard {
    screen: Screen,
    database: PathBuf,
}

impl RssGuard {
    /// The first start makes the database. Then the account is written into it, as the app's
    /// dialogue does.
    fn start(desk: &Desk) -> RssGuard {
        let home = desk.folder("rssguard");
        let folder = home.join(".config/RSS Guard 4");
        std::fs::create_dir_all(folder.join("config")).unwrap();
        std::fs::write(folder.join("config/config.ini"), CONFIG).unwrap();
        std::fs::write(folder.join("config/key.private"), KEY.to_string()).unwrap();
        let database = folder.join("database/database.db");
        let screen = Screen::start("rssguard", &home);
        eventually("RSS Guard makes its database", || {
            rows(&database, "select inf_key from Information")
                .contains("schema_version")
                .then_some(())
        });
        drop(screen);
        let account = serde_json::json!({
            "service": OTHER_SERVICE,
            "url": desk.url(),
            "username": "anna",
            "password": encrypted(&desk.token),
            "batch_size": -1,
            "intelligent_synchronization": true,
        });
        let sql = format!(
            "insert into Accounts (type, custom_data) values ('greader', '{account}') returning id"
        );
        assert_eq!(rows(&database, &sql), "1\n");
        RssGuard { screen: Screen::start("rssguard", &home), database }
    }

    fn press(&mut self, key: &str) {
        self.screen.tell(&format!(
            "xdotool search --onlyvisible --name '^RSS Guard' windowfocus --sync key {key}"
        ));
    }

    /// Fetches until a condition holds. The app ignores the key while it still fetches.
    #[track_caller]
    fn fetch_until(&mut self, what: &str, done: impl Fn(&RssGuard) -> bool) {
        eventually(what, || {
            self.press(FETCH_ALL);
            let looks = std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(100));
                done(self)
            });
            looks.take(FETCH_LOOKS).any(|is_done| is_done).then_some(())
        });
    }

    /// Waits until a statement gives these rows in the app's own database.
    #[track_caller]
    fn until(&self, sql: &str, expect: &str) {
        eventually(&format!("RSS Guard has {expect:?}"), || {
            (rows(&self.database, sql) == expect).then_some(())
        });
    }
}

/// Runs a statement of SQLite. Returns a line for each row; nothing if there is no such table yet.
fn rows(database: &Path, sql: &str) -> String {
    let script = "import sqlite3, sys\n\
                  db = sqlite3.connect(sys.argv[1], timeout=20)\n\
                  for row in db.execute(sys.argv[2]).fetchall(): print(*row, sep='|')\n\
                  db.commit()";
    if !database.exists() {
        return String::new();
    }
    let run = Command::new("python3").args(["-c", script]).arg(database).arg(sql).output();
    String::from_utf8(run.unwrap().stdout).unwrap()
}

/// The form in which the app keeps passwords: version 3, no flags, and each byte mixed with the key
/// and the byte before it. The first byte means nothing.
fn encrypted(text: &str) -> String {
    let key = [KEY, 0, 0, 0, 0, 0, 0, 0];
    let mut out = vec![3, 0];
    let mut last = 0;
    for (place, byte) in std::iter::once(0).chain(text.bytes()).enumerate() {
        last ^= byte ^ key[place % 8];
        out.push(last);
    }
    STANDARD.encode(out)
}

#[test]
fn rssguard_takes_feeds_and_folders_and_syncs_marks_and_stars_in_both_directions() {
    if !installed(&["rssguard", "xvfb-run", "xauth", "dbus-run-session", "xdotool", "python3"]) {
        return;
    }
    let desk = desk();
    let mut app = RssGuard::start(&desk);
    app.until("select title from Feeds order by title", "Feed one\nFeed two\n");
    app.until(
        "select c.title, f.title from Categories c join Feeds f on f.category = c.id",
        "News|Feed one\n",
    );
    let read = "select title from Messages where is_read = 1 order by title";
    app.fetch_until("RSS Guard has all entries", |app| {
        let counts = "select count(*), sum(is_read), sum(is_important) from Messages";
        rows(&app.database, counts) == "5|0|0\n"
    });
    // The account is selected, then its first unread entry, which becomes read and gets a star.
    app.press(NEXT_FEED);
    app.press(NEXT_UNREAD);
    let opened = eventually("RSS Guard shows an entry", || {
        let opened = rows(&app.database, read);
        (!opened.is_empty()).then_some(opened)
    });
    app.press(STAR);
    app.until("select title from Messages where is_important = 1", &opened);
    let opened = opened.trim();
    assert_eq!(desk.unread().len(), 5, "the app sends marks when it fetches");
    let others: Vec<String> = desk.titles("").into_iter().filter(|title| title != opened).collect();
    app.fetch_until("RSS Guard sends its marks", |_| {
        desk.unread() == others && desk.starred() == [opened]
    });
    // The other direction. The entry that the app shows stays read there whatever others say.
    desk.mark(&others[0], "read");
    let mut both = [opened, &others[0]];
    both.sort_unstable();
    let both = format!("{}\n{}\n", both[0], both[1]);
    app.fetch_until("RSS Guard takes over a mark", |app| rows(&app.database, read) == both);
    app.press(ALL_READ);
    app.until("select count(*) from Messages where is_read = 1", "5\n");
    app.fetch_until("RSS Guard sends all marks", |_| {
        desk.unread().is_empty() && desk.starred() == [opened]
    });
}
