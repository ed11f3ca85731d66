//! Without scripts: links and forms do everything that the script does in place.

use super::{Stage, stage};
use crate::turns::turn;

#[test]
fn feeds_are_added_by_a_page_that_names_several_and_entries_are_read() {
    let _turn = turn();
    let mut stage = stage();
    let (site, browser) = (stage.publisher.url("/site"), &mut stage.browser);
    browser.scripts(false);
    browser.open("/");
    browser.fill("input[name=url]", &site);
    browser.follow("button.first");
    browser.sees("Which of these feeds?");
    browser.click("label.check:nth-of-type(2) input");
    browser.follow("main button.first");
    browser.sees("Item 3 of a");
    browser.sees("Item 1 of b");
    browser.follow("#lines > li:first-child h2 a");
    browser.wait("location.pathname.startsWith('/entry/')");
    browser.follow("button.star");
    browser.sees("Remove star");
    browser.follow("a[rel=next]");
    browser.follow("button.mark");
    browser.wait("location.pathname === '/'");
    // The first was read, the second was left unread.
    browser.wait("document.querySelectorAll('#lines > li').length === 5");
    browser.follow("#lines > li:nth-child(2) .above");
    browser.wait("document.querySelectorAll('#lines > li').length === 3");
    browser.follow("#lines > li:first-child .mark");
    browser.wait("document.querySelectorAll('#lines > li').length === 2");
    browser.follow(".pages form button");
    browser.sees("All read");
    browser.open("/?show=starred");
    browser.wait("document.querySelectorAll('#lines > li').length === 1");
    browser.follow(".lights button[value=dark]");
    browser.wait("document.documentElement.dataset.light === 'dark'");
    browser.was_clean();
}

#[test]
fn a_query_is_tried_saved_and_dropped() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.scripts(false);
    browser.open("/queries");
    browser.follow("main a.button");
    browser.fill("#text", "CREATE FEED Q AS RETRUN ALL FEEDS");
    browser.follow("main form button.first");
    browser.wait("document.querySelector('mark').textContent === 'RETRUN'");
    browser.fill("#text", "CREATE FEED Q AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\"");
    browser.follow("button[formaction]");
    browser.sees("Q finds 1 of 4 entries");
    browser.eval("document.querySelector('select[name=past]').value = '7'");
    browser.follow("main form button.first");
    browser.sees("1 entry found so far");
    browser.follow("main .acts-row a");
    browser.sees("Item 2 of a");
    browser.open("/query/Q");
    browser.follow("a[href$='/drop']");
    browser.follow("button.danger");
    browser.sees("No queries yet");
    browser.was_clean();
}
