//! Pages in the manner of today's sites, in several languages: the text stays, and what surrounds
//! it goes.

use url::Url;

struct StyledPage {
    name: &'static str,
    html: String,
    kept: &'static [&'static str],
    gone: &'static [&'static str],
}

/// A paragraph that is long enough to be one.
fn long(sentence: &str) -> String {
    format!("<p>{0} {0} {0}</p>", sentence)
}

fn news_site() -> StyledPage {
    let text = |n: u8| {
        long(&format!(
            "Fact {n}: the council voted on Tuesday to rebuild the northern quay, which the storm \
             of last winter had broken into three parts."
        ))
    };
    let html = format!(
        "<html lang=en><head><title>Council votes for the quay | The Daily Example</title>\
         <meta property=og:title content='Council votes for the quay'>\
         <meta name=author content='Jane Roe'></head><body>\
         <div id=consent-banner class=cookie-consent><p>We value your privacy. We and our 843 \
         partners store information on a device.</p></div>\
         <header><a href=/>The Daily Example</a></header>\
         <main><article><p><a href=/local>Local</a> <a href=/local/harbour>Harbour</a></p>\
         <h1>Council votes for the quay</h1><p>By Jane Roe, Harbour Correspondent</p>\
         <div><span>5 March 2026, 14:05</span></div><p>4 min read</p>\
         <ul class=social-share><li><a href=/f>Facebook</a></li><li><a href=/x>X</a></li></ul>{}{}\
         <figure><img src=/q.jpg><figcaption>The quay after the storm. Getty Images</figcaption>\
         </figure>{}<div class=inline-newsletter><h3>Morning briefing</h3><p>All you need to know, \
         at six.</p></div><p>Advertisement</p>{}<h2 class=subheader>What it costs</h2>{}\
         <h3>Most popular</h3><ol><li><a href=/1>Ten beaches to see before the summer ends</a></li>\
         <li><a href=/2>Why the ferry is late again</a></li></ol>{}\
         <p>Jane Roe is the harbour correspondent of The Daily Example.</p>\
         <p>Follow us on <a href=/m>Mastodon</a> and <a href=/w>WhatsApp</a>.</p>\
         <p>© 2026 The Daily Example. All rights reserved.</p></article></main>\
         <footer><a href=/imprint>Imprint</a></footer></body></html>",
        text(1),
        text(2),
        text(3),
        text(4),
        text(5),
        text(6)
    );
    StyledPage {
        name: "a news site",
        html,
        kept: &["Fact 1", "Fact 2", "Fact 3", "Fact 4", "Fact 5", "Fact 6", "What it costs"],
        gone: &[
            "privacy",
            "Council votes for the quay",
            "By Jane Roe",
            "14:05",
            "min read",
            "Facebook",
            "The quay after",
            "briefing",
            "at six",
            "Advertisement",
            "Most popular",
            "beaches",
            "ferry",
            "is the harbour correspondent",
            "Follow us",
            "rights reserved",
            "Imprint",
        ],
    }
}

fn german_blog() -> StyledPage {
    let text = |n: u8| {
        long(&format!(
            "Gedanke {n}: Wer im Herbst einen Apfelbaum pflanzt, sollte vorher den Boden lockern \
             und ihn danach einen Winter lang in Ruhe lassen."
        ))
    };
    let html = format!(
        "<html lang=de><head><title>Apfelbäume im Herbst – Gartenblog</title></head><body>\
         <div id=content class=entry><h1 class=entry-title>Apfelbäume im Herbst</h1>\
         <div class=entry-meta>Veröffentlicht am 3. Oktober 2025 von Max Muster</div>\
         <div class=entry-content><div class=toc><p>Inhalt</p><ul><li><a href=#a>Der Boden</a></li>\
         <li><a href=#b>Der Winter</a></li></ul></div>{}<h2 id=a>Der Boden</h2>{}\
         <p><strong>Lesen Sie auch: <a href=/2>Birnen richtig lagern</a></strong></p>{}\
         <h2 id=b>Der Winter</h2>{}<blockquote><p>Ein Baum ist ein Versprechen.</p></blockquote>{}\
         <p>Abonniere unseren Newsletter, wenn dir der Beitrag gefallen hat.</p>\
         <h3>Das könnte dich auch interessieren</h3><div><a href=/3>Zehn Rezepte mit Quitten</a>\
         <p>So wird aus der harten Frucht ein feines Gelee.</p></div>\
         <div><a href=/4>Laub rechen oder liegen lassen</a></div></div>\
         <section id=comments class=comments-area><h3>2 Kommentare</h3><p>Eva sagt: Danke für den \
         Beitrag, bei uns hat es geklappt!</p></section></div></body></html>",
        text(1),
        text(2),
        text(3),
        text(4),
        text(5)
    );
    StyledPage {
        name: "a German blog",
        html,
        kept: &[
            "Gedanke 1",
            "Gedanke 2",
            "Gedanke 3",
            "Gedanke 4",
            "Gedanke 5",
            "Der Boden",
            "Der Winter",
            "ein Versprechen",
        ],
        gone: &[
            "Veröffentlicht",
            "Lesen Sie auch",
            "Birnen",
            "Newsletter",
            "Quitten",
            "Gelee",
            "Laub",
            "Kommentare",
            "Eva sagt",
            "Inhalt",
        ],
    }
}

fn documentation() -> StyledPage {
    let html = format!(
        "<html lang=en><head><title>Install - Example docs</title></head><body>\
         <nav class=sidebar><ul><li><a href=/a>Guide</a></li><li><a href=/b>API</a></li></ul></nav>\
         <main><div class=breadcrumbs><a href=/>Docs</a> / <a href=/g>Guide</a></div>\
         <article><h1>Install</h1><p>On this page</p><ul><li><a href=#linux>Linux</a></li>\
         <li><a href=#mac>macOS</a></li></ul>{}<h2 id=linux>Linux</h2>{}\
         <pre><code>apt install example\nexample --version</code></pre><h2 id=mac>macOS</h2>{}\
         <table><tr><th>key</th><th>meaning</th></tr><tr><td>port</td><td>where it listens</td>\
         </tr></table><p>Read <a href=/c>the reference of all keys</a> before you go on, because \
         some of them cannot be changed later.</p><p>Was this page helpful? <a href=/y>Yes</a> \
         <a href=/n>No</a></p></article><div class=pagination-nav><a href=/next>Next: Configure</a>\
         </div></main></body></html>",
        long(
            "Step 1 explains what you need before you begin, and how long it takes on a slow line."
        ),
        long("Step 2 shows how the package is installed from the archive of the distribution."),
        long("Step 3 shows the same for the other system, where a disk image has to be opened."),
    );
    StyledPage {
        name: "documentation",
        html,
        kept: &[
            "Step 1",
            "Step 2",
            "Step 3",
            "apt install example",
            "where it listens",
            "reference of all keys",
        ],
        gone: &["On this page", "Was this page helpful", "Next: Configure", "Docs /"],
    }
}

fn spanish_news() -> StyledPage {
    let text = |n: u8| {
        long(&format!(
            "Dato {n}: el ayuntamiento aprobó el martes la reconstrucción del muelle, que la \
             tormenta del invierno pasado había partido en tres."
        ))
    };
    let html = format!(
        "<html lang=es><head><title>El muelle se reconstruye</title></head><body><article>\
         <header><h1>El muelle se reconstruye</h1><p>Por Ana García</p><p>5 de marzo de 2026 a las \
         08:15</p></header>{}{}<p><b>Lee también: <a href=/a>La otra tormenta</a></b></p>{}\
         <div class=wp-caption><img src=m.jpg><p class=wp-caption-text>El muelle roto, ayer.</p>\
         </div>{}<p>Suscríbete a nuestro boletín y recibe las noticias cada mañana.</p>{}\
         <h4>Te puede interesar</h4><p><a href=/b>Diez playas para este verano</a></p>\
         <p>Etiquetas: <a href=/t1>puerto</a> <a href=/t2>obras</a></p></article></body></html>",
        text(1),
        text(2),
        text(3),
        text(4),
        text(5)
    );
    StyledPage {
        name: "a Spanish newspaper",
        html,
        kept: &["Dato 1", "Dato 2", "Dato 3", "Dato 4", "Dato 5"],
        gone: &[
            "Por Ana",
            "08:15",
            "Lee también",
            "La otra",
            "muelle roto",
            "Suscríbete",
            "Te puede interesar",
            "playas",
            "Etiquetas",
        ],
    }
}

fn other_scripts() -> [StyledPage; 3] {
    let russian = long(
        "Городской совет во вторник решил восстановить причал, который шторм \
        прошлой зимой разбил на три части, и назвал срок работ.",
    );
    let arabic = long(
        "قرر مجلس المدينة يوم الثلاثاء إعادة بناء الرصيف الذي كسرته العاصفة في الشتاء \
        الماضي إلى ثلاثة أجزاء، وحدد موعد الأعمال.",
    );
    let chinese = long(
        "市议会周二决定重建去年冬天被暴风雨打成三段的码头，并公布了工程的期限和费用，居民表示欢迎。",
    );
    let page = |lang: &str, title: &str, body: String| {
        format!(
            "<html lang={lang}><head><title>{title}</title></head><body><div><article>\
             <h1>{title}</h1>{body}</article></div></body></html>"
        )
    };
    let between =
        |text: &str, inside: &str, after: &str| format!("{text}{text}{inside}{text}{after}");
    [
        StyledPage {
            name: "Russian",
            html: page(
                "ru",
                "Причал построят заново",
                between(
                    &russian,
                    "<p>Читайте также: <a href=/a>Другой шторм</a></p>",
                    "<p>Подписывайтесь на наш канал в <a href=/t>Telegram</a>!</p>\
                 <h3>Материалы по теме</h3><p><a href=/b>Десять пляжей</a></p>",
                ),
            ),
            kept: &["Городской совет"],
            gone: &["Читайте также", "Подписывайтесь", "Материалы", "пляжей", "построят заново"],
        },
        StyledPage {
            name: "Arabic",
            html: page(
                "ar",
                "إعادة بناء الرصيف",
                between(
                    &arabic,
                    "<p>اقرأ أيضا: <a href=/a>عاصفة أخرى</a></p>",
                    "<p>تابعونا على <a href=/f>فيسبوك</a></p><h3>مقالات ذات صلة</h3>\
                 <ul><li><a href=/b>عشرة شواطئ</a></li></ul>",
                ),
            ),
            kept: &["قرر مجلس المدينة"],
            gone: &["اقرأ أيضا", "تابعونا", "مقالات ذات صلة", "شواطئ"],
        },
        StyledPage {
            name: "Chinese",
            html: page(
                "zh",
                "码头将重建",
                between(
                    &chinese,
                    "<p>相关阅读：<a href=/a>另一场暴风雨</a></p>",
                    "<p>扫码关注我们的微信公众号</p><h3>推荐阅读</h3><ul><li><a href=/b>十个海滩</a></li></ul>\
                 <p>责任编辑：王小明</p>",
                ),
            ),
            kept: &["市议会周二决定"],
            gone: &["相关阅读", "扫码", "推荐阅读", "海滩", "责任编辑"],
        },
    ]
}

#[test]
fn the_text_stays_and_its_surroundings_go() {
    let url = Url::parse("https://news.example/local/quay").unwrap();
    let mut pages = vec![news_site(), german_blog(), documentation(), spanish_news()];
    pages.extend(other_scripts());
    let mut faults = Vec::new();
    for page in pages {
        let found = article::extract(page.html.as_bytes(), Some("text/html"), Some(&url), None);
        let text = found.unwrap_or_else(|why| panic!("{}: {why}", page.name)).text;
        let missing = page.kept.iter().filter(|words| !text.contains(**words));
        faults.extend(missing.map(|words| format!("{} lost {words:?}", page.name)));
        let left = page.gone.iter().filter(|words| text.contains(**words));
        faults.extend(left.map(|words| format!("{} has {words:?}", page.name)));
    }
    assert_eq!(faults, Vec::<String>::new());
}

/// Words that look like those around articles, in articles.
#[test]
fn sentences_about_such_things_stay() {
    let url = Url::parse("https://news.example/a").unwrap();
    let prose =
        long("The town by the sea has had a harbour since the middle ages, and it is proud.");
    for sentence in [
        "When you sign up for Facebook, it asks for the names of all your friends.",
        "Doctors follow the virus on its way through the body of the patient.",
        "Following the storm, the newsletter of the parish was printed by hand.",
        "By Friday the water had reached the upper floor of the old library.",
        "It was 14:05 on 5 March 2026 when the first stone fell into the water.",
        "Copyright law was written for printers, not for towns.",
        "The related work of the engineers is described in the next chapter.",
        "Credit is hard to get for a town that has no harbour.",
        "“We will rebuild it,” the mayor told Reuters.",
        "Powered by a small engine, the boat crossed the harbour in an hour.",
        "(c) the town keeps the right to close the quay in winter.",
    ] {
        let html = format!(
            "<title>The harbour</title><article>{prose}{prose}<p>{sentence}</p>{prose}</article>"
        );
        let found = article::extract(html.as_bytes(), None, Some(&url), None).unwrap();
        assert!(found.text.contains(sentence), "{sentence}");
    }
}

#[test]
fn captions_are_in_the_html_only_unless_they_are_the_article() {
    let prose =
        long("The town by the sea has had a harbour since the middle ages, and it is proud.");
    let figure = |n: u8| {
        format!(
            "<figure><img src=/{n}.jpg><figcaption>Picture {n} shows the old quay, the new quay \
             and the people who built both of them.</figcaption></figure>"
        )
    };
    let read = |html: String| {
        let url = Url::parse("https://news.example/a").unwrap();
        article::extract(html.as_bytes(), None, Some(&url), None).unwrap()
    };
    let article = read(format!("<article>{prose}{}{prose}{prose}</article>", figure(1)));
    assert!(!article.text.contains("Picture 1"), "{}", article.text);
    assert!(article.html.contains("Picture 1"), "{}", article.html);
    let figures: String = (1..9).map(figure).collect();
    let gallery = read(format!("<article>{prose}{figures}</article>"));
    assert!(gallery.text.contains("Picture 8"), "{}", gallery.text);
}
