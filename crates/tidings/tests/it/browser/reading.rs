//! Reading all entries, a tag, a feed, a query and a search, down to the full entry. The clicks are
//! the same with scripts, which open the entry in place, and without.

use super::{Stage, with_scripts_and_without};

#[test]
fn every_scope_is_read_down_to_the_whole_entry() {
    let set = || {
        let stage = Stage::with_feed();
        stage.query("CREATE FEED Twos AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\"");
        let more = crate::documents::rss_of("a", 0..6);
        stage.publisher.set("/a.xml", more + "<!-- Item 4, Item 5 -->");
        stage.publisher.set("/c.xml", crate::documents::rss("c", 3));
        stage.with_paths(&["/b.xml", "/c.xml"])
    };
    with_scripts_and_without(set, |stage| {
        let browser = &mut stage.browser;
        let lines = |n| format!("document.querySelectorAll('#lines > li').length === {n}");
        browser.open("/");
        browser.wait(&lines(6 + 2 + 3));
        browser.follow("nav.scopes a[href='/?tag=news']");
        browser.wait(&lines(6));
        browser.follow("#lines > li:last-child .meta a");
        browser.wait("location.search.startsWith('?feed=1')");
        browser.wait(&lines(6));
        browser.follow("a.about");
        browser.wait("location.pathname === '/feed/1'");
        browser.open("/");
        browser.follow("nav.scopes a[href='/?query=Twos']");
        browser.sees("Item 2 of c");
        browser.wait(&lines(1));
        // The search index is updated after the polls.
        browser.open_until("/health", "document.body.innerText.includes('0 entries behind')");
        browser.open("/");
        browser.fill("input[type=search]", "item TITLE CONTAINS 1 NOT b");
        browser.follow("form.find button");
        browser.wait(&lines(2));
        browser.open("/?q=(item");
        browser.wait("document.querySelector('.trouble[role=status]')");
        browser.open("/?feed=1");
        browser.click("#lines > li:first-child h2 a");
        browser
            .wait("document.querySelector('.article .prose')?.innerText.includes('Text of item')");
        browser.wait("document.querySelectorAll('.article .meta time[datetime]').length === 2");
        browser.wait("document.querySelector('.article .meta').innerText.includes('2024')");
        browser.wait("document.querySelector('.article .meta').innerText.includes('fetched')");
        browser.wait("document.querySelector('.article a.original').rel.includes('noreferrer')");
        browser.open("/?feed=1");
        browser.wait(&lines(5));
        browser.follow("nav.tabs a[href*='show=all']");
        browser.wait(&lines(6));
        browser.wait("document.querySelectorAll('#lines > li.read').length === 1");
    });
}
