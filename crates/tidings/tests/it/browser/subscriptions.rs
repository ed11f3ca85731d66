//! The pages of feeds and of one feed: adding, import, export, problems in words, and changes. The
//! clicks are the same with scripts and without.

use super::{Stage, stage, with_scripts_and_without};
use crate::documents::{opml, rss_of};
use crate::program::path_text;
use crate::wire::Response;

#[test]
fn a_page_that_names_several_feeds_offers_a_choice() {
    with_scripts_and_without(stage, |stage| {
        let (site, browser) = (stage.publisher.url("/site"), &mut stage.browser);
        browser.open("/feeds");
        browser.fill("form[action='/feeds'] input[name=url]", &site);
        browser.fill("form[action='/feeds'] input[name=tags]", "chosen");
        browser.follow("form[action='/feeds'] button.first");
        browser.sees("Which of these feeds?");
        browser.click("label.check:nth-of-type(1) input");
        browser.click("label.check:nth-of-type(2) input");
        browser.follow("main button.first");
        browser.sees("Item 1 of b");
        let feeds = stage.instance.feeds();
        assert_eq!(feeds.len(), 1, "one was ticked");
        assert_eq!(feeds[0]["tags"], serde_json::json!(["chosen"]));
        // Text that is not an address is refused at once.
        let browser = &mut stage.browser;
        browser.open("/feeds");
        browser.fill("form[action='/feeds'] input[name=url]", "no such place");
        browser.follow("form[action='/feeds'] button.first");
        browser.sees("Could not add the feed");
    });
}

#[test]
fn lists_come_as_a_file_or_pasted_and_go_as_a_link() {
    with_scripts_and_without(stage, |stage| {
        let (a, b) = (stage.publisher.url("/a.xml"), stage.publisher.url("/b.xml"));
        let file = stage.instance.write("list.opml", opml([&a]));
        let browser = &mut stage.browser;
        browser.open("/");
        browser.choose_file("input[type=file]", path_text(&file));
        browser.follow("form[action='/import'] button");
        browser.sees("1 feed added");
        browser.open("/feeds");
        browser.click("details summary");
        browser.fill("textarea[name=file]", &opml([&a, &b, &"gopher://x".to_owned()]));
        browser.follow("form[action='/import'].stack button");
        browser.sees("1 feed added");
        browser.sees("1 feed was already there");
        browser.sees("Skipped");
        browser.open("/feeds");
        browser.wait("document.querySelectorAll('.feeds tbody th').length === 2");
        let list = browser.eval(
            "fetch(document.querySelector('a[href=\"/export.opml\"]').href).then(r => r.text())",
        );
        let list = list.as_str().unwrap();
        assert!(list.contains(&a) && list.contains(&b), "{list}");
        browser.open("/feeds");
        browser.click("details summary");
        browser.fill("textarea[name=file]", "not a list");
        browser.follow("form[action='/import'].stack button");
        browser.sees("Could not import the list");
    });
}

#[test]
fn trouble_is_said_in_words_with_advice_and_comes_first() {
    let set = || {
        let stage = Stage::with_feed();
        stage.publisher.set_answer("/gone.xml", Response::new(410));
        let page = Response::new(200).with("content-type", "text/html").body("<p>Hello</p>");
        stage.publisher.set_answer("/page", page);
        stage.with_paths(&["/gone.xml", "/lost.xml", "/page"])
    };
    with_scripts_and_without(set, |stage| {
        let browser = &mut stage.browser;
        browser.open("/feeds");
        browser.eval("document.querySelector('select[name=sort]').value = 'trouble'");
        browser.follow("form.search button");
        browser.wait("location.search.includes('sort=trouble')");
        let states = browser.eval(
            "[...document.querySelectorAll('.feeds td .state')].map(s => s.innerText.trim())",
        );
        let states: Vec<&str> =
            states.as_array().unwrap().iter().flat_map(|s| s.as_str()).collect();
        assert_eq!(states.len(), 4);
        assert_eq!(states.last(), Some(&"active"), "{states:?}");
        browser.sees("There is nothing at this address now.");
        browser.sees("The server answers, but not with a feed.");
        browser.sees("The publisher ended this feed.");
        browser.follow(".states a[href*='state=gone']");
        browser.wait("document.querySelectorAll('.feeds tbody th').length === 1");
        browser.follow(".feeds tbody th a");
        browser.wait("document.querySelector('.trouble').innerText.includes('publisher ended')");
        browser.sees("Try again");
        browser.open("/feeds");
        browser.fill("form.search input[name=q]", "lost");
        browser.follow("form.search button");
        browser.wait("document.querySelectorAll('.feeds tbody th').length === 1");
        browser.open("/health");
        browser.wait("document.querySelectorAll('.feeds tr.why').length === 2");
        browser.sees("There is nothing at this address now.");
        browser.follow("a[href='/feeds?sort=trouble']");
        browser.sees("The publisher ended this feed.");
    });
}

#[test]
fn a_feed_tells_what_it_does_and_what_polling_it_costs() {
    let set = || {
        let stage = stage();
        let url = stage.publisher.url("/r.xml");
        stage.publisher.set("/r.xml", rss_of("r", 0..30));
        stage.instance.run(&["feed", "add", &url]).ok();
        // First nothing is new; then no entry of the last window is left.
        stage.instance.poll("1");
        stage.publisher.set("/r.xml", rss_of("r", 40..70));
        stage.instance.poll("1");
        stage
    };
    with_scripts_and_without(set, |stage| {
        let browser = &mut stage.browser;
        browser.open("/feed/1");
        browser.wait("document.querySelectorAll('.rhythms svg').length === 2");
        browser.wait("document.querySelectorAll('.rhythms rect').length === 24 + 7");
        browser.sees("60 entries");
        browser.wait("document.querySelectorAll('figure.line .ticks > g').length === 3");
        browser.wait("document.querySelectorAll('figure.line .ticks > g.unchanged').length === 1");
        browser.wait("document.querySelector('figure.line .next-poll')");
        browser.wait("document.querySelector('.next time').innerText.startsWith('in ')");
        browser.wait("document.querySelectorAll('.next p').length > 1");
        let sums = browser.eval(
            "Object.fromEntries([...document.querySelectorAll('.totals > div')].map(d => \
             [d.querySelector('dt').innerText, d.querySelector('dd').innerText]))",
        );
        let sum = |name: &str| sums[name].as_str().unwrap_or("").to_owned();
        assert_eq!(sum("Polls"), "3", "{sums}");
        assert!(sum("Unchanged (304)").starts_with("33 %"), "{sums}");
        assert!(sum("Suspected misses").starts_with('1'), "{sums}");
        assert!(sum("Received").contains("per poll"), "{sums}");
        browser.wait("document.querySelectorAll('.polls tbody tr').length === 3");
        browser.follow("a[rel=next]");
        browser.wait("document.querySelectorAll('ol.entries > li').length > 0");
    });
}

#[test]
fn a_feed_is_named_tagged_set_paused_polled_and_removed() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
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
    });
}
