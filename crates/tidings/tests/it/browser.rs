//! The page in a real browser, with scripts and without: every place and every act that people
//! reach, no serious fault of accessibility, nothing loaded from elsewhere.

mod chromium;
mod scripted;
mod unscripted;
mod viewed;

use std::process::Stdio;

use chromium::Browser;

use crate::documents::rss;
use crate::program::{Daemon, Instance, finish};
use crate::publisher::Publisher;
use crate::wire::Response;

/// A site with feeds, an instance that may poll it, and somebody who looks at its page.
struct Stage {
    publisher: Publisher,
    instance: Instance,
    daemon: Daemon,
    browser: Browser,
}

fn stage() -> Stage {
    let publisher = Publisher::start(1);
    publisher.set("/a.xml", rss("a", 4));
    publisher.set("/b.xml", rss("b", 2));
    let links = "<html><head><title>A site</title>\
        <link rel=alternate type='application/rss+xml' title=A href=/a.xml>\
        <link rel=alternate type='application/rss+xml' title=B href=/b.xml></head>\
        <body>Hello</body></html>";
    let page = Response::new(200).with("content-type", "text/html").body(links);
    publisher.set_answer("/site", page);
    let instance = Instance::new();
    // Gaps would only be waited for.
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    let browser = Browser::start(daemon.listen);
    Stage { publisher, instance, daemon, browser }
}

impl Stage {
    /// The same with a feed of four entries in it.
    fn with_feed() -> Stage {
        let stage = stage();
        let url = stage.publisher.url("/a.xml");
        stage.instance.run(&["feed", "add", &url, "--tag", "news"]).ok();
        stage
    }

    fn account(&self, name: &str, password: &str) {
        let file = self.instance.write("password", format!("{password}\n"));
        let mut command = self.instance.command(&["user", "add", name, "--password-stdin"]);
        command.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
        finish(command, "tidings user add").ok();
    }
}

/// How a script finds an entry's line by its title.
fn line(title: &str) -> String {
    let title = serde_json::json!(title);
    format!(
        "[...document.querySelectorAll('#lines > li')].find(l => l.innerText.includes({title}))"
    )
}
