//! Rules and labels by clicks, with scripts and without.

use super::{Stage, with_scripts_and_without};
use crate::documents::rss_of;

const LINES: &str = "document.querySelectorAll('#lines > li').length";

#[test]
fn a_word_is_muted_by_two_clicks() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        // From the page of an entry, or with scripts from the list, where it opens in place.
        browser.open("/?show=all");
        browser.click("#lines > li:nth-child(2) h2 a");
        browser.click(".mute summary");
        browser.follow(".mute button[name=word]");
        browser.sees("This rule is on and hides new entries from now on");
        browser.sees("It would have acted on 4 of the newest 4 entries");
        browser.wait("document.querySelector('#text').value.startsWith('CREATE RULE mute-item')");
        browser.follow("form.said button");
        browser.sees("No rules yet");
        for _ in 0..2 {
            // The second time finds the first rule.
            browser.open("/entry/2");
            browser.click(".mute summary");
            browser.follow(".mute button[name=word]");
            browser.sees("This rule is on");
            browser.wait("location.pathname === '/rule/mute-item'");
        }
        // The past too: all entries of this feed have the word.
        browser.follow("form[action$='/past'] button");
        browser.sees("mute-item");
        browser.open_until("/rules", "document.body.innerText.includes('4 entries are hidden')");
        browser.sees("4 entries are hidden");
        stage.publisher.set("/a.xml", rss_of("a", 0..6));
        stage.instance.run(&["feed", "poll", "1"]).ok();
        let browser = &mut stage.browser;
        browser.open_until("/rules", "document.body.innerText.includes('6 entries are hidden')");
        browser.wait("document.querySelector('td[data-name=\"Acted on\"]').innerText === '6'");
        browser.open("/?show=all");
        browser.wait(&format!("{LINES} === 0"));
        browser.open("/?show=hidden");
        browser.wait(&format!("{LINES} === 6"));
        browser.open("/rules");
        browser.follow("form[action='/rules/hidden/show'] button");
        browser.open("/?show=all");
        browser.wait(&format!("{LINES} === 6"));
        browser.open("/rules");
        browser.follow("td form button");
        browser.sees("Switch on");
        browser.open("/rule/mute-item");
        browser.follow("form[action$='/delete'] button");
        browser.sees("No rules yet");
    });
}

#[test]
fn a_rule_with_a_fault_is_not_saved() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        browser.open("/rules/new");
        browser.wait("!document.querySelector('button[name=state]')");
        browser.fill("#text", "CREATE RULE x ON ALL FEEDS DO HIDDEN");
        browser.follow("form[action='/rules/try'] button");
        browser.sees("did you mean HIDE?");
        browser.fill("#text", "CREATE RULE x ON ALL FEEDS WHERE TITLE CONTAINS \"1\" DO STAR");
        browser.follow("form[action='/rules/try'] button");
        browser.sees("It would have acted on 1 of the newest 4 entries");
        browser.follow("button[value=off]");
        browser.sees("Switch on");
    });
}

#[test]
fn entries_get_labels() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        for entry in ["/entry/1", "/entry/2"] {
            browser.open(entry);
            browser.fill(".labels input[name=add]", "to read");
            browser.follow(".labels form:last-child button");
        }
        browser.follow(".labels a");
        browser.wait(&format!("{LINES} === 2 && location.search === '?label=to+read'"));
        browser.wait("document.querySelector('.scopes a[aria-current] b').innerText === '2'");
        browser.open("/entry/1");
        browser.follow(".labels button[name=remove]");
        browser.open("/?label=to+read");
        browser.wait(&format!("{LINES} === 1"));
        browser.follow("form[action='/labels/delete'] button");
        browser.wait("!document.querySelector('.scopes a[href*=label]')");
    });
}
