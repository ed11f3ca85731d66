//! Small pages of our own: what an article keeps, and what goes.

use article::{ExtractedArticle, ExtractionRule, NoArticle};
use url::Url;

fn extract(page: &str) -> ExtractedArticle {
    let url = Url::parse("https://news.example/world/story").unwrap();
    article::extract(page.as_bytes(), Some("text/html"), Some(&url), None).unwrap()
}

/// Five paragraphs. Each can be recognised by its number.
fn prose() -> String {
    (1..=5)
        .map(|n| {
            format!(
                "<p>Paragraph {n} tells, in some detail, how the harbour of the small town was \
                 rebuilt after the storm, who paid for it, and why it took eleven years.</p>"
            )
        })
        .collect()
}

fn page(before: &str, inside: &str, after: &str) -> String {
    let prose = prose();
    let (first, rest) = prose.split_at(prose.find("<p>Paragraph 3").unwrap());
    format!(
        "<html lang=en><head><title>The harbour that took eleven years</title></head><body>\
         <nav><a href=/>Home</a> <a href=/world>World</a></nav><main><article>{before}{first}\
         {inside}{rest}{after}</article></main><footer>Imprint and privacy</footer></body></html>"
    )
}

/// The five paragraphs stay, and the words do not.
#[track_caller]
fn goes(before: &str, inside: &str, after: &str, words: &[&str]) {
    let article = extract(&page(before, inside, after));
    for n in 1..=5 {
        assert!(article.text.contains(&format!("Paragraph {n} ")), "{}", article.text);
    }
    for word in words {
        assert!(!article.text.contains(word), "{word} is still in: {}", article.text);
        assert!(!article.html.contains(word), "{word} is still in: {}", article.html);
    }
}

/// The five paragraphs stay, and so do the words.
#[track_caller]
fn stays(before: &str, inside: &str, after: &str, words: &[&str]) {
    let article = extract(&page(before, inside, after));
    for word in words {
        assert!(article.text.contains(word), "{word} is missing: {}", article.text);
    }
}

#[test]
fn plain_articles_stay_whole_and_have_one_line_per_block() {
    let article = extract(&page("", "<h2>The costs</h2>", ""));
    let lines: Vec<&str> = article.text.lines().collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(lines[2], "The costs");
    assert_eq!(article.title.as_deref(), Some("The harbour that took eleven years"));
}

#[test]
fn a_repeated_title_goes() {
    goes("<h1>The harbour that took eleven years</h1>", "", "", &["The harbour that"]);
    goes("<h2>The Harbour That Took Eleven Years!</h2>", "", "", &["Harbour That"]);
    goes("<div><p>The harbour that took eleven years</p></div>", "", "", &["The harbour that"]);
    stays("<h2>What the town lost</h2>", "", "", &["What the town lost"]);
}

#[test]
fn byline_date_and_reading_time_before_the_text_go() {
    goes("<div><p>March 5, 2026</p><p>5 min read</p></div>", "", "", &["March 5", "min read"]);
    goes("<p>Published: 5 March 2026</p>", "", "", &["Published"]);
}

#[test]
fn newsletter_boxes_go() {
    let form = "<div class='c-newsletterSignup'><h3>The briefing</h3><p>Our best stories, every \
        morning, written by the editors.</p><input name=mail><button>Join</button></div>";
    goes("", form, "", &["briefing", "every morning"]);
    goes("", "<p>Sign up for our newsletter and never miss a story.</p>", "", &["never miss"]);
    goes("", "", "<p><em>Follow us on Twitter <a href=/t>@news</a>.</em></p>", &["Follow us"]);
    goes("", "<p>Abonnieren Sie unseren <a href=/n>Newsletter</a>!</p>", "", &["Newsletter"]);
    stays(
        "",
        "<p>In 2015 the mayor told the reporters, who had asked him about it for months, that the \
         town would write to its citizens every week, by letter and in a newsletter that the \
         library printed.</p>",
        "",
        &["that the library printed"],
    );
}

#[test]
fn related_links_go() {
    let list = "<ul><li><a href=/a>Another storm, another town</a></li><li><a href=/b>How dikes \
        are built</a></li></ul>";
    goes(
        "",
        &format!("<h3>Related stories</h3>{list}"),
        "",
        &["Related", "Another storm", "dikes"],
    );
    goes("", "", &format!("<h4>More from World</h4>{list}"), &["More from", "Another storm"]);
    goes("", "", list, &["Another storm", "dikes"]);
    goes("", "<p><strong>READ MORE: <a href=/a>Another storm</a></strong></p>", "", &["READ MORE"]);
    goes("", "<p>Lesen Sie auch: <a href=/a>Der andere Sturm</a></p>", "", &["Lesen", "Sturm"]);
    goes("", "<p><a href=/a>Related: Another storm</a></p>", "", &["Related", "Another"]);
    let cards = "<aside class='relatedPosts'><div><a href=/a>Another storm</a><p>A town by the \
        sea</p></div></aside>";
    goes("", cards, "", &["Another storm"]);
}

#[test]
fn links_that_belong_to_the_text_stay() {
    stays(
        "",
        "<p>The report is <a href=/r>in the archive of the town hall</a>, with all figures \
        and the names of those who signed it.</p>",
        "",
        &["in the archive"],
    );
    let sources = "<h2>References</h2><ol><li><a href=/1>Harbour report of 2015</a></li>\
        <li><a href=/2>Minutes of the council</a></li></ol>";
    stays("", "", sources, &["References", "Harbour report", "Minutes"]);
    stays(
        "",
        "<h2>Related work</h2><p>Others have studied harbours before, and their results \
        differ from ours in two ways.</p>",
        "",
        &["Related work", "differ from ours"],
    );
}

#[test]
fn tags_share_buttons_advertisements_and_comments_go() {
    goes(
        "",
        "",
        "<div class=post-tags>Tags: <a href=/t/a>harbours</a>, <a href=/t/b>storms</a></div>",
        &["Tags", "harbours"],
    );
    goes(
        "",
        "<p>Advertisement</p>",
        "<div class=share-bar><span>Share this article</span></div>",
        &["Advertisement", "Share this"],
    );
    let comments = "<h3>2 comments</h3><div><p>Ann wrote: I remember the storm, and the old quay, \
        very well.</p><p>Bob wrote: So do I.</p></div>";
    goes("", "", comments, &["comments", "Ann wrote", "Bob wrote"]);
    let author = "<h4>About the author</h4><p>Jane Roe writes about towns by the sea.</p>";
    goes("", "", author, &["About the author", "Jane Roe writes"]);
}

/// A section of the article may be called as comments are.
#[test]
fn sections_that_are_called_as_comments_stay() {
    let section = |head: &str| format!("{head}{}", prose().replace("Paragraph", "Section"));
    for head in [
        "<h2>Discussion</h2>",
        "<h2>Comments</h2>",
        "<h2 id=comments>Comments</h2>",
        "<h2>3 Response strategies</h2>",
        "<h2>10 replacement ideas</h2>",
    ] {
        stays("", "", &section(head), &["Section 1", "Section 5", "Paragraph 5"]);
    }
    let sphinx = format!(
        "<section id=comments><h2>Comments<a href=#comments>¶</a></h2>{}</section>",
        prose().replace("Paragraph", "Section")
    );
    stays("", "", &sphinx, &["Section 1", "Section 5"]);
    stays("", "<ul><li>Comments</li><li>Code</li></ul>", "", &["Code", "Paragraph 5"]);
}

/// Long comments go if more than their heading says that readers speak.
#[test]
fn long_comments_go_if_something_shows_that_they_are_some() {
    let says = prose().replace("Paragraph", "Reader");
    let gone = ["Reader 1", "Reader 5"];
    for comments in [
        format!("<h3>Comments</h3><ol class=comment-list>{says}</ol>"),
        format!("<div id=comments><h3>Comments</h3><div class=comment>{says}</div></div>"),
        format!(
            "<h3>3 comments</h3>{says}<p>Ann, 5 March 2026, 14:30</p><p>Me too.</p><p>Bob, 6 March \
             2026, 9:30</p><p>So do I.</p><p>Eve, 6 March 2026, 10:30</p><p>Thanks.</p>"
        ),
        format!("<h3>Kommentare</h3>{says}<p>Antworten</p><p>Danke!</p><p>Antworten</p>"),
    ] {
        goes("", "", &comments, &gone);
    }
}

#[test]
fn cells_and_headings_that_read_like_buttons_stay() {
    let table = "<table><tr><th>Key</th><th>Does</th></tr><tr><td>F2</td><td>Save</td></tr>\
        <tr><td>F3</td><td>Print</td></tr></table>";
    stays("", table, "", &["Save", "Print"]);
    stays("", "<h2>9/11</h2>", "", &["9/11"]);
}

#[test]
fn a_post_of_links_keeps_its_first_links() {
    let links: String = (1..=20)
        .map(|n| format!("<p><a href=/{n}>Link number {n} about the harbour</a></p>"))
        .collect();
    stays(&links, "", "", &["Link number 1 ", "Link number 12 ", "Link number 20 "]);
    stays("<p>7 things we learned in 2024</p>", "", "", &["7 things"]);
}

/// Small lines that news sites of many languages put around a text, most of them without a class.
#[test]
fn small_lines_before_and_after_the_text_go() {
    goes(
        "<p>3 hours ago</p><ul><li>Tweet</li><li>WhatsApp</li></ul><p>14 Comments</p>\
         <p>Reading time: 4 minutes</p>",
        "<p>1 of 12</p>",
        "<p>Tags: quays, weather</p><p>@janeroe</p><p>Updated 5 March 2026, 14:30</p>",
        &["hours ago", "Tweet", "WhatsApp", "Comments", "Reading", "1 of 12", "quays", "janeroe"],
    );
    goes(
        "<p>vor 2 Stunden</p><p>Lesezeit: 3 Min.</p><p>Drucken</p>",
        "<p>Anzeige</p><p>Lesen Sie dazu auch: <a href=/x>Ein anderer Hafen</a></p>",
        "<p>Schlagwörter: Kai, Sturm</p><p>12 Kommentare</p>",
        &["Stunden", "Lesezeit", "Drucken", "Anzeige", "anderer Hafen", "Sturm", "Kommentare"],
    );
    goes(
        "<p>il y a 3 heures</p><p>Temps de lecture : 4 min</p><p>Partager</p>",
        "<p>La suite après la publicité</p>",
        "<p>Mots-clés : quai, orage</p>",
        &["heures", "Temps de", "Partager", "publicité", "orage"],
    );
    goes(
        "<p>há 2 horas</p><p>Compartilhe</p>",
        "<p>Continua após a publicidade</p><p>Leia ainda: <a href=/x>Outro porto</a></p>",
        "<p>0 comentários</p>",
        &["horas", "Compartilhe", "publicidade", "Outro porto", "comentários"],
    );
    goes(
        "<p>5 часов назад</p><p>Поделиться</p><p>1 204 просмотра</p>",
        "<p>Продолжение после рекламы</p>",
        "<p>Теги: порт, шторм</p>",
        &["назад", "Поделиться", "рекламы", "шторм"],
    );
    goes(
        "<p>3小时前</p><p>分享</p>",
        "<p>广告</p>",
        "<p>标签：港口，风暴</p>",
        &["小时前", "分享", "广告", "风暴"],
    );
    goes(
        "<p>3시간 전</p><p>공유</p>",
        "",
        "<p>무단 전재-재배포 금지</p>",
        &["시간", "공유", "재배포"],
    );
}

/// The post of an author goes with the name; a line that only looks like one stays.
#[test]
fn the_post_of_an_author_goes_with_the_name() {
    let name = "<p>By Jane Roe</p>";
    let post = "<p>Political correspondent, Boston</p>";
    goes(&format!("{name}{post}<p>@janeroe</p>"), "", "", &["Jane Roe", "correspondent", "@jane"]);
    stays(post, "", "", &["Political correspondent"]);
    stays("<h2>Share</h2>", "", "<ul><li>2 of 5 quays are built</li></ul>", &["Share", "2 of 5"]);
}

#[test]
fn a_page_that_is_all_links_is_not_emptied() {
    let items: String = (0..40)
        .map(|n| {
            format!(
                "<li><a href=/{n}>Story number {n}, about a harbour, a storm and a town</a></li>"
            )
        })
        .collect();
    let page =
        format!("<title>List</title><article><h1>All stories</h1><ul>{items}</ul></article>");
    match article::extract(page.as_bytes(), None, None, None) {
        Ok(article) => assert!(article.text.lines().count() > 20, "{}", article.text),
        Err(why) => assert_eq!(why, NoArticle::NoMainText),
    }
}

#[test]
fn a_rule_replaces_the_search() {
    let url = Url::parse("https://e.org/a/").unwrap();
    let page = "<title>T</title><div id=x><p>Short. <a href=b>Link</a></p><p class=ad>Buy</p></div>\
        <div id=y><p>Second.</p></div>";
    let read = |keep, remove| {
        let rule = ExtractionRule { keep, remove };
        article::extract(page.as_bytes(), None, Some(&url), Some(&rule))
    };
    let found = read("#x, #y, #x p", Some(".ad")).unwrap();
    assert_eq!(found.text, "Short. Link\nSecond.");
    assert!(found.html.contains("href=\"https://e.org/a/b\""), "{}", found.html);
    assert_eq!(found.title.as_deref(), Some("T"));
    let selector = "#z".to_owned();
    assert_eq!(read("#z", None), Err(NoArticle::NothingSelected { selector }));
    assert!(matches!(read("p:::", None), Err(NoArticle::BadSelector { .. })));
    assert!(matches!(read(&"a ".repeat(500), None), Err(NoArticle::BadSelector { .. })));
}

#[test]
fn players_become_links_with_a_still() {
    let inside = "<p><iframe src='https://www.youtube.com/embed/dQw4w9WgXcQ'></iframe></p>\
        <p><iframe src='https://tube.example/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d'>\
        </iframe></p><p><iframe src='https://ads.example/x'></iframe></p>";
    let article = extract(&page("", inside, ""));
    let sites: Vec<&str> = article.embeds.iter().map(|embed| embed.site).collect();
    assert_eq!(sites, ["YouTube", "PeerTube"]);
    assert!(!article.html.contains("iframe"), "{}", article.html);
    assert!(article.html.contains("https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"));
    assert!(!article.text.contains("YouTube"), "{}", article.text);
}

/// The library panics on these without our help.
#[test]
fn frames_with_letters_of_any_script_do_not_cost_the_article() {
    for frame in [
        "<iframe src='/x' title='Видео youtube.com'></iframe>",
        "<embed src='Àþÿÿww.youtube.com/embed/x'>",
        "<object data=/x><p>Видео youtube.com/watch</p></object>",
        "<object data='https://www.youtube.com/v/dQw4w9WgXcQ'>éé youtube.com</object>",
    ] {
        goes("", frame, "", &[]);
    }
}
