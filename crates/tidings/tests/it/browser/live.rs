//! Comfort while reading: new entries appear without a reload, the original opens in a new tab, and
//! "mark all read" can be undone. The reader chooses time zone, order and text size.

use serde_json::json;

use super::{Stage, with_scripts_and_without};
use crate::documents::rss_of;
use crate::program::eventually;
use crate::turns::turn;

const LINES: &str = "document.querySelectorAll('#lines > li').length";

/// An RSS document with these titles and texts, the newest first, whose links lead to the site
/// itself.
fn titled(site: &str, items: &[(&str, &str)]) -> String {
    let mut text = "<rss version=\"2.0\"><channel><title>T</title>".to_owned();
    for (n, (title, body)) in items.iter().enumerate() {
        let hour = 23 - n;
        text += &format!(
            "<item><title>{title}</title><link>{site}/original/{n}</link><guid>{n}</guid>\
             <pubDate>05 Jan 2024 {hour:02}:30:00 GMT</pubDate>\
             <description>{body}</description></item>"
        );
    }
    text + "</channel></rss>"
}

#[test]
fn new_entries_appear_by_themselves_and_the_count_follows() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    stage.browser.open("/");
    stage.browser.wait(&format!("{LINES} === 4"));
    stage.browser.wait("document.querySelector('#unread').textContent === '4'");
    stage.browser.eval("window.here_since = true");
    stage.publisher.set("/a.xml", rss_of("a", 0..6));
    stage.instance.run(&["feed", "poll", "1"]).ok();
    let browser = &mut stage.browser;
    browser.wait("document.querySelector('#fresh a')?.textContent === '2 new entries'");
    browser.wait("document.querySelector('#unread').textContent === '6'");
    browser.wait(&format!("window.here_since && {LINES} === 4"));
    // Marks from elsewhere change the count too.
    browser.click("#lines > li:first-child .mark");
    browser.wait("document.querySelector('#unread').textContent === '5'");
    browser.press("n");
    browser.wait(&format!("!window.here_since && {LINES} === 5"));
    // An empty list shows new entries without a click.
    browser.follow("#all");
    browser.sees("All read");
    stage.publisher.set("/a.xml", rss_of("a", 0..7));
    stage.instance.run(&["feed", "poll", "1"]).ok();
    stage.browser.wait(&format!("{LINES} === 1"));
    stage.browser.was_clean();
}

#[test]
fn the_original_opens_in_a_new_tab_and_an_opened_entry_is_at_the_top() {
    let _turn = turn();
    let stage = Stage::with_feed();
    let site = stage.publisher.url("");
    let items: Vec<(&str, &str)> = vec![("One", "Text"); 12];
    stage.publisher.set("/o.xml", titled(site.trim_end_matches('/'), &items));
    let mut stage = stage.with_paths(&["/o.xml"]);
    let browser = &mut stage.browser;
    browser.size(800, 300);
    browser.open("/");
    for _ in 0..3 {
        browser.press("j");
    }
    browser.press("v");
    let opened = |browser: &mut super::Browser| {
        let found = browser.call("Target.getTargets", json!({}));
        let tabs = found["targetInfos"].as_array().cloned().unwrap_or_default();
        let urls = tabs.iter().filter_map(|tab| tab["url"].as_str().map(str::to_owned));
        urls.filter(|url| url.contains("/original/")).count()
    };
    eventually("a tab is open", || (opened(browser) >= 1).then_some(()));
    browser.wait("!document.querySelector('.here .article') && location.pathname === '/'");
    browser.wait("document.querySelector('.here .original').rel.includes('noopener')");
    browser.press("o");
    browser.wait("document.querySelector('.here .article')");
    browser.wait("Math.abs(document.querySelector('.here').getBoundingClientRect().top - 16) < 3");
    browser.press("v");
    eventually("two tabs are open", || (opened(browser) >= 2).then_some(()));
    browser.was_clean();
}

#[test]
fn mark_all_read_is_undone_exactly() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        browser.open("/entry/2");
        browser.open("/");
        browser.wait(&format!("{LINES} === 3"));
        browser.follow("#all");
        browser.sees("3 entries marked as read.");
        browser.sees("All read");
        browser.follow("#undo");
        browser.wait(&format!("{LINES} === 3"));
        browser.wait("!document.querySelector('#undo')");
        browser.open("/?show=all");
        browser.wait("document.querySelectorAll('#lines > li.read').length === 1");
    });
}

#[test]
fn mark_all_read_and_its_undo_have_keys() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.open("/");
    browser.press("A");
    browser.sees("4 entries marked as read.");
    browser.press("z");
    browser.wait(&format!("{LINES} === 4"));
    browser.was_clean();
}

#[test]
fn right_to_left_scripts_are_set_from_the_right() {
    let _turn = turn();
    let stage = Stage::with_feed();
    let items = [
        ("أخبار اليوم من المدينة", "نص طويل عن الأخبار"),
        ("חדשות היום מן העיר", "טקסט על החדשות"),
        ("News of today", "A text"),
    ];
    stage.publisher.set("/r.xml", titled("http://example.org", &items));
    let mut stage = stage.with_paths(&["/r.xml"]);
    let browser = &mut stage.browser;
    browser.open("/?feed=2");
    browser.wait(&format!("{LINES} === 3"));
    let direction = |selector: &str| {
        format!("getComputedStyle(document.querySelector(\"{selector}\")).direction")
    };
    for (n, expected) in [(1, "rtl"), (2, "rtl"), (3, "ltr")] {
        for part in ["h2", ".teaser"] {
            let of = direction(&format!("#lines > li:nth-child({n}) {part}"));
            assert_eq!(browser.eval(&of), expected, "{part} of line {n}");
        }
        let meta = direction(&format!("#lines > li:nth-child({n}) .meta"));
        assert_eq!(browser.eval(&meta), "ltr", "our own words stay as they are");
        browser.click(&format!("#lines > li:nth-child({n}) h2 a"));
        let prose = format!("#lines > li:nth-child({n}) .prose");
        browser.wait(&format!("document.querySelector('{prose}')"));
        assert_eq!(browser.eval(&direction(&prose)), expected, "the text of entry {n}");
    }
    let href = "document.querySelector('#lines > li:first-child h2 a').getAttribute('href')";
    let href = browser.eval(href).as_str().unwrap_or_default().to_owned();
    browser.open(&href);
    assert_eq!(browser.eval(&direction("h1")), "rtl");
    assert_eq!(browser.eval(&direction(".prose")), "rtl");
    browser.was_clean();
}

#[test]
fn times_are_in_the_zone_of_the_browser_or_of_the_account() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.call("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"}));
    browser.open("/?feed=1");
    // The script sends the zone once, and the page reloads.
    browser.wait("document.documentElement.dataset.zone === 'Asia/Tokyo'");
    browser.sees("Asia/Tokyo");
    browser.wait("document.querySelector('.day').textContent === 'Monday, 1 January 2024'");
    browser.open("/account");
    browser.fill("input[name=zone]", "America/New_York");
    browser.follow("form[action='/choices'] button:not([name])");
    browser.wait("document.querySelector('input[name=zone]').value === 'America/New_York'");
    browser.open("/?feed=1");
    browser.sees("America/New_York");
    // Three in the morning in London is ten in the evening before in New York.
    browser.wait("document.querySelector('.day').textContent === 'Sunday, 31 December 2023'");
    browser.wait("document.querySelector('#lines time').title === '2024-01-01T03:00:00Z'");
    browser.was_clean();
}

#[test]
fn order_and_size_are_choices_that_stay() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        let first = |n: u32| {
            format!("document.querySelector('#lines > li').innerText.includes('Item {n} of a')")
        };
        browser.open("/");
        browser.wait(&first(3));
        browser.follow("button[name=order]");
        browser.wait(&first(0));
        // "Down to here" means the entries above, in either order.
        browser.open("/?tag=news");
        browser.wait(&first(0));
        browser.click("#lines > li:nth-child(2) .above");
        browser.wait("document.querySelectorAll('#lines > li:not(.read)').length === 2");
        browser.open("/");
        browser.wait(&first(2));
        browser.open("/entry/1?show=all");
        browser.follow("a[rel=next]");
        browser.wait("document.querySelector('a[rel=next]').textContent.includes('Newer')");
        let usual = browser.eval("getComputedStyle(document.documentElement).fontSize");
        browser.follow(".sizes button[value=larger]");
        browser.wait("document.documentElement.dataset.size === 'larger'");
        let larger = browser.eval("getComputedStyle(document.documentElement).fontSize");
        assert_eq!((usual, larger), (json!("16px"), json!("23px")));
        let measure = "getComputedStyle(document.querySelector('.prose')).maxWidth";
        assert_eq!(browser.eval(measure), "920px", "40 times the size of the text");
        browser.follow(".widths button[value=wide]");
        browser.wait("document.documentElement.dataset.width === 'wide'");
        assert_eq!(browser.eval(measure), "1242px");
    });
}
