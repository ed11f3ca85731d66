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
/// A fetch begins and ends within so many looks, ten in a second. One more does no harm.
const FETCH_LOOKS: usize = 50;
/// The app has obeyed any other key after so many looks, also on a busy machine.
const KEY_LOOKS: usize = 200;
/// Any server with this API, in the app's list of services.
const OTHER_SERVICE: u32 = 1024;
/// The app encrypts passwords with the number in this file.
const KEY: u8 = 1;

struct RssGuard {
    screen: Screen,
    database: PathBuf,
    /// The number of keys so far, and the file where the screen notes it.
    n_keys: usize,
    noted: PathBuf,
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
            let tables = ["Accounts", "Categories", "Feeds", "Messages"];
            let counts = tables.map(|table| format!("(select count(*) from {table})")).join(", ");
            rows(&database, &format!("select inf_key, {counts} from Information"))
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
        let (screen, noted) = (Screen::start("rssguard", &home), home.join("keys"));
        RssGuard { screen, database, n_keys: 0, noted }
    }

    /// Presses a key, and waits until that is done.
    #[track_caller]
    fn press(&mut self, key: &str) {
        self.n_keys += 1;
        let n = self.n_keys;
        self.screen.tell(&format!(
            "xdotool search --onlyvisible --name '^RSS Guard' windowfocus --sync key {key}; \
             echo {n} >keys"
        ));
        eventually(&format!("{key} is pressed"), || {
            let noted = std::fs::read_to_string(&self.noted).unwrap_or_default();
            (noted == format!("{n}\n")).then_some(())
        });
    }

    /// Presses keys until a condition holds. The app ignores them while it fetches, and a window
    /// that is not ready loses them. So they are pressed again when they had no effect for long.
    #[track_caller]
    fn press_until(&mut self, keys: &[&str], what: &str, done: impl Fn(&RssGuard) -> bool) {
        let n_looks = if keys == [FETCH_ALL] { FETCH_LOOKS } else { KEY_LOOKS };
        eventually(what, || {
            keys.iter().for_each(|key| self.press(key));
            let looks = std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(100));
                done(self)
            });
            looks.take(n_looks).any(|is_done| is_done).then_some(())
        });
    }

    #[track_caller]
    fn fetch_until(&mut self, what: &str, done: impl Fn(&RssGuard) -> bool) {
        self.press_until(&[FETCH_ALL], what, done);
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
    app.press_until(&[NEXT_FEED, NEXT_UNREAD], "RSS Guard shows an entry", |app| {
        !rows(&app.database, read).is_empty()
    });
    let opened = rows(&app.database, read);
    let starred = "select title from Messages where is_important = 1";
    app.press_until(&[STAR], "RSS Guard has a star", |app| rows(&app.database, starred) == opened);
    let opened = opened.trim();
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
    let n_read = "select count(*) from Messages where is_read = 1";
    app.press_until(&[ALL_READ], "RSS Guard has read all", |app| {
        rows(&app.database, n_read) == "5\n"
    });
    app.fetch_until("RSS Guard sends all marks", |_| {
        desk.unread().is_empty() && desk.starred() == [opened]
    });
}
