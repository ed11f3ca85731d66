//! Marks that wait on a device: they survive a server that fails, the end of the browser and of the
//! session, and reach the server in their order.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::json;

use super::offline::{LINES, LOOKS, back_online, prepared, wait_kept, wait_marks};
use super::{Browser, PASSWORD, Stage, stage};
use crate::documents::rss;
use crate::turns::turn;

/// A server that answers every request with an error.
struct FailingServer {
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FailingServer {
    fn start(address: SocketAddr) -> FailingServer {
        let listener =
            crate::program::eventually("the address is free", || TcpListener::bind(address).ok());
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        let answer = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\
                      connection: close\r\n\r\n";
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream;
                let _ = stream.read(&mut [0; 8192]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        FailingServer { address, has_ended, thread: Some(thread) }
    }

    fn end(mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Adds a mark as another window of the same browser would.
fn wait_elsewhere(browser: &mut Browser, account: &str, name: &str, entry: u32) {
    browser.eval(&format!(
        "new Promise(done => {{ const asked = indexedDB.open('tidings'); \
         asked.onsuccess = () => {{ \
         const change = asked.result.transaction('marks', 'readwrite'); \
         change.objectStore('marks') \
         .add({{account: '{account}', name: '{name}', entry: {entry}}}); \
         change.oncomplete = () => {{ asked.result.close(); done(true); }}; }}; }})"
    ));
}

/// Waits until this number of marks waits on the device.
#[track_caller]
fn wait_waiting(browser: &mut Browser, n: u32) {
    let count = "new Promise(done => { const asked = indexedDB.open('tidings'); \
        asked.onsuccess = () => { const n = asked.result.transaction('marks')\
        .objectStore('marks').count(); n.onsuccess = () => { asked.result.close(); \
        done(n.result); }; }; })";
    for _ in 0..LOOKS {
        if browser.eval(count) == json!(n) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert_eq!(browser.eval(count), json!(n));
}

#[test]
fn marks_wait_while_the_server_fails_and_the_browser_ends() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    let listen = stage.daemon.listen;
    prepared(&mut stage, 4);
    stage.daemon.kill();
    let failing = FailingServer::start(listen);
    let browser = &mut stage.browser;
    // Chromium decides by itself whether it keeps the data of a site, so only count the wish.
    browser.eval("navigator.storage.persist = async () => (window.wishes = true)");
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1).starred')");
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1):not(.starred)')");
    browser.click("#lines > li:nth-child(2) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(2).starred')");
    browser.click("#lines > li:nth-child(3) .above");
    browser.wait("document.querySelectorAll('#lines > li.read').length === 3");
    wait_waiting(browser, 6);
    // The browser must not delete what waits.
    browser.wait("window.wishes");
    failing.end();
    browser.take_faults();
    // Now nothing listens at all, and the browser starts again.
    browser.open("/");
    browser.sees("There is no connection. You can read these 4 entries");
    browser.restart();
    browser.open("/");
    browser.sees("There is no connection. You can read these 4 entries");
    let shown = "document.querySelectorAll('#lines > li.read').length === 3 && \
        document.querySelector('#lines > li:nth-child(2).starred') && \
        document.querySelector('#lines > li:nth-child(1):not(.starred)')";
    browser.wait(shown);
    stage.daemon =
        stage.instance.daemon_at(listen, &["--allow-private", "--domain-gap", "0s"]).ready();
    let browser = &mut stage.browser;
    browser.open("/?show=all");
    wait_waiting(browser, 0);
    wait_marks(browser, "3,1");
    browser.was_clean();
}

#[test]
fn an_older_mark_that_waits_does_not_win() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    prepared(&mut stage, 4);
    let browser = &mut stage.browser;
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1).starred')");
    let entry = browser.eval("Number(document.querySelector('#lines > li').dataset.entry)");
    let entry = entry.as_u64().and_then(|id| u32::try_from(id).ok()).unwrap();
    wait_elsewhere(browser, "0", "star", entry);
    wait_elsewhere(browser, "0", "unread", entry);
    browser.click("#lines > li:nth-child(1) .star");
    browser.wait("document.querySelector('#lines > li:nth-child(1):not(.starred)')");
    wait_waiting(browser, 0);
    // A form that loads the next page goes after them too, and the opening of an entry.
    wait_elsewhere(browser, "0", "unread", entry);
    browser.click("#lines > li:nth-child(1) h2 a");
    browser.wait("document.querySelector('#lines > li:nth-child(1).read .article')");
    wait_waiting(browser, 0);
    wait_elsewhere(browser, "0", "unread", entry);
    browser.follow("#all");
    browser.sees("All read");
    browser.open("/?show=all");
    wait_waiting(browser, 0);
    wait_marks(browser, "4,0");
    browser.was_clean();
}

#[test]
fn marks_from_before_the_first_account_go_to_it_and_survive_the_end_of_a_session() {
    let _turn = turn();
    let mut stage = Stage::with_feed();
    prepared(&mut stage, 4);
    stage.browser.set_offline(true);
    stage.browser.click("#lines > li:nth-child(1) .star");
    stage.browser.wait("document.querySelector('#lines > li:nth-child(1).starred')");
    stage.account("anna", PASSWORD);
    stage.account("berta", PASSWORD);
    let url = stage.publisher.url("/a.xml");
    stage.instance.run(&["feed", "add", &url, "--user", "berta"]).ok();
    back_online(&mut stage.browser);
    // They are not those of the second account.
    stage.log_in("berta");
    let browser = &mut stage.browser;
    wait_kept(browser, 4);
    wait_waiting(browser, 1);
    wait_marks(browser, "0,0");
    stage.log_out();
    stage.log_in("anna");
    let browser = &mut stage.browser;
    wait_waiting(browser, 0);
    wait_marks(browser, "0,1");
    wait_kept(browser, 4);
    // The session ends while a mark waits.
    browser.open("/");
    browser.wait("navigator.serviceWorker.controller");
    browser.set_offline(true);
    browser.click("#lines > li:nth-child(2) .mark");
    browser.wait("document.querySelector('#lines > li:nth-child(2).read')");
    browser.call("Network.clearBrowserCookies", json!({}));
    back_online(browser);
    // The next mark leads to the login, and waits as well.
    browser.click("#lines > li:nth-child(3) .mark");
    browser.wait("location.pathname === '/login'");
    wait_kept(browser, 0);
    wait_waiting(browser, 2);
    stage.log_in("anna");
    let browser = &mut stage.browser;
    wait_waiting(browser, 0);
    wait_marks(browser, "2,1");
    browser.was_clean();
}

#[test]
fn the_newest_five_hundred_unread_entries_are_read_without_a_network() {
    let _turn = turn();
    let mut stage = stage();
    stage.publisher.set("/many.xml", rss("many", 520));
    let url = stage.publisher.url("/many.xml");
    stage.instance.run(&["feed", "add", &url]).ok();
    prepared(&mut stage, 500);
    let browser = &mut stage.browser;
    browser.set_offline(true);
    browser.open("/");
    browser.sees("You can read these 500 entries");
    browser.wait(&format!("{LINES} === 500"));
    browser.click("#lines > li:nth-child(500) h2 a");
    browser
        .wait("document.querySelector('#lines > li:nth-child(500) .prose').innerText.length > 4");
    back_online(browser);
    browser.open("/");
    wait_waiting(browser, 0);
    browser.open("/");
    browser.wait("document.querySelector('#unread').innerText === '519'");
    browser.was_clean();
}
