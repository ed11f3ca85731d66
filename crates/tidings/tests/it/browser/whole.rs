//! Whole articles, players of other sites and steps in a recording, in a real browser: they fit,
//! have no serious fault by axe-core and keep to the policy. With `PICTURES=DIR` the tests save
//! screenshots.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Stage;
use super::chromium::Browser;
use super::media::{ARABIC, CHINESE, entry, set, silence};
use super::stored::PICTURE;
use super::viewed::{keep, serious_faults};
use crate::turns::turn;
use crate::wire::Response;

const SIZES: [(u32, u32); 2] = [(360, 780), (1280, 900)];
/// The player that the page of the video shows.
const FRAME: &str = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ";

/// A page with an article: a title, and paragraphs that begin with their number.
fn page(html: &str, title: &str, text: &str) -> Response {
    let text: String = (1..=12).map(|n| format!("<p>{n}. {text}</p>")).collect();
    let body = format!(
        "<!doctype html><html {html}><head><meta charset=utf-8><title>{title}</title>\
         <meta property='og:image' content='/p.png'></head><body><nav><a href=/>Home</a></nav>\
         <article><h1>{title}</h1>{text}</article></body></html>"
    );
    Response::new(200).with("content-type", "text/html; charset=utf-8").body(body)
}

/// Loads the whole text of an entry by its button, until the page shows a text.
fn load(stage: &mut Stage, title: &str, shown: &str) -> String {
    let id = entry(stage, title);
    let browser = &mut stage.browser;
    browser.open(&format!("/entry/{id}"));
    browser.follow(".whole form button");
    let shown = format!("document.body.innerText.includes({})", serde_json::json!(shown));
    browser.open_until(&format!("/entry/{id}"), &shown);
    id
}

/// Looks at a page in both themes and two sizes. `see` checks what it shows.
fn look(browser: &mut Browser, name: &str, path: &str, see: impl Fn(&mut Browser)) {
    for light in ["light", "dark"] {
        browser.light(light);
        for (width, height) in SIZES {
            browser.size(width, height);
            browser.open(path);
            see(browser);
            let wide = browser.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{path} is {wide} wide at {width}");
            keep(&browser.picture(), &format!("whole-{name}-{width}-{light}.png"));
            let found = serious_faults(browser);
            assert_eq!(found, serde_json::json!([]), "{name} at {width} in {light}");
        }
    }
}

/// Draws some letters one by one with the font of the text, and counts the different pictures. A
/// font that lacks them draws the same box for each.
const GLYPHS: &str = "(() => { const font = getComputedStyle(document.querySelector('.prose')) \
    .fontFamily; const draw = letter => { const canvas = document.createElement('canvas'); \
    canvas.width = canvas.height = 48; const pen = canvas.getContext('2d'); \
    pen.font = '36px ' + font; pen.fillText(letter, 4, 40); return canvas.toDataURL(); }; \
    return new Set([...'今天早上城市图书馆'].map(draw)).size; })()";

#[test]
fn loaded_articles_and_players_fit_and_have_no_serious_fault() {
    let _turn = turn();
    let mut stage = set();
    let english = "The library of the city opened its doors again this morning, and many readers \
                   waited in front of it to be the first in the new hall.";
    let picture = Response::new(200).body(STANDARD.decode(PICTURE).unwrap());
    stage.publisher.set_answer("/p.png", picture);
    for (path, answer) in [
        ("/4", page("lang=en", "A gallery", english)),
        ("/5", page("lang=ar dir=rtl", "مكتبة المدينة", ARABIC)),
        ("/6", page("lang=zh", "图书馆重新开放", CHINESE)),
        ("/1", Response::new(410)),
    ] {
        stage.publisher.set_answer(path, answer);
    }
    let english = load(&mut stage, "A gallery", "12. The library");
    let arabic = load(&mut stage, "مكتبة المدينة", "12. افتتحت");
    let chinese = load(&mut stage, "图书馆重新开放", "12. 今天早上");
    let failed = load(&mut stage, "A long article", "The page is gone (410)");
    let video = entry(&mut stage, "A video");
    let browser = &mut stage.browser;
    look(browser, "article", &format!("/entry/{english}"), |browser| {
        browser.wait("document.querySelector('.tabs [aria-current]').innerText.includes('Whole')");
        browser.eval("document.querySelector('.article .prose img').scrollIntoView()");
        // The lead picture stands above the text, because the text has none.
        browser.wait("document.querySelector('.article .prose img').naturalWidth > 0");
        browser.eval("window.scrollTo(0, 0)");
    });
    look(browser, "feed-text", &format!("/entry/{english}?text=feed"), |browser| {
        browser.wait("document.querySelector('.tabs [aria-current]').innerText.includes('feed')");
        browser.sees("Three pictures.");
    });
    look(browser, "arabic", &format!("/entry/{arabic}"), |browser| {
        browser.wait("document.querySelector('.article').lang === 'ar'");
        let prose = "document.querySelector('.article div.prose[dir]')";
        browser.wait(&format!("{prose}.dir === 'rtl'"));
        browser.wait(&format!("getComputedStyle({prose}).direction === 'rtl'"));
    });
    look(browser, "chinese", &format!("/entry/{chinese}"), |browser| {
        browser.wait("document.querySelector('.article').lang === 'zh'");
        assert_eq!(browser.eval(GLYPHS), 9, "a font has these letters: `make packages`");
    });
    look(browser, "failed", &format!("/entry/{failed}"), |browser| {
        browser.sees("The whole text could not be loaded. The page is gone (410).");
        browser.sees("Paragraph 12 of a long article");
    });
    browser.was_clean();
    // The player of another site is asked for by this page alone, and does not answer here.
    browser.call("Network.setBlockedURLs", serde_json::json!({"urls": ["*youtube*"]}));
    look(browser, "frame", &format!("/play/{video}?own=1"), |browser| {
        browser.wait(&format!("document.querySelector('iframe').src === '{FRAME}'"));
    });
    browser.was_clean_but_for(FRAME);
}

#[test]
fn a_recording_continues_where_it_was_left_and_steps_by_thirty_seconds() {
    let _turn = turn();
    let mut stage = set();
    let sound = silence(100);
    let range = format!("bytes 0-{}/{}", sound.len() - 1, sound.len());
    let answer =
        Response::new(206).with("content-type", "audio/wav").with("content-range", range.as_str());
    stage.publisher.set_answer("/a.wav", answer.with("accept-ranges", "bytes").body(sound));
    let id = entry(&mut stage, "A podcast");
    let browser = &mut stage.browser;
    let path = format!("/play/{id}?file=0");
    browser.open(&path);
    let player = "document.querySelector('.play audio')";
    browser.eval(&format!("{player}.muted = true; {player}.play()"));
    browser.wait(&format!("{player}.currentTime > 0"));
    for (skip, from, to) in [("30", 30, 60), ("30", 60, 90), ("-30", 30, 60), ("-30", 0, 30)] {
        browser.click(&format!("[data-skip='{skip}']"));
        let time = format!("{player}.currentTime");
        browser.wait(&format!("{time} >= {from} && {time} < {to}"));
    }
    browser.click("[data-skip='-30']");
    browser.wait(&format!("{player}.currentTime < 30"));
    browser.click("[data-skip='30']");
    browser.wait(&format!("{player}.currentTime >= 30"));
    browser.eval(&format!("{player}.pause()"));
    let kept = "Number(document.querySelector('.play audio')?.dataset.position) >= 30";
    browser.open_until(&path, kept);
    browser.sees("continues at 0:3");
    browser.eval(&format!("{player}.muted = true; {player}.play()"));
    browser.wait(&format!("{player}.currentTime >= 30 && {player}.currentTime < 60"));
    let site = stage.publisher.url("/a.wav");
    stage.browser.was_clean_but_for(&site);
}
