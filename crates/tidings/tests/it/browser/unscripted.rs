//! Without scripts: the same acts, by links and forms alone.

use super::{Stage, stage};
use crate::documents::opml;
use crate::program::{alone, path_text};

#[test]
fn feeds_are_added_by_a_page_that_names_several_and_entries_are_read() {
    let _alone = alone();
    let Stage { publisher, mut browser, daemon: _daemon, .. } = stage();
    browser.scripts(false);
    browser.open("/");
    browser.fill("input[name=url]", &publisher.url("/site"));
    browser.follow("button.first");
    browser.sees("Which of these feeds?");
    browser.click("label.check:nth-of-type(2) input");
    browser.follow("main button.first");
    browser.sees("Item 3 of a");
    browser.sees("Item 1 of b");
    browser.follow("#lines > li:first-child h2 a");
    browser.wait("location.pathname.startsWith('/entry/')");
    browser.follow("button.star");
    browser.sees("Take the star away");
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
fn a_feed_is_named_tagged_set_paused_polled_and_removed() {
    let _alone = alone();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.scripts(false);
    browser.open("/feeds");
    browser.follow(".feeds tbody th a:not(.tag)");
    browser.fill("input[name=title]", "My own name");
    browser.follow("form[action$='/title'] button");
    browser.sees("My own name");
    browser.fill("input[name=tags]", "local, kept");
    browser.follow("form[action$='/tags'] button");
    browser.wait("document.querySelector('input[name=tags]').value === 'kept, local'");
    browser.fill("input[name=policy]", "fix:1h");
    browser.fill("input[name=alpha]", "10m");
    browser.follow("form[action$='/settings'] button");
    browser.wait("document.querySelector('input[name=alpha]').value === '10m'");
    browser.fill("input[name=alpha]", "soon");
    browser.follow("form[action$='/settings'] button");
    browser.sees("is not a duration");
    browser.open("/feed/1");
    browser.follow("form[action$='/pause'] button");
    browser.sees("paused");
    browser.follow("form[action$='/resume'] button");
    browser.wait("document.querySelector('form[action$=\"/pause\"]')");
    browser.follow("form[action$='/poll'] button");
    browser.wait("document.querySelectorAll('.polls tbody tr').length === 2");
    browser.open("/?tag=local");
    browser.sees("Item 1 of a");
    browser.open("/feed/1");
    browser.follow("a[href$='/remove']");
    browser.sees("Remove My own name?");
    browser.follow("button.danger");
    browser.wait("location.pathname === '/feeds'");
    assert!(stage.instance.feeds().is_empty());
    stage.browser.was_clean();
}

#[test]
fn lists_come_as_a_file_and_go_as_a_link() {
    let _alone = alone();
    let mut stage = stage();
    let list = opml(&[stage.publisher.url("/a.xml"), stage.publisher.url("/b.xml")]);
    let file = stage.instance.write("list.opml", list);
    let browser = &mut stage.browser;
    browser.scripts(false);
    browser.open("/");
    browser.choose_file("input[type=file]", path_text(&file));
    browser.follow("form[action='/import'] button");
    browser.sees("2 feeds added");
    browser.open("/feeds");
    browser.wait("document.querySelectorAll('.feeds tbody th').length === 2");
    browser.wait("document.querySelector('a[href=\"/export.opml\"]')");
    browser.was_clean();
}

#[test]
fn a_query_is_tried_saved_and_dropped() {
    let _alone = alone();
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
    browser.sees("Q keeps 1 of 4 entries");
    browser.eval("document.querySelector('select[name=past]').value = '7'");
    browser.follow("main form button.first");
    browser.sees("1 entry kept so far");
    browser.follow("main .acts-row a");
    browser.sees("Item 2 of a");
    browser.open("/query/Q");
    browser.follow("a[href$='/drop']");
    browser.follow("button.danger");
    browser.sees("No queries yet");
    browser.was_clean();
}

#[test]
fn the_budget_is_set_and_lifted_and_the_other_places_answer() {
    let _alone = alone();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.scripts(false);
    browser.open("/budget");
    browser.sees("No budget: every feed is polled");
    browser.fill("input[name=budget]", "50/1h");
    browser.follow("form[action='/budget'] button.first");
    browser.sees("At most 50/1h polls");
    browser.follow("button[name=off]");
    browser.sees("No budget: every feed is polled");
    browser.follow("form[action='/what-if'] button");
    // The page looks again by itself until the replay ended.
    browser.sees("the history is shorter than a day");
    browser.open("/lab");
    browser.sees("None yet. Commands of the lab write them");
    browser.open("/health");
    browser.sees("All is well");
    browser.open("/account");
    browser.sees("tidings user add NAME");
    browser.was_clean();
}

#[test]
fn somebody_logs_in_makes_a_token_and_logs_out() {
    let _alone = alone();
    let mut stage = Stage::with_feed();
    stage.account("anna", "correct horse");
    let browser = &mut stage.browser;
    browser.scripts(false);
    browser.open("/feeds");
    browser.sees("Log in");
    browser.fill("input[name=name]", "anna");
    browser.fill("input[name=password]", "correct horse");
    browser.follow("main button");
    browser.wait("location.pathname === '/feeds'");
    browser.follow("a.who");
    browser.fill("form[action='/account/tokens'] input[name=name]", "phone");
    browser.follow("form[action='/account/tokens'] button");
    browser.sees("it is shown this once");
    browser.follow("form[action='/account/tokens/revoke'] button");
    browser.sees("The token is taken back.");
    browser.follow("form[action='/logout'] button");
    browser.sees("Log in");
    browser.open("/");
    browser.wait("location.pathname === '/login'");
    browser.was_clean();
}
