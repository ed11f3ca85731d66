//! The parsed form of each construct of the formats, one fact in each test.

use parse::{Document, Format, Limits, document};
use std::time::Duration;

#[track_caller]
fn read(text: &str) -> Document {
    document(text.as_bytes(), None, None, &Limits::default()).unwrap()
}

#[track_caller]
fn item(inner: &str) -> feed::Item {
    let mut doc =
        read(&format!("<rss version='2.0'><channel><item>{inner}</item></channel></rss>"));
    assert_eq!(doc.items.len(), 1, "{doc:?}");
    doc.items.remove(0)
}

#[track_caller]
fn entry(inner: &str) -> feed::Item {
    let text = format!("<feed xmlns='http://www.w3.org/2005/Atom'><entry>{inner}</entry></feed>");
    read(&text).items.remove(0)
}

#[test]
fn hints_are_read_and_nonsense_is_warned_of() {
    let doc = read(
        "<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel>
         <ttl>30</ttl><skipHours><hour>24</hour><hour>3</hour><hour>99</hour></skipHours>
         <skipDays><day>Sunday</day><day>Monday</day></skipDays>
         <sy:updatePeriod> hourly </sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>
         </channel></rss>",
    );
    assert_eq!(doc.hints.ttl, Some(Duration::from_secs(1800)));
    assert_eq!(doc.hints.skip_hours, [0, 3]);
    assert_eq!(doc.hints.skip_days, [0, 6]);
    assert_eq!(doc.hints.update_every, Some(Duration::from_secs(900)));
    assert!(doc.warnings.iter().any(|w| w.contains("hint")), "{:?}", doc.warnings);
}

#[test]
fn the_update_base_is_read_and_nonsense_is_warned_of() {
    let of = |base: &str| {
        read(&format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'
             xmlns='http://purl.org/rss/1.0/'
             xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel>
             <sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>{base}</sy:updateBase>
             </channel></rdf:RDF>"
        ))
    };
    let doc = of("2000-01-01T12:00+01:00");
    assert_eq!(doc.hints.update_base, Some("2000-01-01T11:00:00Z".parse().unwrap()));
    assert_eq!(doc.hints.update_every, Some(Duration::from_secs(86_400)));
    let doc = of("noon");
    assert_eq!(doc.hints.update_base, None);
    assert!(doc.warnings.iter().any(|w| w.contains("hint")), "{:?}", doc.warnings);
}

#[test]
fn the_feed_has_categories_apart_from_its_items() {
    let doc = read(
        "<rss version='2.0' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'
         xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>t</title>
         <category domain='x'>News</category><category>News</category><dc:subject>Arts</dc:subject>
         <itunes:category text='Technology'><itunes:category text='Tools'/></itunes:category>
         <itunes:keywords>a, b,</itunes:keywords><image><category>no</category></image>
         <item><category>Own</category></item><category>Late</category></channel></rss>",
    );
    assert_eq!(doc.categories, ["News", "Arts", "Technology", "Tools", "a", "b", "Late"]);
    assert_eq!(doc.items[0].categories, ["Own"]);
    let doc = read(
        "<feed xmlns='http://www.w3.org/2005/Atom'><category term='t' label='l'/>
         <entry><category term='own'/></entry></feed>",
    );
    assert_eq!(doc.categories, ["t"]);
    let many: String = (0..600).map(|n| format!("<category>{n}</category>")).collect();
    let doc = read(&format!("<rss version='2.0'><channel>{many}</channel></rss>"));
    assert_eq!(doc.categories.len(), Limits::default().list_max);
}

#[test]
fn an_item_declares_its_own_language() {
    let doc = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='en'><entry xml:lang='de_AT'>
         <title xml:lang='fr'>t</title></entry><entry><title>t</title></entry>
         <entry><title xml:lang='fr'>t</title><content xml:lang='it'>c</content></entry>
         <entry xml:lang='not a language'/></feed>",
    );
    let languages: Vec<_> = doc.items.iter().map(|item| item.language.as_deref()).collect();
    assert_eq!(doc.language.as_deref(), Some("en"));
    assert_eq!(languages, [Some("de-AT"), None, Some("it"), None]);
    let dc = item("<dc:language xmlns:dc='http://purl.org/dc/elements/1.1/'>pt</dc:language>");
    assert_eq!(dc.language.as_deref(), Some("pt"));
    let json = r#"{"version":"https://jsonfeed.org/version/1.1","language":"en","items":[
        {"id":"1","language":"ja"},{"id":"2","language":7}]}"#;
    let languages: Vec<_> = read(json).items.into_iter().map(|item| item.language).collect();
    assert_eq!(languages, [Some("ja".to_owned()), None]);
}

#[test]
fn the_feed_names_itself_and_its_hubs_in_rss_too() {
    let doc = read(
        "<rss version='2.0' xmlns:a='http://www.w3.org/2005/Atom'><channel>
         <a:link rel='self' href='http://e.org/f'/><a:link rel='hub' href='http://hub/'/>
         <link>http://e.org/</link></channel></rss>",
    );
    assert_eq!(doc.self_link.as_deref(), Some("http://e.org/f"));
    assert_eq!(doc.hubs, ["http://hub/"]);
    assert_eq!(doc.link.as_deref(), Some("http://e.org/"));
}

#[test]
fn the_feeds_own_icon_is_the_smallest_that_it_names() {
    let itunes = "xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'";
    let cover = "<itunes:image href='http://e.org/cover.jpg'/>";
    let image = "<image><url> http://e.org/i.png </url><title>Image</title>\
                 <link>http://e.org/image</link></image>";
    let rss = |inner: &str| {
        read(&format!(
            "<rss version='2.0' {itunes}><channel>{inner}<title>Feed</title>\
             <link>http://e.org/</link><item>{image}{cover}<title>t</title></item></channel></rss>"
        ))
    };
    let both = rss(&format!("{cover}{image}"));
    assert_eq!(both.icon.as_deref(), Some("http://e.org/i.png"));
    assert_eq!(both.title.as_deref(), Some("Feed"), "the title of the image is not the feed's");
    assert_eq!(both.link.as_deref(), Some("http://e.org/"));
    assert_eq!(both.items[0].title.as_deref(), Some("t"));
    assert_eq!(rss(cover).icon.as_deref(), Some("http://e.org/cover.jpg"));
    assert_eq!(rss("").icon, None, "pictures of items are not the feed's");
    let atom = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://e.org/a/'><logo>l.png</logo>\
         <icon>/i.ico</icon><entry><id>1</id><source><id>s</id><icon>/s.ico</icon></source>\
         </entry></feed>",
    );
    assert_eq!(atom.icon.as_deref(), Some("http://e.org/i.ico"));
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "t",
        "icon": "http://e.org/512.png", "favicon": "http://e.org/64.png", "items": []}"#;
    assert_eq!(read(json).icon.as_deref(), Some("http://e.org/64.png"));
}

#[test]
fn rss_cloud_is_read_and_other_protocols_are_warned_of() {
    let doc = read(
        "<rss version='2.0'><channel><cloud domain='rpc.e.org' port='5337' path='/pleaseNotify'
         registerProcedure='' protocol='http-post'/><cloud domain=''/>
         <item><title>t</title><cloud domain='in.an.item'/></item></channel></rss>",
    );
    assert_eq!(doc.cloud.as_deref(), Some("rpc.e.org:5337/pleaseNotify (http-post)"));
    assert_eq!(doc.warnings, Vec::<String>::new());
    let doc = read(
        "<rss version='2.0'><channel><cloud domain='rpc.e.org' port='80' path='/RPC2'
         registerProcedure='rssPleaseNotify' protocol='xml-rpc'/></channel></rss>",
    );
    assert_eq!(doc.cloud.as_deref(), Some("rpc.e.org:80/RPC2 (xml-rpc)"));
    assert!(doc.warnings[0].contains("rssCloud"), "{:?}", doc.warnings);
}

#[test]
fn a_permalink_stands_in_for_a_missing_link_and_other_ids_do_not() {
    assert_eq!(item("<guid>http://e.org/1</guid>").link.as_deref(), Some("http://e.org/1"));
    assert_eq!(item("<guid isPermaLink='false'>http://e.org/1</guid>").link, None);
    assert_eq!(item("<guid>abc</guid>").link, None);
    let both = item("<guid>http://e.org/1</guid><link>http://e.org/2</link>");
    assert_eq!(both.link.as_deref(), Some("http://e.org/2"));
}

#[test]
fn the_better_claim_counts_in_whatever_order_it_comes() {
    let a = item("<dc:title>dc</dc:title><title>own</title><media:title>m</media:title>");
    assert_eq!(a.title.as_deref(), Some("own"));
    let b = item("<author>a@e.org</author><dc:creator>A</dc:creator><dc:creator>B</dc:creator>");
    assert_eq!(b.author.as_deref(), Some("A, B"));
    let c = item("<itunes:summary>i</itunes:summary><description>d</description>");
    assert_eq!(c.summary.as_deref(), Some("d"));
    let d = item("<description>d</description><content:encoded>&lt;p&gt;c</content:encoded>");
    assert_eq!((d.summary.as_deref(), d.content.as_deref()), (Some("d"), Some("<p>c")));
    let e = item(
        "<link>http://feedproxy/x</link><feedburner:origLink>http://e.org/x</feedburner:origLink>",
    );
    assert_eq!(e.link.as_deref(), Some("http://e.org/x"));
}

#[test]
fn dates_are_claims_and_absent_ones_stay_absent() {
    let date = |text: &str| Some(text.parse::<feed::Time>().unwrap());
    let a = item("<dc:date>2003-12-31T10:14:55Z</dc:date>");
    assert_eq!(a.published, date("2003-12-31T10:14:55Z"));
    let b = entry("<updated>2003-12-31T10:14:55Z</updated>");
    assert_eq!((b.published, b.updated), (None, date("2003-12-31T10:14:55Z")));
    let doc = read("<rss><channel><item><pubDate>soon</pubDate></item></channel></rss>");
    assert_eq!(doc.items[0].published, None);
    assert!(doc.warnings[0].contains("`soon`"), "{:?}", doc.warnings);
}

#[test]
fn files_become_enclosures_once() {
    let a = item(
        "<enclosure url='http://e.org/a.mp3' type='audio/mpeg' length='5'/>
         <media:group><media:content url='http://e.org/a.mp3' fileSize='7'/>
         <media:content url='http://e.org/b.mp4' type='video/mp4'/></media:group>
         <enclosure url=''/>",
    );
    let shown: Vec<_> =
        a.enclosures.iter().map(|e| (e.url.as_str(), e.mime_type.as_deref(), e.length)).collect();
    assert_eq!(
        shown,
        [
            ("http://e.org/a.mp3", Some("audio/mpeg"), Some(5)),
            ("http://e.org/b.mp4", Some("video/mp4"), None)
        ]
    );
    let b = entry("<link rel='enclosure' href='x.ogg' type='audio/ogg' length='9'/>");
    assert_eq!((b.enclosures[0].url.as_str(), b.enclosures[0].length), ("x.ogg", Some(9)));
}

#[test]
fn atom_text_is_taken_as_its_type_says() {
    assert_eq!(entry("<title>a &lt;b> c</title>").title.as_deref(), Some("a <b> c"));
    assert_eq!(
        entry("<title type='html'>a &lt;b>c&lt;/b></title>").title.as_deref(),
        Some("a <b>c</b>")
    );
    let xhtml = "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>\
                 a &lt; <i>b</i><br/></div></title>";
    assert_eq!(entry(xhtml).title.as_deref(), Some("a &lt; <i>b</i><br />"));
    let prefixed = "<content type='xhtml' xmlns:x='http://www.w3.org/1999/xhtml'>\
                    <x:div><x:p>a</x:p></x:div></content>";
    assert_eq!(entry(prefixed).content.as_deref(), Some("<p>a</p>"));
    let person =
        "<author><name>A</name><uri>http://e.org</uri></author><author><name>B</name></author>";
    assert_eq!(entry(person).author.as_deref(), Some("A, B"));
    assert_eq!(entry("<source><title>s</title><id>i</id></source>").title, None);
}

#[test]
fn relative_links_follow_the_nearest_base() {
    let text = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.org/x/'>
        <entry xml:base='y/'><link href='z'/><content type='html'>&lt;img src='p'></content></entry>
        <entry><link href='/z'/></entry></feed>";
    let doc = read(text);
    assert_eq!(doc.items[0].link.as_deref(), Some("http://a.org/x/y/z"));
    assert_eq!(doc.items[0].content.as_deref(), Some("<img src='http://a.org/x/y/p'>"));
    assert_eq!(doc.items[1].link.as_deref(), Some("http://a.org/z"));
}

#[test]
fn broken_markup_is_repaired_and_said() {
    let doc = read(
        "\n\n junk <?xml version='1.0'?><rss version=2.0><channel>
         <title>R&D &nbsp; &foo;\u{1}</title>
         <item><title>one<link>http://e.org/1</link><guid isPermaLink=false>1</guid>
         <item><title>two < three</title><description><p>x<br>y</description></item>
         </channel>",
    );
    assert_eq!(doc.title.as_deref(), Some("R&D \u{a0} &foo;"));
    let titles: Vec<_> = doc.items.iter().map(|i| i.title.as_deref()).collect();
    assert_eq!(titles, [Some("one"), Some("two < three")]);
    assert_eq!(doc.items[0].link.as_deref(), Some("http://e.org/1"));
    assert_eq!(doc.items[1].summary.as_deref(), Some("<p>x<br />y</p>"));
    let said = doc.warnings.join("\n");
    for fault in [
        "text before",
        "`&` that does not begin",
        "undefined entity, left as written (`&foo;`)",
        "XML forbids",
        "missing end",
        "does not open a tag",
        "is cut off",
    ] {
        assert!(said.contains(fault), "{fault} is not in:\n{said}");
    }
}

#[test]
fn a_cut_document_keeps_whole_items_and_those_whose_id_is_known() {
    let whole = "<rss><channel><item><guid>1</guid></item><item><guid>2</guid><title>cu";
    assert_eq!(read(whole).items.len(), 2);
    assert!(read(whole).is_cut_off);
    let between = "<rss><channel><item><guid>1</guid></item>";
    assert!(!read(between).is_cut_off, "some software never writes the last end tags");
    let before_id = "<rss><channel><item><guid>1</guid></item><item><title>cut</title><link>http";
    assert_eq!(read(before_id).items.len(), 1);
    assert!(read(before_id).is_cut_off);
}

#[test]
fn an_error_message_before_the_feed_is_skipped() {
    let doc = read(
        "<br />\n<b>Warning</b>: x in <b>y.php</b><br /><?xml version='1.0'?>\
         <rss version='2.0'><channel><title>t</title></channel></rss>",
    );
    assert_eq!(doc.title.as_deref(), Some("t"));
    assert_eq!(doc.warnings.len(), 1, "{:?}", doc.warnings);
}

#[test]
fn what_follows_a_div_around_text_keeps_its_end_tags() {
    let doc = read(
        "<rss><channel><item><description><div>one</div><b>two</b> three</description></item>\
         </channel></rss>",
    );
    assert_eq!(doc.items[0].summary.as_deref(), Some("one<b>two</b> three"));
}

#[test]
fn markup_that_is_never_closed_costs_no_other_item() {
    let text = |markup: &str, end: &str| {
        let open = markup.repeat(300);
        let item = |n| format!("<item><guid>{n}</guid><description>{open}x{end}");
        format!("<rss><channel>{}{}{}</channel></rss>", item(1), item(2), item(3))
    };
    let ids = |text: &str| {
        let items = read(text).items.into_iter();
        items.filter_map(|item| item.id).collect::<Vec<_>>()
    };
    let expect = ["1", "2", "3"];
    assert_eq!(ids(&text("<br>", "</description></item>")), expect, "HTML has no </br>");
    assert_eq!(ids(&text("<p>y", "</description></item>")), expect);
    assert_eq!(ids(&text("<p>y", "</item>")), expect);
    assert_eq!(ids(&text("<p>y", "")), expect, "a new item ends the one before");
    let foreign = "<item><x:y>".to_owned() + &"<p>".repeat(300) + "</x:y><guid>1</guid></item>";
    assert_eq!(ids(&format!("<rss><channel>{foreign}<item><guid>2</guid></item>")), ["1", "2"]);
}

#[test]
fn line_breaks_of_html_are_no_depth() {
    let breaks = "a<br>".repeat(300);
    let doc = read(&format!(
        "<rss><channel><item><description>{breaks}<i>b</i></br></description></item>\
         </channel></rss>"
    ));
    let summary = doc.items[0].summary.clone().unwrap();
    assert!(summary.ends_with("a<br /><i>b</i>"), "{}", &summary[summary.len() - 40..]);
    assert_eq!(doc.warnings, Vec::<String>::new());
}

#[test]
fn entities_of_a_dtd_are_not_expanded() {
    let doc = read(
        "<!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>
         <!ENTITY f SYSTEM 'file:///etc/passwd'>]>
         <rss><channel><title>&b;&f;</title></channel></rss>",
    );
    assert_eq!(doc.title.as_deref(), Some("&b;&f;"));
}

#[test]
fn limits_cut_with_a_warning() {
    let limits = Limits { items_max: 2, depth_max: 5, field_bytes_max: 4, list_max: 1 };
    let text = "<rss><channel><item><title>éééé</title><category>a</category>
        <category>b</category></item><item><description><a><b><c>x</c></b></a></description></item>
        <item/><item/>
        </channel></rss>";
    let doc = document(text.as_bytes(), None, None, &limits).unwrap();
    assert_eq!(doc.items.len(), 2);
    assert_eq!(doc.items[0].title.as_deref(), Some("éé"));
    assert_eq!(doc.items[0].categories, ["a"]);
    let said = doc.warnings.join("\n");
    for limit in ["longer than the limit", "deeper than the limit", "beyond the limit"] {
        assert!(said.contains(limit), "{said}");
    }
}

#[test]
fn formats_are_told_by_root_and_namespace() {
    for (text, format) in [
        ("<rss version='2.0'/>", Format::Rss20),
        ("<rss/>", Format::Rss20),
        ("<rss version='0.91'/>", Format::Rss09x),
        ("<rdf:RDF xmlns='http://purl.org/rss/1.0/'/>", Format::Rss10),
        ("<rdf:RDF xmlns='http://my.netscape.com/rdf/simple/0.9/'/>", Format::Rss09x),
        ("<feed xmlns='http://www.w3.org/2005/Atom'/>", Format::Atom10),
        ("<a:feed xmlns:a='http://www.w3.org/2005/Atom'/>", Format::Atom10),
        ("<feed version='0.3' xmlns='http://purl.org/atom/ns#'/>", Format::Atom03),
        ("{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[]}", Format::JsonFeed1),
    ] {
        assert_eq!(read(text).format, format, "{text}");
    }
}

#[test]
fn json_feed_items_survive_values_of_wrong_types() {
    let doc = read(
        r#"{"version":"https://jsonfeed.org/version/1","title":7,"home_page_url":"http://e.org",
        "items":[{"id":5,"title":null,"content_text":"a < b","tags":["x",1,"x"],
        "author":{"name":"A"},"attachments":[{"mime_type":"a/b"},
        {"url":"http://e.org/f","size_in_bytes":3}]},
        "nonsense",
        {"id":"6","date_published":"2003-12-31T10:14:55Z","external_url":"http://o.org"}]}"#,
    );
    assert_eq!((doc.title.as_deref(), doc.items.len()), (None, 2));
    let first = &doc.items[0];
    assert_eq!((first.id.as_deref(), first.author.as_deref()), (Some("5"), Some("A")));
    assert_eq!((first.content.as_deref(), first.enclosures.len()), (Some("a < b"), 1));
    assert_eq!(first.categories, ["x"]);
    assert_eq!(doc.items[1].link.as_deref(), Some("http://o.org"));
    assert_eq!((doc.items[1].published.is_some(), doc.warnings.len()), (true, 1));
}
