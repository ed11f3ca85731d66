//! Whole statements: their meaning, and that they are written as they were read.

use std::time::Duration;

use query::{Access, Deliver, LookBack, QuerySource, Statement};

use crate::sample::created;

const EVERYTHING: &str = r#"
-- A comment; with a semicolon.
create or replace feed All-Of_It as
return "http://feeds.guardian.co.uk/theguardian/rss" | FEED other | TAG "press" | ALL FEEDS
join TAG "agencies" on title similar within 2 days
where (TITLE contains "ash*" near/3 "big cloud" and not AUTHOR = "J \"D\" \\ Doe")
   or LINK matches /a\/b+/i and PUBLISHED >= "2011-07" and PUBLISHED within 3 days
distinct on link within last 50 items
count > 4 within 90 minutes
window 24 hours
titled "Vulkane – alle"
publish by secret link
deliver to webhook "https://example.org/hook?token=1" signed by "newsroom"
deliver to file "archive/volcano" rolling every day
deliver to email "ann@example.org" every week at "07:30"
"#;

#[test]
fn the_example_of_the_paper_works_to_the_letter() {
    let paper = "CREATE FEED IcelandVolcanoEruption AS
RETURN \"http://feeds.guardian.co.uk/theguardian/rss\" |
      \"http://www.boston.com/bigpicture/index.xml\"
WHERE ITEM CONTAINS \"iceland\" OR \"volcano\" OR \"eruption\"";
    let create = created(paper);
    assert_eq!(create.name.text, "IcelandVolcanoEruption");
    assert_eq!(create.text, paper);
    assert_eq!(create.query.urls().len(), 2);
    assert_eq!(create.query.access, Access::Private);
    let file = format!("{paper};");
    let matcher = crate::sample::matcher(&file);
    for (url, title, expect) in [
        ("http://feeds.guardian.co.uk/theguardian/rss", "Volcano grounds flights", 1),
        ("http://www.boston.com/bigpicture/index.xml", "More from Iceland", 1),
        ("http://www.boston.com/bigpicture/index.xml", "An ERUPTION of joy", 1),
        ("http://www.boston.com/bigpicture/index.xml", "Icelandic horses", 0),
        ("http://example.org/", "Volcano grounds flights", 0),
    ] {
        let mut sample = crate::sample::Sample::titled(title);
        sample.feed_url = url;
        let (mut states, mut scratch) = (query::States::default(), query::Scratch::new());
        assert_eq!(matcher.matches(&sample.entry(), &mut states, &mut scratch).len(), expect);
    }
}

#[test]
fn articles_are_published_only_if_the_statement_says_so() {
    for (clause, access, expect) in [
        ("PUBLISH", Access::Public, false),
        ("publish with articles", Access::Public, true),
        ("PUBLISH BY SECRET LINK WITH ARTICLES", Access::SecretLink, true),
    ] {
        let create = created(&format!("CREATE FEED a AS RETURN ALL FEEDS {clause}"));
        assert_eq!((create.query.access, create.query.with_articles), (access, expect), "{clause}");
        let again = created(&format!("CREATE FEED a AS {}", create.query));
        assert_eq!(again.query, create.query, "{clause}");
    }
    for bad in ["PRIVATE WITH ARTICLES", "PUBLISH WITH", "WITH ARTICLES"] {
        let text = format!("CREATE FEED a AS RETURN ALL FEEDS {bad}");
        assert!(query::parse(&text).is_err(), "{bad}");
    }
}

#[test]
fn a_statement_says_what_was_written() {
    let create = created(EVERYTHING);
    let query = &create.query;
    assert!(create.replace);
    assert_eq!((create.name.at.line, create.name.at.column), (3, 24));
    assert_eq!(query.sources.len(), 4);
    assert_eq!(query.sources[2], QuerySource::Tag("press".to_owned()));
    assert_eq!(query.reads().iter().map(|name| name.text.as_str()).collect::<Vec<_>>(), ["other"]);
    assert_eq!(query.distinct.unwrap().within, LookBack::Items(50));
    assert_eq!(query.count.unwrap().at_least, 5);
    assert_eq!(query.count.unwrap().within, Duration::from_secs(5400));
    assert_eq!(query.window, Some(LookBack::Time(Duration::from_secs(86_400))));
    assert_eq!(query.access, Access::SecretLink);
    assert_eq!(query.title.as_deref(), Some("Vulkane – alle"));
    let [webhook, file, email] = &query.deliveries[..] else { panic!("{:?}", query.deliveries) };
    assert!(matches!(webhook, Deliver::Webhook { signed_by: Some(key), .. } if key == "newsroom"));
    let day = Duration::from_secs(86_400);
    assert_eq!(*file, Deliver::File { path: "archive/volcano".to_owned(), rolling: Some(day) });
    let (to, every) = ("ann@example.org".to_owned(), day * 7);
    assert_eq!(*email, Deliver::Email { to, every, at_minute: Some(450) });
}

#[test]
fn what_is_shown_is_read_as_the_same() {
    let simple = "CREATE FEED a AS RETURN ALL FEEDS";
    let sides = r#"CREATE FEED a AS RETURN TAG "x" where TITLE contains "a" or "b"
        join FEED b | ALL FEEDS
        where not LINK = "https://e.org/" on link within 3 hours where AUTHOR = "c" window 1 day"#;
    for text in [EVERYTHING, simple, sides, "DROP FEED IF EXISTS a", "drop feed if", "DROP FEED a"]
    {
        let first = query::parse(text).unwrap().remove(0);
        let shown = first.to_string();
        let again = query::parse(&shown).unwrap().remove(0);
        assert_eq!(shown, again.to_string());
        if let (Statement::Create(a), Statement::Create(b)) = (&first, &again) {
            assert_eq!(a.query.condition, b.query.condition, "{shown}");
            let join = |query: &query::Query| {
                let join = query.join.clone()?;
                Some((join.left_condition, join.right_condition, join.on, join.within))
            };
            assert_eq!(join(&a.query), join(&b.query), "{shown}");
            assert_eq!(a.query.deliveries, b.query.deliveries);
        }
    }
}

#[test]
fn a_file_holds_several_statements() {
    let file = "CREATE FEED a AS RETURN ALL FEEDS;\n;; DROP FEED b; -- end\n";
    let statements = query::parse(file).unwrap();
    assert_eq!(statements.len(), 2);
    assert!(query::parse("").unwrap().is_empty());
    assert!(query::parse("-- nothing\n").unwrap().is_empty());
    assert!(query::parse("\u{feff}DROP FEED a").is_ok());
}

#[test]
fn reaches_come_from_the_window_or_have_a_default() {
    let reach = |text: &str| {
        let create = created(&format!("CREATE FEED a AS RETURN ALL FEEDS {text}"));
        let join = create.query.join.map(|join| join.within);
        join.or(create.query.distinct.map(|distinct| distinct.within)).unwrap()
    };
    let hours = |n: u64| LookBack::Time(Duration::from_secs(n * 3600));
    assert_eq!(reach("JOIN TAG \"x\" ON LINK"), hours(24));
    assert_eq!(reach("DISTINCT ON LINK"), hours(24 * 7));
    assert_eq!(reach("DISTINCT ON LINK WINDOW 3 HOURS"), hours(3));
    assert_eq!(reach("JOIN TAG \"x\" ON LINK WINDOW LAST 9 ITEMS"), LookBack::Items(9));
    assert_eq!(reach("DISTINCT ON LINK WITHIN 1 HOUR WINDOW 3 HOURS"), hours(1));
}

#[test]
fn keywords_are_names_where_a_name_stands() {
    let create = created("CREATE FEED feed AS RETURN FEED return | FEED all");
    assert_eq!(create.query.reads().len(), 2);
}
