//! Pages that are made to exhaust the program that reads them. The tests of the crate read them
//! too.

use std::fmt::Write as _;

/// A page, made when it is needed: many are large.
pub struct HostilePage {
    pub name: String,
    pub make: Box<dyn Fn() -> Vec<u8>>,
}

impl HostilePage {
    fn new(name: impl Into<String>, make: impl Fn() -> String + 'static) -> HostilePage {
        HostilePage { name: name.into(), make: Box::new(move || make().into_bytes()) }
    }
}

/// Elements in elements, below the limits and far beyond them.
pub fn nesting() -> Vec<HostilePage> {
    let tags = "div span b i a p table td ul li font em section article blockquote svg math g \
        template button form h1 pre details select option object noscript center nobr code";
    let mut pages = Vec::new();
    let mut add = |name: String, open: String, n: usize| {
        let make = move || format!("<title>t</title>{}words{}", open.repeat(n), "</p>".repeat(3));
        pages.push(HostilePage::new(format!("{n} nested {name}"), make));
    };
    for tag in tags.split_whitespace() {
        for n in [100, 240, 1000, 100_000] {
            add(tag.to_owned(), format!("<{tag}>"), n);
        }
    }
    add("tables".to_owned(), "<table><tr><td>".to_owned(), 3000);
    add("texts".to_owned(), "<div>some words, and more, ".to_owned(), 250);
    add("titles of pictures".to_owned(), "<svg><title>".to_owned(), 50_000);
    add("crossing tags".to_owned(), "<a><b><i><p>x</a>".to_owned(), 20_000);
    pages.push(HostilePage::new("240 nested sections with 45,600 headings", || {
        "<section>".repeat(240) + &"<h2>Some words</h2>".repeat(45_600)
    }));
    pages
}

/// Tags with very many or very long attributes.
pub fn attributes() -> Vec<HostilePage> {
    let numbered = |before: &'static str, between: &'static str| {
        move || {
            let mut page = String::from(before);
            for n in 0..100_000 {
                let _ = write!(page, "{}", between.replace('#', &n.to_string()));
            }
            page
        }
    };
    vec![
        HostilePage::new("100,000 attributes", numbered("<p>a</p><div ", "a#=1 ")),
        HostilePage::new("merged attributes", numbered("", "<html a#=1><body b#=1>")),
        HostilePage::new("one long class", || {
            format!("<div class=\"{}\"><p>x", "related ".repeat(300_000))
        }),
    ]
}

/// One piece again and again, at the limits and beyond.
pub fn masses() -> Vec<HostilePage> {
    let pieces = [
        ("links", "<a href='https://e.org/x'>a link of words</a> ", 49_000),
        ("10 MB of links", "<a href='https://e.org/x'>a link of words</a> ", 230_000),
        ("paragraphs", "<p>Some words, in a paragraph, again and again.</p>", 12_000),
        ("10 MB of paragraphs", "<p>Some words, in a paragraph, again and again.</p>", 200_000),
        ("breaks", "<br>", 49_000),
        ("a million breaks", "<br>", 1_000_000),
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
    ];
    let page = |(name, piece, n): (&str, &'static str, usize)| {
        HostilePage::new(name, move || format!("<title>t</title><body>{}", piece.repeat(n)))
    };
    let mut pages: Vec<HostilePage> = pieces.into_iter().map(page).collect();
    for n in [2_900_000, 5_000_000] {
        let make = move || format!("<title>{}</title><p>x", "t".repeat(n));
        pages.push(HostilePage::new(format!("a title of {n} bytes"), make));
    }
    pages
}

/// Structured data that never ends.
pub fn linked_data() -> Vec<HostilePage> {
    let pieces = [("[", 1_000_000), ("{\"a\":", 500_000), ("\"", 1_000_000)];
    let page = |(piece, n): (&'static str, usize)| {
        HostilePage::new(format!("linked data of {n} {piece}"), move || {
            let script = "<script type='application/ld+json'>";
            format!("{script}{}</script><p>words</p>", piece.repeat(n))
        })
    };
    pieces.into_iter().map(page).collect()
}

/// Bytes that are not a page.
pub fn noise() -> Vec<HostilePage> {
    let tags = || random().map(|byte| b"<>/abp i='\"!-&"[usize::from(byte % 14)]).collect();
    vec![
        HostilePage { name: "random bytes".to_owned(), make: Box::new(|| random().collect()) },
        HostilePage { name: "random tags".to_owned(), make: Box::new(tags) },
        HostilePage::new("nothing", String::new),
    ]
}

/// Returns a million bytes of a linear congruential generator. They only have to differ.
fn random() -> impl Iterator<Item = u8> {
    let mut state = 1_u32;
    (0..1_000_000).map(move |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
}
