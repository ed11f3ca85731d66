//! Accounts, their services, shared queries, suggestions and how a feed is fetched: the same clicks
//! with scripts and without.

use super::chromium::Browser;
use super::viewed::{log_in_elsewhere, town};
use super::{PASSWORD, Stage, with_scripts_and_without};

#[test]
fn accounts_services_queries_suggestions_and_requests_are_changed() {
    with_scripts_and_without(town, |stage| {
        stage.log_in("anna");
        devices_and_services(stage);
        share_query(stage);
        find_feeds(&mut stage.browser);
        requests(&mut stage.browser);
        leave(stage);
        stage.log_in("anna");
        manage(&mut stage.browser);
    });
}

fn devices_and_services(stage: &mut Stage) {
    log_in_elsewhere(stage, "anna");
    let browser = &mut stage.browser;
    browser.open("/account");
    browser.sees("Firefox on Android");
    browser.follow("form[action='/account/sessions/end-others'] button");
    browser.open("/account");
    browser.wait("document.querySelectorAll('[aria-labelledby=h-sessions] tbody tr').length === 1");
    let own = "form[action='/account/sharing']:has(input[name=template])";
    browser.fill(&format!("{own} input[name=name]"), "Hook");
    browser.fill(&format!("{own} input[name=template]"), "http://hook.invalid/in");
    browser.eval("document.querySelector('select[name=kind]').value = 'webhook'");
    browser.follow(&format!("{own} button"));
    browser.fill("form[action='/account/sharing'] input[name=host]", "read.example.org");
    browser.follow("form[action='/account/sharing']:has(select[name=ready]) button");
    browser.open("/entry/1");
    browser.click(".share summary");
    browser.wait("document.querySelector('.share a[href*=\"read.example.org\"]')");
    browser.follow("form[action='/entry/1/send'] button");
    browser.sees("Could not send");
    browser.open("/account");
    for left in [1, 0] {
        browser.follow("form[action='/account/sharing/remove'] button");
        browser.wait(&format!(
            "document.querySelectorAll('[action=\"/account/sharing/remove\"]').length === {left}"
        ));
    }
}

fn requests(browser: &mut Browser) {
    browser.open("/feed/1");
    let form = "form[action$='/requests']:has(input[name=user])";
    browser.fill(&format!("{form} input[name=header_name]"), "X-Api-Key");
    browser.fill(&format!("{form} input[name=header_value]"), "hunter2");
    browser.fill(&format!("{form} input[name=user_agent]"), "An old browser");
    browser.follow(&format!("{form} button"));
    browser.wait("document.querySelectorAll('[aria-labelledby=h-requests] li').length === 2");
    browser.sees("An old browser");
    assert_eq!(browser.eval("document.body.innerHTML.includes('hunter2')"), false);
    browser.follow("button[aria-label^='Remove User-Agent']");
    browser.wait("document.querySelectorAll('[aria-labelledby=h-requests] li').length === 1");
}

fn share_query(stage: &mut Stage) {
    let browser = &mut stage.browser;
    browser.open("/queries/new");
    browser.fill("#text", "CREATE FEED Twos AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\"");
    browser.follow("main form button.first");
    browser.wait("location.pathname === '/query/Twos'");
    browser.follow("form[action='/query/Twos/share'] button");
    browser.sees("Everybody with an account here can read what it finds.");
    stage.log_out();
    stage.log_in("berta");
    let browser = &mut stage.browser;
    browser.open("/query/Twos");
    browser.sees("Somebody else shares this query.");
    stage.log_out();
    stage.log_in("anna");
    let browser = &mut stage.browser;
    browser.open("/query/Twos");
    browser.follow("form[action='/query/Twos/share'] button");
    browser.wait("!document.body.innerText.includes('Everybody with an account')");
}

fn find_feeds(browser: &mut Browser) {
    browser.open("/discover");
    browser.wait("document.querySelectorAll('.finds > li').length === 1");
    browser.follow("form[action='/discover/dismiss'] button");
    browser.sees("Nothing is suggested at the moment.");
    browser.follow("form[action='/discover/restore'] button");
    browser.wait("document.querySelectorAll('.finds > li').length === 1");
    // The same feed is popular: three people read it.
    browser.follow("[aria-labelledby=h-popular] form[action='/feeds'] button");
    browser.open("/discover");
    browser.sees("you read it");
}

/// Carla deletes her account.
fn leave(stage: &mut Stage) {
    stage.log_out();
    stage.log_in("carla");
    let browser = &mut stage.browser;
    browser.open("/account");
    browser.follow("a[href='/account/delete']");
    browser.fill("input[name=password]", "wrong horse");
    browser.follow("button.danger");
    browser.sees("The password is wrong.");
    browser.open("/account/delete");
    browser.fill("input[name=password]", PASSWORD);
    browser.follow("button.danger");
    browser.wait("location.pathname === '/login'");
    stage.log_in("carla");
    stage.browser.sees("Wrong name or password.");
}

fn manage(browser: &mut Browser) {
    let row = "[...document.querySelectorAll('tbody tr')].find(r => r.innerText.includes('berta'))";
    browser.open("/people");
    browser.wait("document.querySelectorAll('tbody tr').length === 3");
    for role in ["admin", "reader"] {
        browser.follow(&format!("button[aria-label='Make {role}: berta']"));
        browser.wait(&format!("{row}?.querySelector('td').innerText.includes('{role}')"));
    }
    browser.follow("a[aria-label='Remove berta']");
    browser.sees("Remove the account berta?");
    browser.follow("button.danger");
    browser.wait("document.querySelectorAll('tbody tr').length === 2");
    browser.follow("a[href='/people/statistics']");
    browser.sees("Statistics of all people together");
}
