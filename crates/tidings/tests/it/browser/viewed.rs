//! Accessibility and layout of every page in both themes: no serious fault by axe-core, and no
//! sideways scrolling on a small phone. With `PICTURES=DIR` the test saves screenshots.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Stage;
use super::chromium::Browser;
use crate::program::alone;

/// Deque's checker for the WCAG rules. Its licence is in the same folder.
const AXE: &str = include_str!("../../data/axe/axe.min.js");

const PLACES: [(&str, &str); 15] = [
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
];

/// A small phone, an upright tablet, a desktop.
const WIDTHS: [(u32, u32); 3] = [(360, 780), (768, 1000), (1280, 900)];

#[test]
fn every_page_fits_and_has_no_serious_fault() {
    let _alone = alone();
    // An address longer than any page is wide, of a feed that has no title yet.
    let long = format!("/{}.xml", "lost-".repeat(30));
    let mut stage = Stage::with_feed().with_paths(&["/b.xml", &long]);
    let query = "CREATE FEED Twos AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"2\" PUBLISH";
    let file = stage.instance.write("q.query", query);
    stage.instance.run(&["query", "apply", crate::program::path_text(&file)]).ok();
    let browser = &mut stage.browser;
    for light in ["light", "dark"] {
        browser.light(light);
        for (width, height) in WIDTHS {
            browser.size(width, height);
            for (name, path) in PLACES {
                browser.open(path);
                let wide = browser.eval("document.documentElement.scrollWidth");
                assert!(wide.as_u64() <= Some(width.into()), "{path} is {wide} wide at {width}");
                keep(&browser.picture(), &format!("{name}-{width}-{light}.png"));
                let found = serious_faults(browser);
                assert_eq!(found, serde_json::json!([]), "{path} at {width} in {light}");
            }
        }
    }
    browser.was_clean();
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
