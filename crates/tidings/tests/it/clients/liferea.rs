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

    /// Waits until the app shows this many unread entries.
    #[track_caller]
    fn until_unread(&mut self, n: u32) {
        eventually(&format!("Liferea counts {n} unread entries"), || {
            self.tell(&format!("{UNREAD} >unread 2>&1"));
            std::thread::sleep(Duration::from_millis(500));
            self.read("unread").contains(&format!("int32 {n}\n")).then_some(())
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
    // Ctrl-N goes to the next unread entry and shows it, which marks it read.
    let next = "xdotool search --onlyvisible --name '^Liferea' windowfocus --sync key ctrl+n";
    liferea.tell(next);
    desk.until_unread(&["Item 0 of one", "Item 0 of two", "Item 1 of one", "Item 1 of two"]);
    liferea.until_unread(4);
    liferea.tell(next);
    eventually("one entry more is read", || (desk.unread().len() == 3).then_some(()));
}
