//! With scripts: keys, opening in place, marks without reloading, previews while typing.

use std::time::Duration;

use super::{Stage, line, stage};
use crate::program::eventually;
use crate::turns::turn;

#[test]
fn a_new_user_reads_the_first_entry_on_the_keyboard_alone() {
    let _turn = turn();
    let mut stage = stage();
    let (url, browser) = (stage.publisher.url("/a.xml"), &mut stage.browser);
    browser.open("/");
    browser.sees("Nothing to read yet");
    // The field has the focus already.
    browser.wait("document.activeElement.name === 'url'");
    browser.type_text(&url);
    browser.press("Enter");
    browser.sees("Item 1 of a");
    browser.press("j");
    browser.wait("document.querySelector('#lines > li.here h2 a') === document.activeElement");
    browser.press("o");
    browser.wait("document.querySelector('#lines > li.here .article .prose, li.here .article')");
    browser.wait("document.querySelector('li.here').classList.contains('read')");
    browser.was_clean();
}

#[test]
fn every_key_does_what_the_help_says() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.open("/");
    browser.eval("window.here_since = true");
    for _ in 0..3 {
        browser.press("j");
    }
    browser.press("k");
    browser.wait(
        "[...document.querySelectorAll('#lines > li')].indexOf(\
                  document.querySelector('.here')) === 1",
    );
    browser.press("s");
    browser.wait("document.querySelector('.here').classList.contains('starred')");
    browser.press("m");
    browser.wait("document.querySelector('.here').classList.contains('read')");
    browser.press("m");
    browser.wait("!document.querySelector('.here').classList.contains('read')");
    browser.press("u");
    browser.wait("document.querySelectorAll('#lines > li.read').length === 2");
    browser.press("o");
    browser.wait("document.querySelector('.here .article')");
    browser.press("o");
    browser.wait("!document.querySelector('.here .article')");
    browser.press("?");
    browser.wait("document.querySelector('#keys').open");
    browser.press("Escape");
    browser.wait("!document.querySelector('#keys').open");
    browser.press("/");
    browser.wait("document.activeElement.type === 'search'");
    browser.press("Escape");
    browser.wait("document.activeElement.type !== 'search'");
    browser.wait("window.here_since");
    // The server has the marks too.
    browser.open("/?show=starred");
    browser.wait("document.querySelectorAll('#lines > li').length === 1");
    browser.open("/");
    browser.wait("document.querySelectorAll('#lines > li').length === 2");
    for (key, path) in [("f", "/feeds"), ("q", "/queries"), ("b", "/budget"), ("r", "/")] {
        // The second key counts for a moment only, which a busy machine may miss.
        eventually(&format!("the keys lead to {path}"), || {
            browser.press("g");
            browser.press(key);
            let is_there = format!("location.pathname === '{path}'");
            (0..100)
                .any(|_| {
                    std::thread::sleep(Duration::from_millis(30));
                    browser.holds(&is_there)
                })
                .then_some(())
        });
        browser.wait("document.readyState === 'complete'");
    }
    browser.was_clean();
}

#[test]
fn marks_are_made_by_clicks_without_leaving_the_page() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.open("/");
    browser.eval("window.here_since = true");
    browser.click("#lines > li:nth-child(2) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(2).starred')");
    browser.click("#lines > li:nth-child(2) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(2):not(.starred)')");
    browser.click("#lines > li:nth-child(1) .mark");
    browser.wait("document.querySelector('#lines > li:nth-child(1).read')");
    browser.click("#lines > li:nth-child(3) .above");
    browser.wait("document.querySelectorAll('#lines > li.read').length === 3");
    browser.click("#lines > li:nth-child(4) h2 a");
    browser.wait("document.querySelector('#lines > li:nth-child(4) .article')");
    browser.wait("window.here_since && document.querySelectorAll('#lines > li.read').length === 4");
    browser.open("/");
    browser.sees("All read");
    browser.was_clean();
}

#[test]
fn a_query_is_previewed_while_it_is_typed() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.open("/queries/new");
    browser.fill("#text", "CREATE FEED Ones AS RETURN ALL FEEDS WHERE TITEL CONTAINS \"1\"");
    browser.wait("document.querySelector('#preview mark')?.textContent === 'TITEL'");
    browser.fill("#text", "CREATE FEED Ones AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"1\"");
    browser.sees("Ones finds 1 of 4 entries");
    browser.follow("form button.first");
    browser.wait("location.pathname === '/query/Ones'");
    browser.open("/?query=Ones");
    browser.sees("Nothing here yet");
    browser.was_clean();
}

#[test]
fn a_search_finds_by_words_and_says_what_it_does_not_understand() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    // The search index is updated after the polls.
    browser.open_until("/health", "document.body.innerText.includes('0 entries behind')");
    browser.open("/");
    browser.press("/");
    browser.type_text("item TITLE CONTAINS 2");
    browser.press("Enter");
    browser.wait("document.querySelectorAll('#lines > li').length === 1");
    browser.sees("Item 2 of a");
    browser.open("/?q=(item");
    browser.wait("document.querySelector('.trouble[role=status]')");
    browser.was_clean();
}

#[test]
fn what_comes_meanwhile_is_not_swept_away() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    stage.browser.open("/");
    stage.browser.sees("Item 1 of a");
    stage.publisher.set("/b.xml", crate::documents::rss("late", 1));
    let url = stage.publisher.url("/b.xml");
    stage.instance.run(&["feed", "add", &url]).ok();
    let browser = &mut stage.browser;
    // The notice of it moves the button.
    browser.wait("document.querySelector('#fresh a')");
    browser.follow(".pages form button");
    browser.wait(&format!(
        "{} && document.querySelectorAll('#lines > li').length === 1",
        line("late")
    ));
    browser.was_clean();
}

#[test]
fn a_mark_of_somebody_who_was_logged_out_is_not_shown_as_made() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    stage.browser.open("/");
    stage.browser.wait("document.querySelectorAll('#lines > li').length === 4");
    // With the first account, the open page has no login any more.
    stage.account("anna", "correct horse");
    stage.browser.click("#lines > li:first-child button.star");
    stage.browser.wait("location.pathname === '/login'");
}
