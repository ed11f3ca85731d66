//! Articles, podcasts, videos, galleries, and Arabic and Chinese texts in a real browser. There is
//! no serious fault by axe-core, no sideways scrolling, no violation of the policy, and no
//! request to another site before a click. With `PICTURES=DIR` the test saves screenshots.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chromium::Browser;
use super::stored::PICTURE;
use super::viewed::{keep, serious_faults};
use super::{Stage, stage, with_scripts_and_without};
use crate::program::eventually;
use crate::turns::turn;
use crate::wire::Response;

pub const CHINESE: &str = "今天早上，城市的图书馆重新开放了。许多读者在门口等候，希望第一个进入新的阅览室。\
    馆长说，新的建筑可以容纳三十万册图书，还有一个安静的花园，供人们休息和阅读。";
pub const ARABIC: &str = "افتتحت مكتبة المدينة أبوابها من جديد هذا الصباح. وانتظر كثير من القراء \
    أمام الباب ليكونوا أول من يدخل قاعة القراءة الجديدة. وقال المدير إن المبنى يتسع \
    لثلاثمئة ألف كتاب.";

/// Silence: a WAV file with 8,000 samples of 8 bits a second.
pub fn silence(seconds: u32) -> Vec<u8> {
    let n: u32 = 8000 * seconds;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + n).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend([8000_u32, 8000].map(u32::to_le_bytes).concat());
    bytes.extend(b"\x01\0\x08\0data");
    bytes.extend(n.to_le_bytes());
    bytes.extend(std::iter::repeat_n(128_u8, n as usize));
    bytes
}

/// Entries in the order of the document: article, podcast, video, gallery, Arabic, Chinese, and one
/// with a picture at its far end.
fn feed(site: &str) -> String {
    let long: String = (1..=12)
        .map(|n| {
            format!(
                "&lt;p&gt;Paragraph {n} of a long article with enough words to read for a while, \
                 on a quiet morning with coffee.&lt;/p&gt;"
            )
        })
        .collect();
    let item = |title: &str, link: &str, rest: &str| {
        format!("<item><title>{title}</title><guid>{title}</guid><link>{link}</link>{rest}</item>")
    };
    let text = |html: &str| format!("<description>{html}</description>");
    let cell = "&lt;td&gt;averyveryverylongwordthatcannotbebroken&lt;/td&gt;";
    let wide = format!(
        "&lt;pre&gt;a very long line of code that does not fit on a small phone and must scroll \
         inside its own box&lt;/pre&gt;&lt;table&gt;&lt;tr&gt;{cell}{cell}{cell}&lt;/tr&gt;\
         &lt;/table&gt;"
    );
    let note = "&lt;p&gt;A note&lt;sup&gt;&lt;a href='#fn1'&gt;1&lt;/a&gt;&lt;/sup&gt;.&lt;/p&gt;";
    let back = "&lt;p id='fn1'&gt;The note itself.&lt;/p&gt;";
    let last = format!("&lt;img src='{site}/last.png' alt='The end'&gt;");
    let items = [
        item("A long article", &format!("{site}/1"), &text(&format!("{note}{long}{wide}{back}"))),
        item(
            "A podcast",
            &format!("{site}/2"),
            &format!(
                "{}<enclosure url='{site}/a.wav' type='audio/wav' length='8044'/>\
                 <itunes:duration>1:02:03</itunes:duration><itunes:image href='{site}/p.png'/>\
                 <psc:chapters><psc:chapter start='0' title='Hello'/>\
                 <psc:chapter start='10:30' title='The point'/></psc:chapters>",
                text("What we talk about.")
            ),
        ),
        item(
            "A video",
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
            &format!("<media:thumbnail url='{site}/p.png'/>{}", text("A film.")),
        ),
        item(
            "A gallery",
            &format!("{site}/4"),
            &format!(
                "{}<media:content url='{site}/p.png?1' medium='image'/>\
                 <media:content url='{site}/q.png' medium='image'/>\
                 <media:content url='{site}/r.png' medium='image'/>",
                text("Three pictures.")
            ),
        ),
        item("مكتبة المدينة", &format!("{site}/5"), &text(ARABIC)),
        item("图书馆重新开放", &format!("{site}/6"), &text(CHINESE)),
        item(
            "A very long read",
            &format!("{site}/7"),
            &text(&format!("{}{last}", long.repeat(20))),
        ),
    ];
    format!(
        "<rss version='2.0'><channel><title>Media</title><link>{site}/</link>{}</channel></rss>",
        items.concat()
    )
}

pub fn set() -> Stage {
    let stage = stage();
    let site = stage.publisher.url("");
    stage.publisher.set("/media.xml", feed(site.trim_end_matches('/')));
    let picture = Response::new(200).body(STANDARD.decode(PICTURE).unwrap());
    for path in ["/p.png", "/p.png?1", "/q.png", "/r.png", "/last.png"] {
        stage.publisher.set_answer(path, picture.clone());
    }
    let sound = Response::new(200).with("content-type", "audio/wav").body(silence(1));
    stage.publisher.set_answer("/a.wav", sound);
    stage.with_paths(&["/media.xml"])
}

/// Returns the number of the entry with this title.
pub fn entry(stage: &mut Stage, title: &str) -> String {
    stage.browser.open("/?show=all");
    let line = super::line(title);
    let id = stage.browser.eval(&format!("{line}.dataset.entry"));
    id.as_str().unwrap().to_owned()
}

const TITLES: [(&str, &str); 6] = [
    ("article", "A long article"),
    ("podcast", "A podcast"),
    ("video", "A video"),
    ("gallery", "A gallery"),
    ("arabic", "مكتبة المدينة"),
    ("chinese", "图书馆重新开放"),
];

#[test]
fn articles_and_media_fit_and_have_no_serious_fault() {
    let _turn = turn();
    let mut stage = set();
    let mut places = vec![("list", "/?show=all".to_owned())];
    for (name, title) in TITLES {
        places.push((name, format!("/entry/{}", entry(&mut stage, title))));
    }
    places.push(("player", format!("/play/{}?file=0", entry(&mut stage, "A podcast"))));
    let browser = &mut stage.browser;
    for light in ["light", "dark"] {
        browser.light(light);
        for (width, height) in [(360, 780), (1280, 900)] {
            browser.size(width, height);
            for (name, path) in &places {
                browser.open(path);
                let wide = browser.eval("document.documentElement.scrollWidth");
                assert!(wide.as_u64() <= Some(width.into()), "{path} is {wide} wide at {width}");
                keep(&browser.picture(), &format!("media-{name}-{width}-{light}.png"));
                let found = serious_faults(browser);
                assert_eq!(found, serde_json::json!([]), "{name} at {width} in {light}");
            }
        }
    }
    browser.was_clean();
}

#[test]
fn a_podcast_is_played_and_continues_on_another_device() {
    let _turn = turn();
    let mut stage = set();
    let id = entry(&mut stage, "A podcast");
    let browser = &mut stage.browser;
    browser.open(&format!("/entry/{id}"));
    browser.follow(".playable a.button");
    browser.wait("document.querySelector('.play audio')");
    browser.wait("!document.querySelector('.player-acts').hidden");
    browser.wait("document.querySelectorAll('.chapters a[data-start]').length === 2");
    assert_eq!(n_sounds(&stage), 0, "nothing is asked before the click");
    let browser = &mut stage.browser;
    browser.eval(
        "const s = document.querySelector('[data-speed]'); s.value = '2'; \
         s.dispatchEvent(new Event('change'))",
    );
    browser.wait("document.querySelector('.play audio').playbackRate === 2");
    browser.eval(
        "(() => { const p = document.querySelector('.play audio'); p.muted = true; \
         return p.play(); })()",
    );
    browser.wait("document.querySelector('.play audio').ended");
    assert!(n_sounds(&stage) > 0);
    let browser = &mut stage.browser;
    // The position is kept.
    browser.open_until(&format!("/entry/{id}"), "document.body.innerText.includes('finished')");
    let site = stage.publisher.url("/a.wav");
    stage.browser.was_clean_but_for(&site);
}

#[test]
fn a_video_is_asked_for_by_a_click_only_and_notes_work() {
    with_scripts_and_without(set, |stage| {
        let article = entry(stage, "A long article");
        let video = entry(stage, "A video");
        let browser = &mut stage.browser;
        browser.open(&format!("/entry/{video}"));
        browser.wait("document.querySelector('a.embed img')?.src.includes('/image?')");
        assert_eq!(browser.eval("document.querySelectorAll('iframe').length"), 0);
        browser.open(&format!("/entry/{article}"));
        browser.click(".prose sup a");
        browser.wait("document.querySelector(':target')?.innerText === 'The note itself.'");
        let inside = "document.querySelector('.prose pre').scrollWidth > \
                      document.querySelector('.prose pre').clientWidth";
        browser.size(360, 780);
        browser.wait(inside);
        browser.wait("document.querySelector('.article .meta').innerText.includes('min to read')");
    });
}

/// Returns how often the recording was asked for since the last look.
fn n_sounds(stage: &Stage) -> usize {
    n_asked(stage, "/a.wav")
}

fn n_asked(stage: &Stage, path: &str) -> usize {
    stage.publisher.take_asked().iter().filter(|asked| asked.path == path).count()
}

#[test]
fn pictures_are_asked_for_when_the_reader_comes_to_them() {
    let _turn = turn();
    let mut stage = set();
    let id = entry(&mut stage, "A very long read");
    for way in ["scroll", "print"] {
        stage.publisher.take_asked();
        // Another browser has nothing in its cache.
        stage.browser = Browser::start(stage.daemon.listen);
        stage.browser.open(&format!("/entry/{id}"));
        stage.browser.wait("document.querySelector('.prose img').loading === 'lazy'");
        assert_eq!(n_asked(&stage, "/last.png"), 0, "it is far away");
        match way {
            "scroll" => stage.browser.eval("document.querySelector('.prose img').scrollIntoView()"),
            _ => stage.browser.call("Page.printToPDF", serde_json::json!({})),
        };
        eventually("the picture is asked for", || (n_asked(&stage, "/last.png") > 0).then_some(()));
        stage.browser.was_clean();
    }
}

#[test]
fn a_printed_entry_is_its_text_and_nothing_else() {
    let _turn = turn();
    let mut stage = set();
    let id = entry(&mut stage, "A long article");
    let browser = &mut stage.browser;
    let dark = serde_json::json!({"name": "prefers-color-scheme", "value": "dark"});
    let print = serde_json::json!({"media": "print", "features": [dark]});
    browser.call("Emulation.setEmulatedMedia", print);
    for (width, height) in [(794, 1123), (1123, 794)] {
        browser.size(width, height);
        browser.open(&format!("/entry/{id}"));
        let shown = browser.eval(
            "['.top', '.bottom', '.path', '.whole', '.single-acts', '.share', '.labels', '.mute', \
             '.pages', 'form', 'button'].filter(name => [...document.querySelectorAll(name)]\
             .some(e => e.getClientRects().length))",
        );
        assert_eq!(shown, serde_json::json!([]), "parts of the page at {width}");
        let style = "getComputedStyle(document.documentElement)";
        assert_eq!(browser.eval(&format!("{style}.colorScheme")), "light", "ink on paper");
        let wide = browser.eval("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(width.into()), "{wide} wide at {width}");
        let cut = browser.eval(
            "[...document.querySelectorAll('.prose pre, .prose .scroll')]\
             .filter(e => e.scrollWidth > e.clientWidth).length",
        );
        assert_eq!(cut, 0, "code and tables are printed whole");
        browser.sees("Paragraph 12 of a long article");
        keep(&browser.picture(), &format!("media-print-{width}.png"));
    }
    let pdf = browser.call("Page.printToPDF", serde_json::json!({"printBackground": false}));
    let pdf = pdf["data"].as_str().unwrap();
    assert!(STANDARD.decode(pdf).unwrap().starts_with(b"%PDF"));
    keep(pdf, "media-print.pdf");
    browser.was_clean();
}

#[test]
fn a_selector_is_tried_on_a_page_without_a_serious_fault() {
    let _turn = turn();
    let mut stage = set();
    let page = "<title>Trial</title><article><h1>Trial</h1><p>The first line is here.</p>\
                <p>averyveryverylongwordthatcannotbebrokenandisfarwiderthananyphone</p></article>";
    for n in 1..=7 {
        let answer = Response::new(200).with("content-type", "text/html").body(page);
        stage.publisher.set_answer(&format!("/{n}"), answer);
    }
    let browser = &mut stage.browser;
    for light in ["light", "dark"] {
        browser.light(light);
        for (width, height) in [(360, 780), (1280, 900)] {
            browser.size(width, height);
            for (selector, says) in [
                ("article p", "The first line is here."),
                ("#nothing", "No text:"),
                ("p:::", "No text:"),
            ] {
                browser.open("/feed/1");
                browser.fill("input[name=selector]", selector);
                browser.follow("button[formaction='/feed/1/try']");
                browser.sees(says);
                let wide = browser.eval("document.documentElement.scrollWidth");
                assert!(wide.as_u64() <= Some(width.into()), "{wide} wide at {width}");
                let name = if says == "No text:" { "nothing" } else { "found" };
                keep(&browser.picture(), &format!("trial-{name}-{width}-{light}.png"));
                let found = serious_faults(browser);
                assert_eq!(found, serde_json::json!([]), "{selector} at {width} in {light}");
            }
        }
    }
    browser.fill("input[name=selector]", "article p");
    browser.follow("form[action='/feed/1/articles'] button:not([formaction])");
    browser.wait("document.querySelector('input[name=selector]').value === 'article p'");
    browser.was_clean();
}

#[test]
fn the_whole_text_is_loaded_by_a_button() {
    let page: String = (1..=40)
        .map(|n| {
            format!(
                "<p>Sentence {n} of the page behind the entry has more words than its feed, and \
                 so the article is shown as soon as it is there.</p>"
            )
        })
        .collect();
    let page = format!(
        "<html lang=en><head><title>A gallery</title></head><body><nav><a href=/>Home</a></nav>\
         <article><h1>A gallery</h1>{page}</article></body></html>"
    );
    let with_page = || {
        let stage = set();
        let answer = Response::new(200).with("content-type", "text/html").body(page.clone());
        stage.publisher.set_answer("/4", answer);
        stage
    };
    with_scripts_and_without(with_page, |stage| {
        let id = entry(stage, "A gallery");
        let browser = &mut stage.browser;
        browser.open(&format!("/entry/{id}"));
        browser.follow(".whole form button");
        let shown = "document.body.innerText.includes('Sentence 40 of the page')";
        browser.open_until(&format!("/entry/{id}"), shown);
        keep(&browser.picture(), "media-whole-1280-light.png");
        browser.follow(".whole nav a[href*='text=feed']");
        browser.sees("Three pictures.");
        browser.follow(".whole nav a[href*='text=article']");
        browser.sees("Sentence 1 of the page");
    });
}
