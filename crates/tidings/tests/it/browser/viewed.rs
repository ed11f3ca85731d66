//! Accessibility and layout of every page in both themes: no serious fault by axe-core, and no
//! sideways scrolling on a small phone. With `PICTURES=DIR` the test saves screenshots.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chromium::Browser;
use super::offline::wait_kept;
use super::{PASSWORD, Stage, account, stage_after};
use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::turns::turn;
use crate::wire;

/// Deque's checker for the WCAG rules. Its licence is in the same folder.
const AXE: &str = include_str!("../../data/axe/axe.min.js");

const PLACES: [(&str, &str); 18] = [
    ("read", "/?show=all"),
    ("entry", "/entry/1"),
    ("search", "/?q=nothing"),
    ("feeds", "/feeds"),
    ("tags", "/tags"),
    ("feed", "/feed/1"),
    ("remove", "/feed/1/remove"),
    ("queries", "/queries"),
    ("query", "/query/Twos"),
    ("budget", "/budget"),
    ("lab", "/lab"),
    ("health", "/health"),
    ("account", "/account"),
    ("discover", "/discover"),
    ("statistics", "/statistics"),
    ("top", "/?top=1"),
    ("rules", "/rules"),
    ("rule", "/rules/new"),
];

/// A small phone, an upright tablet, a desktop.
const WIDTHS: [(u32, u32); 3] = [(360, 780), (768, 1000), (1280, 900)];

#[test]
fn every_page_fits_and_has_no_serious_fault() {
    let _turn = turn();
    // An address longer than any page is wide, of a feed that has no title yet.
    let long = format!("/{}.xml", "lost-".repeat(30));
    let mut stage = Stage::with_feed().with_paths(&["/b.xml", &long]);
    let query = "CREATE FEED Twos AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\" PUBLISH";
    let file = stage.instance.write("q.query", query);
    stage.instance.run(&["query", "apply", crate::program::path_text(&file)]).ok();
    for (name, path) in PLACES {
        stage.browser.open(path);
        look(&mut stage.browser, name);
    }
    stage.browser.was_clean();
}

/// Checks the page that is open, at every width and in both themes.
#[track_caller]
pub fn look(browser: &mut Browser, name: &str) {
    browser.wait("document.readyState === 'complete'");
    browser.eval(&format!("{AXE}; 0"));
    for light in ["light", "dark"] {
        browser.light(light);
        for (width, height) in WIDTHS {
            browser.size(width, height);
            browser.wait(&format!(
                "innerWidth === {width} && matchMedia('(prefers-color-scheme: {light})').matches"
            ));
            let wide = browser.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{name} is {wide} wide at {width}");
            if std::env::var_os("PICTURES").is_some() {
                keep(&browser.whole_picture(), &format!("{name}-{width}-{light}.png"));
            }
            let found = browser.eval(RUN);
            assert_eq!(found, serde_json::json!([]), "{name} at {width} in {light}");
        }
    }
}

pub fn serious_faults(browser: &mut Browser) -> serde_json::Value {
    browser.eval(&format!("{AXE}; {RUN}"))
}

/// Returns serious and critical faults, with the elements that have them.
const RUN: &str = "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations\
    .filter(v => ['serious', 'critical'].includes(v.impact))\
    .map(v => v.id + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | ')))";

pub fn keep(picture: &str, name: &str) {
    let Some(folder) = std::env::var_os("PICTURES") else { return };
    let bytes = STANDARD.decode(picture).unwrap();
    std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
}

/// An instance with figures about four people: Anna is its administrator, and the others read a
/// feed that she does not read.
pub fn town() -> Stage {
    stage_after(|publisher: &Publisher, instance: &Instance| {
        publisher.set("/a.xml", rss("a", 4));
        instance.poll_added(&publisher.url("/a.xml"));
        for name in ["anna", "berta", "carla", "dora"] {
            account(instance, name, PASSWORD);
        }
        let url = publisher.url("/b.xml");
        for name in ["berta", "carla", "dora"] {
            let pace = ["--allow-private", "--domain-gap", "0s"];
            let add = ["feed", "add", &url, "--user", name];
            instance.run(&[&add[..], &pace[..]].concat()).ok();
        }
    })
}

/// Another device of an account.
pub fn log_in_elsewhere(stage: &Stage, name: &str) {
    let agent = "user-agent: Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 \
                 Firefox/130.0\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let form = format!("name={name}&password={}", PASSWORD.replace(' ', "+"));
    let status = wire::post_as(stage.daemon.listen, "/login", agent, &form).unwrap();
    assert_eq!(status, 303);
}

#[test]
fn every_page_of_accounts_fits_and_has_no_serious_fault() {
    let _turn = turn();
    let mut stage = town();
    stage.browser.open("/login");
    stage.browser.fill("input[name=name]", "anna");
    stage.browser.fill("input[name=password]", "wrong horse");
    stage.browser.follow("main button");
    stage.browser.sees("Wrong name or password.");
    look(&mut stage.browser, "login");
    stage.browser.open("/offline");
    stage.browser.sees("no entries are stored");
    look(&mut stage.browser, "offline");
    stage.log_in("anna");
    log_in_elsewhere(&stage, "anna");
    let browser = &mut stage.browser;
    browser.open("/account");
    browser.fill("form[action='/account/sharing'] input[name=name]", "A bookmark service");
    let template = "https://bookmarks.example.org/add?url={url}&title={title}&tag=from-tidings";
    browser.fill("form[action='/account/sharing'] input[name=template]", template);
    browser.follow("form[action='/account/sharing']:has(input[name=template]) button");
    browser.fill("form[action='/account/tokens'] input[name=name]", "phone");
    browser.follow("form[action='/account/tokens'] button");
    browser.sees("it is shown only once");
    look(browser, "account-full");
    for (name, path) in [
        ("account-delete", "/account/delete"),
        ("people", "/people"),
        ("people-remove", "/people/2/remove"),
        ("people-statistics", "/people/statistics"),
        ("machines", "/machines"),
        ("feed-order", "/feed-order"),
        ("discover-full", "/discover"),
        ("nothing", "/feed/99"),
    ] {
        browser.open(path);
        look(browser, name);
    }
    // The device looks for entries a second after a page, and then not for five minutes. So it has
    // this entry too, which is read from now on.
    browser.open("/");
    wait_kept(browser, 4);
    browser.open("/entry/1");
    browser.eval("document.querySelectorAll('details').forEach(d => { d.open = true; })");
    look(browser, "entry-open");
    browser.follow(".mute button");
    browser.sees("This rule is on");
    look(browser, "rule-made");
    browser.open("/rules");
    look(browser, "rules-full");
    look_at_texts(browser);
    browser.was_clean();
}

/// Looks at rules and queries, at figures, and at a feed with a login.
fn look_at_texts(browser: &mut Browser) {
    browser.open("/rules/new");
    browser.fill("#text", "CREATE RULE x ON ALL FEEDS WHERE TITLE CONTAINS \"1\" DO STAR");
    browser.follow("form[action='/rules/try'] button");
    browser.sees("It would have acted on");
    look(browser, "rule-trial");
    browser.open("/queries/new");
    browser.fill("#text", "CREATE FEED Twos AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\"");
    browser.follow("form button.first");
    browser.follow("a[href$='/drop']");
    look(browser, "query-drop");
    browser.open("/population");
    browser.follow("form[action='/population'] button");
    browser.open_until("/population", "document.querySelector('#main section')");
    look(browser, "population");
    browser.open("/feed/1");
    browser.fill("form[action$='/requests'] input[name=user]", "anna");
    browser.fill("form[action$='/requests'] input[name=password]", "secret");
    browser.follow("form[action$='/requests']:has(input[name=user]) button");
    look(browser, "feed-login");
    // The entries that can be read without a network.
    browser.open("/offline");
    browser.wait("document.querySelectorAll('#lines > li').length === 4");
    browser.click("#lines > li:nth-child(2) h2 a");
    browser.wait("document.querySelector('#lines > li:nth-child(2) .prose')");
    look(browser, "offline-full");
}
