//! Feeds with an XSS payload in every field, opened in a real browser on every page that shows
//! them. No payload may run or send a request. A policy violation counts as a fault too, because
//! then the payload had become markup.

#[path = "../../../../api/tests/it/html/attacks/payloads.rs"]
mod payloads;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::chromium::Browser;
use super::{Stage, stage};
use crate::documents::opml;
use crate::program::path_text;
use crate::turns::turn;
use crate::wire::Response;
use payloads::PAYLOADS;

/// Finds markup in the document that could act, even if it has not acted yet.
const DANGERS: &str = "[...document.querySelectorAll('*')].flatMap(e => [\
    ...(e.matches('iframe,object,embed,base,style,math,applet,frame,meta[http-equiv]') \
        ? [e.outerHTML] : []),\
    ...(e.matches('script') \
        && !/^\\/(script|app)\\.js\\?/.test(e.src.slice(location.origin.length)) \
        ? [e.outerHTML] : []),\
    ...[...e.attributes].filter(a => /^(on|style$|srcdoc)/i.test(a.name) \
        || a.name.includes('pwn')).map(a => a.name + '=' + a.value),\
    ...['href', 'src', 'action', 'formAction', 'data'].filter(k => typeof e[k] === 'string' \
        && e[k] && !/^https?:/.test(e[k]) \
        && !/^mailto:\\?subject=[^&<>\x22]*&body=[^&<>\x22]*$/.test(e[k])) \
        .map(k => k + '=' + e[k])])";

/// One pixel.
pub const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M\
    9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Returns the payload as RSS. XML does not allow most control characters.
fn rss(payload: &str) -> String {
    let text: String = payload.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!(
        "<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><channel><title>{text}</title>\
         <link>{text}</link><description>{text}</description><language>{text}</language>\
         <image><url>{text}</url><title>{text}</title><link>{text}</link></image>\
         <item><title>red {text}</title><link>{text}</link><guid>{text}</guid>\
         <author>{text}</author><dc:creator>{text}</dc:creator><category>{text}</category>\
         <comments>{text}</comments><enclosure url=\"{text}\" type=\"{text}\" length=\"1\"/>\
         <description>{text}</description>\
         <content:encoded>&lt;p&gt;red {text}&lt;/p&gt;</content:encoded></item></channel></rss>"
    )
}

/// Returns the payload as JSON Feed, which allows every character.
fn json_feed(payload: &str) -> String {
    let content = format!("<p>red {payload}</p>");
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": payload, "home_page_url": payload, "description": payload, "icon": payload,
        "favicon": payload, "language": payload, "authors": [{"name": payload, "url": payload}],
        "items": [{
            "id": payload, "url": payload, "external_url": payload,
            "title": format!("red {payload}"), "summary": payload, "content_html": content,
            "image": payload, "banner_image": payload, "tags": [payload], "language": payload,
            "authors": [{"name": payload, "url": payload, "avatar": payload}],
            "attachments": [{"url": payload, "mime_type": payload, "title": payload}],
        }],
    })
    .to_string()
}

/// Publishes one feed for each payload in both formats.
fn poisoned() -> Stage {
    let stage = stage();
    let mut urls = Vec::new();
    for (n, payload) in PAYLOADS.iter().enumerate() {
        let path = format!("/p{n}");
        let (kind, body) = match n % 2 {
            0 => ("application/rss+xml", rss(payload)),
            _ => ("application/feed+json", json_feed(payload)),
        };
        stage.publisher.set_answer(&path, Response::new(200).with("content-type", kind).body(body));
        urls.push(stage.publisher.url(&path));
    }
    // A picture that is there comes through the proxy; one that is not would be a fault of its own.
    let picture = Response::new(200).with("content-type", "image/png");
    stage.publisher.set_answer("/x", picture.body(STANDARD.decode(PICTURE).unwrap()));
    let odd = Response::new(200).with("content-type", "text/<script>pwn()</script>").body("<p>");
    stage.publisher.set_answer("/odd?'><img src=x onerror=pwn()>", odd);
    urls.push(stage.publisher.url("/odd?'%3E%3Cimg%20src=x%20onerror=pwn()%3E"));
    stage.query("CREATE FEED Red AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"red\" PUBLISH");
    stage.instance.import(&opml(&urls)).ok();
    stage.instance.run(&["feed", "poll", "--all", "--json"]);
    assert_eq!(stage.instance.entries().len(), PAYLOADS.len(), "every feed is read");
    stage
}

#[test]
fn nothing_that_a_feed_says_runs_in_a_browser() {
    let _turn = turn();
    let mut stage = poisoned();
    let (n, browser) = (PAYLOADS.len(), &mut stage.browser);
    browser.trap("pwn");
    let mut paths: Vec<String> = [
        "/?show=all",
        "/?query=Red&show=all",
        "/?q=red",
        "/feeds?sort=trouble",
        "/queries",
        "/query/Red",
        "/budget",
        "/health",
    ]
    .map(str::to_owned)
    .into();
    paths.extend((1..=n + 1).flat_map(|id| [format!("/feed/{id}"), format!("/?feed={id}")]));
    paths.extend((1..=n).map(|id| format!("/entry/{id}?show=all")));
    for path in &paths {
        browser.open(path);
        harmless(browser, path);
    }
    for form in ["atom", "rss", "json"] {
        // Browsers show these files as text.
        browser.open(&format!("/feeds/Red.{form}"));
        browser.wait("document.body.innerText.includes('pwn')");
        browser.wait("!document.querySelector('script, img, iframe')");
    }
    open_in_place(browser);
    preview(browser);
    hostile_lists(&mut stage);
    stage.browser.was_clean();
    the_trap_works(&mut stage.browser);
}

#[track_caller]
fn harmless(browser: &mut Browser, at: &str) {
    // Late loads and late scripts have finished by now.
    browser.wait("document.readyState === 'complete'");
    browser.eval("new Promise(done => requestAnimationFrame(() => setTimeout(done)))");
    let found = browser.eval(DANGERS);
    assert_eq!(found, json!([]), "{at}");
    // A payload as the address of a picture is not found, and the proxy says so.
    let mut faults = browser.take_faults();
    faults.retain(|fault| !(fault.starts_with("502 ") && fault.contains("/image?u=")));
    assert_eq!(faults, Vec::<String>::new(), "{at}");
}

/// The script inserts entries into the list, which is another way into the document.
fn open_in_place(browser: &mut Browser) {
    browser.open("/?show=all");
    // Entries of one story are one line.
    let lines = browser.eval("document.querySelectorAll('#lines > .line-item').length");
    let n = lines.as_u64().unwrap();
    assert!(n > 1, "{n} lines");
    for n in 1..=n {
        browser.press("j");
        browser.press("o");
        browser.wait(&format!("document.querySelectorAll('#lines .article').length === {n}"));
    }
    harmless(browser, "entries opened in place");
}

/// The preview of a query inserts entries too.
fn preview(browser: &mut Browser) {
    browser.open("/queries/new");
    browser.fill("#text", "CREATE FEED R AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"red\"");
    browser.sees("R finds");
    harmless(browser, "a preview");
    let faulty = "CREATE FEED R AS RETURN <img src=x onerror=pwn()> </textarea><script>pwn()";
    browser.fill("#text", faulty);
    browser.wait("document.querySelector('#preview mark')");
    harmless(browser, "a preview of what is wrong");
}

/// Subscription lists and pages with feed links are foreign text too.
fn hostile_lists(stage: &mut Stage) {
    let links: String = PAYLOADS
        .map(|p| p.replace('&', "&amp;").replace('"', "&quot;"))
        .map(|p| {
            format!("<link rel=alternate type=application/rss+xml title=\"{p}\" href=\"{p}\">")
        })
        .concat();
    let page = Response::new(200).with("content-type", "text/html").body(links);
    stage.publisher.set_answer("/hostile", page);
    let list: Vec<String> = PAYLOADS.map(|p| p.replace('<', "&lt;").replace('"', "&quot;")).into();
    let file = stage.instance.write("hostile.opml", opml(&list));
    let (url, browser) = (stage.publisher.url("/hostile"), &mut stage.browser);
    browser.open("/feeds");
    browser.click("details summary");
    browser.choose_file("input[type=file]", path_text(&file));
    browser.follow("form[action='/import'] button");
    harmless(browser, "a list that was imported");
    browser.open("/feeds");
    browser.fill("form[action='/feeds'] input[name=url]", &url);
    browser.follow("form[action='/feeds'] button.first");
    harmless(browser, "a page that names feeds");
}

/// The search for active markup finds it where it exists.
fn the_trap_works(browser: &mut Browser) {
    browser.open("/queries/new");
    browser.eval("document.querySelector('#preview').innerHTML = '<img src=x onerror=pwn()>'");
    assert_eq!(browser.eval(DANGERS)[0], "onerror=pwn()");
    browser.wait("document.querySelector('#preview img').complete");
    browser.eval("new Promise(done => setTimeout(done, 100))");
    let faults = browser.take_faults();
    assert!(faults.iter().any(|f| f.contains("Content Security Policy")), "{faults:?}");
    browser.eval("pwn()");
    let faults = browser.take_faults();
    assert!(faults.iter().any(|f| f.contains("pwn_was_called")), "{faults:?}");
}
