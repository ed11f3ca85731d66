//! Small pages of our own: title, byline, date, section, image, language, direction.

use article::language::LanguageSource;
use article::{ExtractedArticle, NoArticle, TextDirection};
use url::Url;

fn extract(head: &str, attributes: &str) -> ExtractedArticle {
    let words = "The council decided on Monday to rebuild the harbour, although the money for it \
        is \
        still missing. ";
    let page = format!(
        "<!doctype html><html {attributes}><head>{head}</head><body><article><p>{}</p><p>{}</p>\
         </article></body></html>",
        words.repeat(3),
        words.repeat(3)
    );
    let url = Url::parse("https://e.org/a/b").unwrap();
    article::extract(page.as_bytes(), None, Some(&url), None).unwrap()
}

#[test]
fn facts_of_meta_tags() {
    let article = extract(
        "<meta property='og:title' content='A &amp; B'><meta name=author content='Jane Roe'>\
         <meta property='article:published_time' content='2026-03-05T10:00:00+02:00'>\
         <meta property='article:section' content=' World  news '>\
         <meta property='og:image' content='/i.jpg'><meta property='og:site_name' content='E'>\
         <link rel=canonical href='/canonical'><meta name=description content='In short.'>\
         <link rel=icon href=/f.png>",
        "lang=en-GB",
    );
    assert_eq!(article.title.as_deref(), Some("A & B"));
    assert_eq!(article.byline.as_deref(), Some("Jane Roe"));
    assert_eq!(article.published.map(|t| t.to_string()).as_deref(), Some("2026-03-05T08:00:00Z"));
    assert_eq!(article.section.as_deref(), Some("World news"));
    assert_eq!(article.image.as_deref(), Some("https://e.org/i.jpg"));
    assert_eq!(article.site.as_deref(), Some("E"));
    assert_eq!(article.canonical.as_deref(), Some("https://e.org/canonical"));
    assert_eq!(article.excerpt.as_deref(), Some("In short."));
    assert_eq!(article.icons[0].url, "https://e.org/f.png");
    let language = article.language.unwrap();
    assert_eq!((language.tag.as_str(), language.source), ("en-GB", LanguageSource::Declared));
}

#[test]
fn facts_of_linked_data_in_a_graph() {
    let article = extract(
        r#"<title>T</title><script type="application/ld+json">{"@context":"https://schema.org",
        "@graph":[{"@type":"WebSite","name":"W"},{"@type":["NewsArticle"],"headline":"H",
        "datePublished":"2026-03-05","articleSection":["Sport","Rowing"],
        "author":[{"name":"Jane Roe"},{"name":"John Doe"}],"image":[{"url":"i.png"}]}]}</script>"#,
        "",
    );
    assert_eq!(article.published.map(|t| t.to_string()).as_deref(), Some("2026-03-05T00:00:00Z"));
    assert_eq!(article.section.as_deref(), Some("Sport"));
    assert_eq!(article.byline.as_deref(), Some("Jane Roe, John Doe"));
    assert_eq!(article.image.as_deref(), Some("https://e.org/a/i.png"));
}

#[test]
fn language_and_direction() {
    let wrong = extract("<title>T</title>", "lang=de dir=rtl").language.unwrap();
    assert_eq!((wrong.tag.as_str(), wrong.source), ("en", LanguageSource::Detected));
    let silent = extract("<title>T</title>", "").language.unwrap();
    assert!(silent.tag == "en" && silent.confidence_permille.is_some_and(|c| c > 500));
    let article = extract("<title>T</title>", "lang=ar dir=rtl");
    assert_eq!(article.direction, Some(TextDirection::RightToLeft));
    assert_eq!(extract("<title>T</title>", "dir=auto").direction, None);
}

#[test]
fn absent_facts_are_absent_and_dangerous_addresses_too() {
    let article = extract("<meta property='og:image' content='javascript:x'>", "");
    assert_eq!((article.title, article.byline, article.site), (None, None, None));
    assert_eq!((article.published, article.image, article.section), (None, None, None));
    assert_eq!((article.canonical, article.direction), (None, None));
}

#[test]
fn what_is_not_a_page_has_a_reason() {
    for (bytes, expect) in [
        (b"".as_slice(), NoArticle::NotHtml),
        (b"just words", NoArticle::NotHtml),
        (b"%PDF-1.7\n\0\0\0", NoArticle::NotHtml),
        (b"<html><body></body></html>", NoArticle::NoMainText),
        (b"<script>var a = 1</script>", NoArticle::NoMainText),
    ] {
        assert_eq!(article::extract(bytes, None, None, None), Err(expect), "{bytes:?}");
    }
}

#[test]
fn a_page_may_forbid_copies() {
    for (head, expect) in [
        ("<meta name=ROBOTS content='noindex, NoArchive'>", true),
        ("<meta name=tidings content=noarchive>", true),
        ("<meta name=googlebot content=noarchive>", false),
        ("<meta name=robots content='index, follow'>", false),
        ("", false),
    ] {
        assert_eq!(extract(head, "").noarchive, expect, "{head}");
    }
}
