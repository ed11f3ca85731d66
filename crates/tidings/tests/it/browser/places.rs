//! Deliveries, budget, lab and account: the same clicks with scripts and without.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::chromium::Browser;
use super::{Stage, stage, with_scripts_and_without};
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::receiver::{Mood, Receiver};
use crate::turns::turn;
use crate::wire;

/// A delivery is given up after twelve tries and more than two hours. The fast clock of the
/// demonstration turns these into seconds.
#[test]
fn dead_letters_are_shown_with_their_reason_and_tried_again() {
    let _turn = turn();
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let receiver = Receiver::start(move |_| match well.load(Ordering::SeqCst) {
        true => Mood::Takes,
        false => Mood::Refuses(503),
    });
    let instance = Instance::new();
    let daemon = instance.daemon(&["--demo"]).ready();
    let browser = Browser::start(daemon.listen);
    let mut stage = Stage { publisher: Publisher::start(1), instance, daemon, browser };
    let hook = receiver.url();
    stage.query(&format!("CREATE FEED All AS RETURN ALL FEEDS DELIVER TO WEBHOOK \"{hook}\""));
    let browser = &mut stage.browser;
    browser.open("/queries");
    browser.follow(".feeds tbody th a");
    let dead = "document.querySelector('[aria-label=\"Failed deliveries\"] tbody tr')";
    again_until(browser, dead);
    browser.sees("answered 503");
    browser.wait(&format!("{dead}.querySelector('td a').innerText.includes(' ')"));
    browser.wait(&format!("{dead}.querySelector('td.n').innerText === '12'"));
    browser.follow("form[action$='/replay'] button");
    // The receiver still fails: the dead letter stays, with one more try.
    again_until(browser, &format!("{dead}.querySelector('td.n').innerText === '13'"));
    is_well.store(true, Ordering::SeqCst);
    browser.scripts(false);
    browser.open("/health");
    browser.sees("given up");
    browser.open("/query/All");
    browser.follow("form[action$='/replay'] button");
    again_until(browser, &format!("!{dead}"));
    browser.sees("Last delivery");
    browser.was_clean();
    assert!(!receiver.titles().is_empty());
}

/// Reloads a page until a condition is true.
fn again_until(browser: &mut Browser, expression: &str) {
    let path = browser.eval("location.pathname");
    browser.open_until(path.as_str().unwrap_or("/"), expression);
}

#[test]
fn the_budget_is_set_and_lifted_and_the_other_places_answer() {
    with_scripts_and_without(Stage::with_feed, |stage| {
        let browser = &mut stage.browser;
        browser.open("/budget");
        browser.sees("No budget: each feed is polled");
        browser.sees("Busiest sites");
        browser.fill("input[name=budget]", "50/1h");
        browser.follow("form[action='/budget'] button.first");
        browser.sees("At most 50/1h polls");
        browser.follow("button[name=off]");
        browser.sees("No budget: each feed is polled");
        browser.follow("form[action='/what-if'] button");
        // The page reloads itself until the replay ends.
        browser.sees("the history is shorter than a day");
        browser.open("/health");
        browser.sees("All feeds work");
        browser.open("/account");
        browser.sees("tidings user add NAME");
    });
}

#[test]
fn reports_of_the_lab_are_listed_and_shown() {
    with_scripts_and_without(stage, |stage| {
        stage.browser.open("/lab");
        stage.browser.sees("No reports yet.");
        let folder = stage.instance.data.join("reports/first");
        std::fs::create_dir_all(&folder).unwrap();
        let report = "<!doctype html><title>r</title><h1>Delay by policy</h1>";
        std::fs::write(folder.join("index.html"), report).unwrap();
        let browser = &mut stage.browser;
        browser.open("/lab");
        browser.follow("a[href='/lab/first']");
        browser.sees("Delay by policy");
        browser.open("/lab/second");
        browser.sees("The report second does not exist.");
    });
}

#[test]
fn somebody_logs_in_makes_a_token_changes_the_password_and_logs_out() {
    let set = || {
        let stage = Stage::with_feed();
        stage.account("anna", "correct horse");
        stage
    };
    let log_in = |browser: &mut Browser, password: &str| {
        browser.sees("Log in");
        browser.fill("input[name=name]", "anna");
        browser.fill("input[name=password]", password);
        browser.follow("main button");
    };
    with_scripts_and_without(set, |stage| {
        let (listen, browser) = (stage.daemon.listen, &mut stage.browser);
        let status = |token: &str| {
            let line = format!("Authorization: Bearer {token}\r\n");
            wire::get_with(listen, "/api/v1/feeds", &line).unwrap().0
        };
        browser.open("/feeds");
        log_in(browser, "wrong horse");
        browser.sees("Wrong name or password.");
        log_in(browser, "correct horse");
        browser.wait("location.pathname === '/feeds'");
        browser.follow(".lights button[value=dark]");
        browser.follow("a.who");
        browser.fill("form[action='/account/tokens'] input[name=name]", "phone");
        browser.follow("form[action='/account/tokens'] button");
        browser.sees("it is shown only once");
        let token = browser.eval("document.querySelector('.secret code').innerText");
        let token = token.as_str().unwrap();
        assert_eq!(status(token), 200, "the token opens the API");
        browser.open("/account");
        browser.wait("!document.querySelector('.secret')");
        browser.sees("phone");
        browser.follow("form[action='/account/tokens/revoke'] button");
        browser.sees("The token is revoked.");
        assert_eq!(status(token), 401, "it is withdrawn");
        browser.fill("input[name=old]", "another horse");
        browser.fill("input[name=new]", "battery staple");
        browser.follow("form[action='/account/password'] button");
        browser.sees("The password is wrong.");
        browser.open("/account");
        browser.fill("input[name=old]", "correct horse");
        browser.fill("input[name=new]", "battery staple");
        browser.follow("form[action='/account/password'] button");
        // The new password ended every other session. The chosen theme stays after a logout.
        browser.sees("All other devices must log in again.");
        browser.open("/account");
        browser.sees("this device");
        browser.follow("form[action='/account/sessions/end'] button");
        browser.wait("location.pathname === '/login'");
        browser.wait("document.documentElement.dataset.light === 'dark'");
        log_in(browser, "correct horse");
        browser.sees("Wrong name or password.");
        browser.wait("document.documentElement.dataset.light === 'dark'");
        log_in(browser, "battery staple");
        browser.sees("Item 1 of a");
        browser.follow("a.who");
        browser.follow("form[action='/logout'] button");
        browser.sees("Log in");
        browser.open("/");
        browser.wait("location.pathname === '/login'");
    });
}
