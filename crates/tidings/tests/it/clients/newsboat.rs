//! newsboat, as in Debian, in both modes that work with Tidings.

use std::process::Command;

use super::terminal::Terminal;
use super::{Desk, desk, installed};
use crate::program::finish;

/// Writes a configuration and returns the command that starts newsboat with it.
fn line(desk: &Desk, config: &str) -> String {
    let folder = desk.folder("newsboat");
    // Each mode has its own settings for the address of the instance, the name and the token.
    let config = config.replace("URL", &desk.url()).replace("TOKEN", &desk.token);
    std::fs::write(
        folder.join("config"),
        format!("{config}\nerror-log {}/errors\n", folder.display()),
    )
    .unwrap();
    std::fs::write(folder.join("urls"), "").unwrap();
    let at = folder.display();
    format!("newsboat -q -C {at}/config -u {at}/urls -c {at}/cache")
}

/// Returns the number of unread entries that newsboat shows after it has loaded all feeds.
#[track_caller]
fn counts_unread(desk: &Desk, line: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{line} -x reload print-unread")]);
    command.env("HOME", desk.folder("newsboat")).env("LANG", "C.UTF-8");
    finish(command, "newsboat").ok().stdout.trim().to_owned()
}

const MINIFLUX: &str = "urls-source \"miniflux\"\nminiflux-url \"URL\"\nminiflux-login \"anna\"\n\
                        miniflux-password \"TOKEN\"";

const FEEDHQ: &str = "urls-source \"feedhq\"\nfeedhq-url \"URL\"\nfeedhq-login \"anna\"\n\
                      feedhq-password \"TOKEN\"\nfeedhq-flag-star \"s\"\n\
                      feedhq-show-special-feeds \"no\"";

#[test]
fn newsboat_in_miniflux_mode_lists_reads_and_marks() {
    if !installed(&["newsboat", "script"]) {
        return;
    }
    let desk = desk();
    let line = line(&desk, MINIFLUX);
    assert_eq!(counts_unread(&desk, &line), "5 unread articles");
    desk.mark("Item 0 of two", "read");
    assert_eq!(counts_unread(&desk, &line), "4 unread articles", "what is read here is there");
    let mut terminal = Terminal::start(&line, &desk.folder("newsboat"));
    terminal.until_drawn("Feed two");
    read_newest(&mut terminal);
    desk.until_unread(&["Item 0 of one", "Item 1 of one", "Item 1 of two"]);
    // Marks an entry unread, and then the whole feed.
    terminal.press("N");
    desk.until_unread(&["Item 0 of one", "Item 1 of one", "Item 1 of two", "Item 2 of one"]);
    terminal.press("A");
    desk.until_unread(&["Item 1 of two"]);
    quit(&mut terminal);
}

#[test]
fn newsboat_in_feedhq_mode_lists_reads_marks_and_stars() {
    if !installed(&["newsboat", "script"]) {
        return;
    }
    let desk = desk();
    let line = line(&desk, FEEDHQ);
    assert_eq!(counts_unread(&desk, &line), "5 unread articles");
    desk.mark("Item 0 of two", "read");
    assert_eq!(counts_unread(&desk, &line), "4 unread articles", "what is read here is there");
    desk.mark("Item 0 of two", "unread");
    assert_eq!(counts_unread(&desk, &line), "5 unread articles", "and unread again");
    desk.mark("Item 0 of two", "read");
    let mut terminal = Terminal::start(&line, &desk.folder("newsboat"));
    terminal.until_drawn("Feed two");
    read_newest(&mut terminal);
    desk.until_unread(&["Item 0 of one", "Item 1 of one", "Item 1 of two"]);
    // Flags are typed after Ctrl-E; the flag s is a star.
    terminal.press("\u{5}s\r");
    desk.until_starred(&["Item 2 of one"]);
    terminal.press("\u{5}\u{15}\r");
    desk.until_starred(&[]);
    terminal.press("A");
    desk.until_unread(&["Item 1 of two"]);
    quit(&mut terminal);
}

#[test]
fn a_slash_at_the_end_of_the_address_changes_nothing() {
    if !installed(&["newsboat"]) {
        return;
    }
    let desk = desk();
    for mode in [MINIFLUX, FEEDHQ] {
        let line = line(&desk, &mode.replace("URL", "URL/"));
        assert_eq!(counts_unread(&desk, &line), "5 unread articles", "{mode}");
        // Each mode begins with an empty cache.
        std::fs::remove_file(desk.folder("newsboat").join("cache")).unwrap();
    }
}

/// Opens the first feed and its newest entry, and goes back to the list of the feed.
fn read_newest(terminal: &mut Terminal) {
    terminal.press("\r");
    terminal.until_drawn("Item 2 of one");
    terminal.press("\r");
    terminal.until_drawn("Text of item 2.");
    terminal.press("q");
}

fn quit(terminal: &mut Terminal) {
    terminal.press("qq");
    terminal.until_ended();
}
