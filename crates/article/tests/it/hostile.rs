//! Pages that are made to exhaust the program. Each is either read or refused; none kills the
//! process. The threads of these tests have stacks of 2 MB, as those of the live program.
//!
//! Measured in a release build: the worst of 84 such pages at the limits takes 2.1 s of CPU
//! (240 nested sections with 45,600 headings) and 64 MB (49,000 links).

use std::fmt::Write;

fn survives(name: &str, page: &str) {
    let result = article::extract(page.as_bytes(), None, None, None);
    assert_ne!(result, Err(article::NoArticle::Internal), "{name}: a library panicked");
}

fn nested(open: &str, n: usize) -> String {
    format!("<title>t</title>{}words{}", open.repeat(n), "</p>".repeat(3))
}

#[test]
fn nesting() {
    let tags = "div span b i a p table td ul li font em section article blockquote svg math g \
        template button form h1 pre details select option object noscript center nobr code";
    for name in tags.split_whitespace() {
        for n in [100, 240, 1000, 100_000] {
            survives(name, &nested(&format!("<{name}>"), n));
        }
    }
    survives("tables", &nested("<table><tr><td>", 3000));
    survives("deep text", &nested("<div>some words, and more, ", 250));
    survives("svg titles", &nested("<svg><title>", 50_000));
    survives("misnested", &nested("<a><b><i><p>x</a>", 20_000));
}

#[test]
fn attributes() {
    let mut page = String::from("<p>a</p><div ");
    for n in 0..100_000 {
        write!(page, "a{n}=1 ").unwrap();
    }
    page.push_str(">b</div>");
    survives("attributes", &page);
    let many: String = (0..100_000).map(|n| format!("<html a{n}=1><body b{n}=1>")).collect();
    survives("merged attributes", &many);
    survives("one class", &format!("<div class=\"{}\"><p>x", "related ".repeat(300_000)));
}

#[test]
fn masses() {
    for (name, piece, n) in [
        ("links", "<a href='https://e.org/x'>a link of words</a> ", 60_000),
        ("paragraphs", "<p>Some words, in a paragraph, again and again.</p>", 12_000),
        ("breaks", "<br>", 49_000),
        ("breaks and words", "a<br><br>", 12_000),
        ("commas", ",", 2_900_000),
        ("comments", "<!-- x -->", 290_000),
        ("images", "<img src=x>", 12_000),
        ("frames", "<iframe src='https://www.youtube.com/embed/dQw4w9WgXcQ'></iframe>", 10_000),
        ("lists", "<ul><li><a href=x>y</a></ul>", 6_000),
        ("related", "<div class=related><a href=x>y</a></div>", 10_000),
        ("headings", "<h2>Related</h2><p><a href=x>y z</a></p>", 6_000),
        ("spans", "<span>w </span>", 20_000),
        ("tables", "<table><tr><td>a<td>b</table>", 12_000),
        ("angle brackets", "<", 2_900_000),
        ("open tags", "<a ", 900_000),
        ("entities", "&lt;", 700_000),
        ("end tags", "</div>", 400_000),
        ("links to icons", "<link rel=icon href=x>", 12_000),
        ("meta", "<meta property='og:title' content='x'>", 12_000),
    ] {
        survives(name, &format!("<title>t</title><body>{}", piece.repeat(n)));
    }
    survives("title", &format!("<title>{}</title><p>x", "t".repeat(2_900_000)));
}

#[test]
fn linked_data() {
    for inside in ["[".repeat(1_000_000), "{\"a\":".repeat(500_000), "\"".repeat(1_000_000)] {
        let script = "<script type='application/ld+json'>";
        survives("linked data", &format!("{script}{inside}</script><p>words</p>"));
    }
}

#[test]
fn bytes_that_are_not_a_page() {
    // A linear congruential generator; the bytes only have to differ.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..1_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect();
    let result = article::extract(&noise, None, None, None);
    assert_ne!(result, Err(article::NoArticle::Internal));
    let tags: Vec<u8> =
        noise.iter().map(|byte| b"<>/abp i='\"!-&"[usize::from(byte % 14)]).collect();
    let result = article::extract(&tags, None, None, None);
    assert_ne!(result, Err(article::NoArticle::Internal));
}
