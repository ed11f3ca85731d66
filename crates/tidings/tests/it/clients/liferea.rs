//! Liferea, as in Debian, on a virtual screen. It is controlled by keys only, because positions on
//! a screen change with fonts. Version 1.14 cannot import read marks made elsewhere, so only the
//! other direction is tested.

use std::path::PathBuf;
use std::time::Duration;

use super::screen::Screen;
use super::{Desk, desk, installed};
use crate::program::eventually;

const UNREAD: &str = "dbus-send --session --print-reply --dest=org.gnome.feed.Reader \
                      /org/gnome/feed/Reader org.gnome.feed.Reader.GetUnreadItems";

const NEXT: &str = "xdotool search --onlyvisible --name '^Liferea' windowfocus --sync key ctrl+n";
/// The app has obeyed a key after so many questions, two in a second.
const NEXT_LOOKS: u32 = 30;

struct Liferea {
    screen: Screen,
    home: PathBuf,
}

impl Liferea {
    /// Writes a subscription to a source of type `Google Reader API`, as the app's dialogue does.
    fn start(desk: &Desk) -> Liferea {
        let home = desk.folder("liferea");
        let config = home.join(".config/liferea");
        std::fs::create_dir_all(&config).unwrap();
        let list = format!(
            "<?xml version=\"1.0\"?>\n<opml version=\"1.0\"><head><title>Feeds</title></head><body>\
             <outline title=\"Tidings\" text=\"Tidings\" description=\"Tidings\" type=\"source\" \
             sourceType=\"fl_google_reader\" id=\"tidings\" xmlUrl=\"{}\" updateInterval=\"-1\" \
             username=\"anna\" password=\"{}\" expanded=\"true\"/></body></opml>\n",
            desk.url(),
            desk.token
        );
        std::fs::write(config.join("feedlist.opml"), list).unwrap();
        Liferea { screen: Screen::start("liferea", &home), home }
    }

    fn tell(&mut self, line: &str) {
        self.screen.tell(line);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.join(name)).unwrap_or_default()
    }

    /// Asks the app for the number of unread entries. `None` if it does not answer yet.
    fn n_unread(&mut self) -> Option<u32> {
        let _ = std::fs::remove_file(self.home.join("unread"));
        self.tell(&format!("{UNREAD} >unread 2>&1"));
        std::thread::sleep(Duration::from_millis(500));
        self.read("unread").split_once("int32 ")?.1.strip_suffix('\n')?.parse().ok()
    }

    /// Waits until the app shows this many unread entries.
    #[track_caller]
    fn until_unread(&mut self, n: u32) {
        let what = format!("Liferea counts {n} unread entries");
        eventually(&what, || (self.n_unread() == Some(n)).then_some(()));
    }

    /// Goes to the next unread entry and shows it, which marks it read. Then so many are left. A
    /// window that is not ready loses a key. If the app still has the number from before after many
    /// questions, the key is pressed again.
    #[track_caller]
    fn read_next(&mut self, n_left: u32) {
        eventually(&format!("Liferea reads an entry, and {n_left} are left"), || {
            self.tell(NEXT);
            for look in 0..10 * NEXT_LOOKS {
                match self.n_unread() {
                    Some(n) if n == n_left => return Some(()),
                    Some(_) if look > NEXT_LOOKS => return None,
                    _ => {}
                }
            }
            None
        });
    }
}

#[test]
fn liferea_lists_feeds_and_entries_and_marks_them_read() {
    if !installed(&["liferea", "xvfb-run", "xauth", "dbus-run-session", "xdotool"]) {
        return;
    }
    let desk = desk();
    let mut liferea = Liferea::start(&desk);
    liferea.until_unread(5);
    let list = eventually("Liferea writes the list of feeds down", || {
        let list = liferea.read(".cache/liferea/plugins/tidings.opml");
        list.contains("</opml>").then_some(list)
    });
    let folder = list.find("<outline title=\"News\" text=\"News\"").unwrap();
    let (one, two) = (list.find("title=\"Feed one\"").unwrap(), list.find("title=\"Feed two\""));
    let end = folder + list[folder..].find("</outline>").unwrap();
    assert!((folder..end).contains(&one), "the first label is a folder: {list}");
    assert!(two.is_some_and(|two| !(folder..end).contains(&two)), "{list}");
    liferea.read_next(4);
    desk.until_unread(&["Item 0 of one", "Item 0 of two", "Item 1 of one", "Item 1 of two"]);
    liferea.read_next(3);
    eventually("one entry more is read", || (desk.unread().len() == 3).then_some(()));
}
