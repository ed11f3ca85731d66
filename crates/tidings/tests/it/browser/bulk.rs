//! Many feeds and tags by clicks: the same with scripts and without. Dragging needs scripts.

use super::{Stage, with_scripts_and_without};
use crate::turns::turn;

const ORDER: &str =
    "[...document.querySelectorAll('li[data-item]')].map(i => i.dataset.item).join()";

/// Three feeds; the first has the tag `news`.
fn three() -> Stage {
    Stage::with_feed().with_paths(&["/b.xml", "/site"])
}

/// The tags of all feeds.
fn tags(stage: &Stage) -> String {
    let feeds = stage.instance.feeds();
    feeds.iter().map(|feed| feed["tags"].to_string()).collect::<Vec<_>>().join(" ")
}

fn choose(stage: &mut Stage, act: &str, value: &str) {
    let browser = &mut stage.browser;
    browser.eval(&format!("document.querySelector('#bulk select').value = '{act}'"));
    browser.fill("#bulk input[name=value]", value);
    browser.follow("#bulk button");
}

#[test]
fn many_feeds_are_tagged_paused_and_left_and_all_of_it_is_undone() {
    with_scripts_and_without(three, |stage| {
        stage.browser.open("/feeds?sort=title");
        for number in [1, 2] {
            stage.browser.click(&format!("input[name=feed][value='{number}']"));
        }
        choose(stage, "tag", "one, two");
        stage.browser.sees("Tagged 2 feeds with “one”, “two”.");
        stage.browser.wait("location.search === '?sort=title'");
        assert_eq!(tags(stage), r#"["news","one","two"] ["one","two"] []"#);
        stage.browser.follow("form[action='/bulk/undo'] button");
        assert_eq!(tags(stage), r#"["news"] [] []"#);

        stage.browser.open("/feeds?q=xml");
        stage.browser.click("input[name=every]");
        choose(stage, "pause", "");
        stage.browser.sees("Paused 2 feeds.");
        let state = |stage: &Stage| {
            let feeds = stage.instance.feeds();
            feeds.iter().filter(|feed| feed["state"] == "paused").count()
        };
        assert_eq!(state(stage), 2);
        stage.browser.open("/feeds?tag=news");
        stage.browser.click("input[name=feed][value='1']");
        choose(stage, "unsubscribe", "");
        stage.browser.sees("Unsubscribed from 1 feed.");
        stage.browser.follow("form[action='/bulk/undo'] button");
        stage.browser.sees("Paused 2 feeds.");
        stage.browser.follow("form[action='/bulk/undo'] button");
        assert_eq!(state(stage), 0);
        stage.browser.open("/feeds");
        choose(stage, "tag", "x");
        stage.browser.sees("Choose at least one feed.");
    });
}

#[test]
fn tags_are_moved_renamed_merged_and_removed() {
    let set = || {
        let stage = three();
        stage.instance.run(&["feed", "change", "2", "--add-tag", "a", "--add-tag", "b"]).ok();
        stage
    };
    with_scripts_and_without(set, |stage| {
        let browser = &mut stage.browser;
        browser.open("/feeds");
        browser.follow("a[href='/tags']");
        browser.wait(&format!("{ORDER} === 'a,b,news'"));
        browser.follow("li[data-item=news] button[value=up]");
        browser.wait(&format!("{ORDER} === 'a,news,b'"));
        browser.follow("li[data-item=a] button[value=down]");
        browser.wait(&format!("{ORDER} === 'news,a,b'"));
        browser.click("li[data-item=b] summary");
        browser.fill("li[data-item=b] input[name=name]", "news");
        browser.follow("li[data-item=b] button[value=rename]");
        browser.wait(&format!("{ORDER} === 'news,a'"));
        browser.sees("2 feeds");
        browser.sees("Renamed the tag “b” of 1 feed to “news”.");
        browser.follow("form[action='/bulk/undo'] button");
        browser.wait(&format!("{ORDER} === 'news,a,b'"));
        browser.click("li[data-item=a] summary");
        browser.follow("li[data-item=a] button[value=remove]");
        browser.wait(&format!("{ORDER} === 'news,b'"));
        browser.open("/");
        browser.wait("document.querySelector('.scopes a[href*=tag]').innerText.includes('news')");
    });
}

#[test]
fn tags_are_dragged_and_moved_by_keys() {
    let _turn = turn();
    let mut stage = three();
    stage.instance.run(&["feed", "change", "2", "--add-tag", "a", "--add-tag", "b"]).ok();
    let browser = &mut stage.browser;
    browser.open("/tags");
    browser.wait("document.querySelector('li[data-item=a]').draggable");
    // The events of a drag of `news` onto the upper half of `a`.
    browser.eval(
        "(() => { const item = (tag) => document.querySelector(`li[data-item=${tag}]`); \
         const fire = (tag, name, y) => item(tag).dispatchEvent(new DragEvent(name, \
           {bubbles: true, cancelable: true, clientY: y})); \
         fire('news', 'dragstart', 0); \
         fire('a', 'dragover', item('a').getBoundingClientRect().top + 1); \
         fire('news', 'dragend', 0); })()",
    );
    browser.wait(&format!("{ORDER} === 'news,a,b'"));
    let order = |stage: &mut Stage| {
        let list = stage.instance.run(&["tag", "list"]).ok().stdout;
        list.lines().map(|line| line.split(' ').next().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    crate::program::eventually("the order is stored", || {
        (order(&mut stage) == ["news", "a", "b"]).then_some(())
    });
    stage.browser.eval(
        "(() => { const link = document.querySelector('li[data-item=b] a'); link.focus(); \
         link.dispatchEvent(new KeyboardEvent('keydown', \
           {key: 'ArrowUp', altKey: true, bubbles: true, cancelable: true})); })()",
    );
    crate::program::eventually("the order by keys is stored", || {
        (order(&mut stage) == ["news", "b", "a"]).then_some(())
    });
    stage.browser.wait("document.activeElement.closest('li').dataset.item === 'b'");
    stage.browser.open("/tags");
    stage.browser.wait(&format!("{ORDER} === 'news,b,a'"));
    stage.browser.was_clean();
}
