//! The page as an app: it can be installed, the unread entries can be read without a network, and
//! marks made there are sent later. Nobody sees the entries of another account.

use serde_json::json;

use super::{Browser, Stage};
use crate::turns::turn;

pub const LINES: &str = "document.querySelectorAll('#lines > li').length";
/// Whether the device keeps a number of entries.
const KEPT: &str = "new Promise(done => { const asked = indexedDB.open('tidings'); \
    asked.onsuccess = () => { const db = asked.result; \
    if (!db.objectStoreNames.contains('entries')) { db.close(); done(-1); return; } \
    const n = db.transaction('entries').objectStore('entries').count(); \
    n.onsuccess = () => { db.close(); done(n.result); }; }; })";

/// Looks at a page, thirty in a second. A mark that could not be sent is sent again after a minute.
pub const LOOKS: usize = 4000;

pub fn wait_kept(browser: &mut Browser, n: i64) {
    for _ in 0..LOOKS {
        if browser.eval(KEPT) == json!(n) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    panic!("the device keeps {}", browser.eval(KEPT));
}

/// Restores the network, and waits until the page without a network has loaded the real one.
pub fn back_online(browser: &mut Browser) {
    browser.set_offline(false);
    browser.wait(
        "document.readyState === 'complete' && !('offline' in document.documentElement.dataset)",
    );
}

/// Waits until the worker controls the page and the entries are kept.
pub fn prepared(stage: &mut Stage, n: i64) {
    let browser = &mut stage.browser;
    browser.open("/");
    browser.eval("navigator.serviceWorker.ready.then(() => true)");
    browser.open("/");
    browser.wait("navigator.serviceWorker.controller");
    wait_kept(browser, n);
}

/// Waits until the server has this number of read and of starred entries.
#[track_caller]
pub fn wait_marks(browser: &mut Browser, wanted: &str) {
    let read = "fetch('/?show=all').then(a => a.text()).then(t => { const d = new DOMParser()\
        .parseFromString(t, 'text/html'); return [d.querySelectorAll('#lines > li.read').length, \
        d.querySelectorAll('#lines > li.starred').length].join(); })";
    for _ in 0..LOOKS {
        if browser.eval(read) == json!(wanted) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert_eq!(browser.eval(read), json!(wanted));
}

#[test]
fn the_page_can_be_installed() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    prepared(&mut stage, 4);
    let found = stage.browser.call("Page.getAppManifest", json!({}));
    assert_eq!(found["errors"], json!([]));
    let manifest: serde_json::Value =
        serde_json::from_str(found["data"].as_str().unwrap()).unwrap();
    assert_eq!(manifest["display"], "standalone");
    let wrong = stage.browser.call("Page.getInstallabilityErrors", json!({}));
    assert_eq!(wrong["installabilityErrors"], json!([]));
    stage.browser.was_clean();
}

#[test]
fn entries_are_read_and_marked_without_a_network_and_the_marks_are_sent_later() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    prepared(&mut stage, 4);
    let browser = &mut stage.browser;
    // A mark in the list of the page itself waits too.
    browser.set_offline(true);
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1).starred')");
    browser.open("/");
    browser.sees("There is no connection. You can read these 4 entries");
    browser.wait(&format!("{LINES} === 4 && document.querySelector('li:nth-child(1).starred')"));
    browser.click("#lines > li:nth-child(2) h2 a");
    browser.wait("document.querySelector('#lines > li:nth-child(2).read .article .prose')");
    // An address of an entry leads to the same entry.
    browser.open("/entry/1");
    browser.wait("document.querySelector('#e1 .article')");
    back_online(browser);
    browser.open("/");
    wait_marks(browser, "2,1");
}

#[test]
fn a_swipe_marks_or_stars() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let browser = &mut stage.browser;
    browser.size(360, 740);
    browser.open("/");
    let mut swipe = |child: u32, from: f64, to: f64| {
        let y = browser.eval(&format!(
            "(() => {{ const r = document.querySelector('#lines > li:nth-child({child}) h2')\
             .getBoundingClientRect(); return r.y + r.height / 2; }})()"
        ));
        let touch = |x: f64| json!([{"x": x, "y": y}]);
        let send = |browser: &mut Browser, kind: &str, points| {
            let event = json!({"type": kind, "touchPoints": points});
            browser.call("Input.dispatchTouchEvent", event);
        };
        send(browser, "touchStart", touch(from));
        for step in 1..=4 {
            send(browser, "touchMove", touch(from + (to - from) * f64::from(step) / 4.0));
        }
        send(browser, "touchEnd", json!([]));
    };
    swipe(1, 80.0, 280.0);
    swipe(2, 280.0, 80.0);
    swipe(3, 100.0, 140.0);
    browser.wait("document.querySelector('#lines > li:nth-child(1).read')");
    browser.wait("document.querySelector('#lines > li:nth-child(2).starred:not(.read)')");
    browser.wait("document.querySelector('#lines > li:nth-child(3):not(.starred):not(.read)')");
    browser.was_clean();
}

#[test]
fn nobody_sees_the_entries_of_another_account() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    stage.account("anna", "correct horse");
    stage.account("berta", "correct horse");
    // The first account has the feeds that were there before; another one subscribes itself.
    let url = stage.publisher.url("/a.xml");
    stage.instance.run(&["feed", "add", &url, "--user", "berta"]).ok();
    let log_in = |browser: &mut Browser, name: &str| {
        browser.open("/login");
        browser.fill("input[name=name]", name);
        browser.fill("input[name=password]", "correct horse");
        browser.follow("form button.first");
    };
    log_in(&mut stage.browser, "anna");
    prepared(&mut stage, 4);
    let browser = &mut stage.browser;
    // A mark that was made without a network is sent before the logout.
    browser.set_offline(true);
    browser.open("/");
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1).starred')");
    back_online(browser);
    browser.open("/account");
    browser.follow("form[action='/logout'] button");
    browser.wait("location.pathname === '/login'");
    wait_kept(browser, 0);
    browser.set_offline(true);
    browser.open("/");
    browser.sees("no entries are stored on this device");
    back_online(browser);
    log_in(browser, "berta");
    browser.open("/?show=starred");
    browser.sees("No stars yet");
    browser.eval("navigator.serviceWorker.ready.then(() => true)");
    wait_kept(browser, 4);
    browser.open("/account");
    browser.follow("form[action='/logout'] button");
    log_in(browser, "anna");
    browser.open("/?show=starred");
    browser.wait(&format!("{LINES} === 1"));
}

#[test]
fn a_push_message_becomes_a_notification() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    prepared(&mut stage, 4);
    let origin = stage.browser.origin();
    let browser = &mut stage.browser;
    let allowed = json!({"origin": origin, "permissions": ["notifications"]});
    browser.call("Browser.grantPermissions", allowed);
    browser.call("ServiceWorker.enable", json!({}));
    let id = browser.worker_registration();
    let data = r#"{"title": "Item 1", "body": "a", "url": "/entry/1", "tag": "entry 1"}"#;
    let message = json!({"origin": origin, "registrationId": id, "data": data});
    let shown = "navigator.serviceWorker.ready.then(r => r.getNotifications())\
        .then(all => all.map(n => n.title + '|' + n.body + '|' + n.data.url).join())";
    // A message to a worker that is just being replaced is lost. One with the same tag replaces
    // the notification.
    for n in 0..LOOKS {
        if n % 100 == 0 {
            browser.call("ServiceWorker.deliverPushMessage", message.clone());
        }
        if browser.eval(shown) == json!("Item 1|a|/entry/1") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert_eq!(browser.eval(shown), json!("Item 1|a|/entry/1"));
}
