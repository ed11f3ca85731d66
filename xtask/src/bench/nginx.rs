//! The server that all programs load from: nginx with files that have ETag and Last-Modified.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub const ITEMS_PER_FEED: usize = 10;
/// Tidings sends one request at a time to each domain. With several addresses the comparison is not
/// limited to a single connection.
const ADDRESSES: usize = 8;

/// A running nginx with its log. It ends when it is dropped.
pub struct Nginx {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Nginx {
    /// Writes `n_feeds` documents and serves them. Any path below `/idle/` answers with a document
    /// of one item.
    pub fn start(place: &Path, n_feeds: usize) -> Result<Nginx> {
        let pages = place.join("pages");
        fs::create_dir_all(&pages)?;
        for feed in 0..n_feeds {
            fs::write(pages.join(format!("{feed}.xml")), document(feed))?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = place.join("access.log");
        let settings = place.join("nginx.conf");
        fs::write(&settings, configuration(place, &pages, &log, port))?;
        let child = Command::new(executable())
            .arg("-c")
            .arg(&settings)
            .args(["-g", "daemon off;"])
            .stdin(Stdio::null())
            .spawn()
            .context("starting nginx")?;
        let mut nginx = Nginx { child, port, log };
        nginx.wait_until_it_answers()?;
        Ok(nginx)
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        for _ in 0..500 {
            if let Some(status) = self.child.try_wait()? {
                bail!("nginx ended with {status} before it served anything");
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("nginx does not answer on port {}", self.port)
    }

    pub fn url(&self, number: usize, path: &str) -> String {
        format!("http://127.0.0.{}:{}/{path}", 1 + number % ADDRESSES, self.port)
    }

    pub fn feeds(&self, n_feeds: usize) -> Vec<String> {
        (0..n_feeds).map(|feed| self.url(feed, &format!("{feed}.xml"))).collect()
    }

    /// Clears the log.
    pub fn reset_log(&self) -> Result<()> {
        fs::File::create(&self.log)?;
        Ok(())
    }

    /// Returns the number of requests by status since the last reset.
    pub fn statuses(&self) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for status in fs::read_to_string(&self.log)?.lines() {
            *counts.entry(status.to_owned()).or_default() += 1;
        }
        Ok(counts)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master passes a normal shutdown on to its workers; a kill would orphan them.
        let line = format!("kill -QUIT {}", self.child.id());
        let _ = Command::new("sh").args(["-c", &line]).status();
        let _ = self.child.wait();
    }
}

fn executable() -> PathBuf {
    let debian = PathBuf::from("/usr/sbin/nginx");
    if debian.exists() { debian } else { PathBuf::from("nginx") }
}

fn configuration(place: &Path, pages: &Path, log: &Path, port: u16) -> String {
    let mut listen = String::new();
    for address in 1..=ADDRESSES {
        let _ = writeln!(listen, "    listen 127.0.0.{address}:{port};");
    }
    let idle = "<rss version=\\\"2.0\\\"><channel><title>Idle</title><item><title>One</title>\
                <guid>1</guid></item></channel></rss>";
    let (place, pages, log) = (place.display(), pages.display(), log.display());
    format!(
        "user root;\nworker_processes 1;\npid {place}/nginx.pid;\nerror_log {place}/error.log;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n  log_format status '$status';\n  access_log {log} status;\n\
         \x20 types {{ application/rss+xml xml; }}\n  keepalive_requests 100000;\n\
         \x20 server {{\n{listen}    root {pages};\n\
         \x20   location /idle/ {{ default_type application/rss+xml; return 200 \"{idle}\"; }}\n\
         \x20 }}\n}}\n"
    )
}

/// Returns RSS 2.0 with ten items and 3.9 KB, like a usual blog.
fn document(feed: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(4096);
    let _ = write!(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>Feed {feed}</title><link>http://example.org/{feed}/</link>\
         <description>A feed of the comparison</description>\n"
    );
    for item in 0..ITEMS_PER_FEED {
        let day = 1 + item;
        let _ = writeln!(
            text,
            "<item><title>Entry {item} of feed {feed}</title>\
             <link>http://example.org/{feed}/entries/{item}.html</link>\
             <guid isPermaLink=\"false\">tag:example.org,2024:{feed}/{item}</guid>\
             <pubDate>Mon, {day:02} Jan 2024 12:00:00 GMT</pubDate>\
             <description>A summary of some length, as most publishers write it: two lines of text \
             with a &lt;b&gt;little&lt;/b&gt; markup, so that there is something to read and to \
             keep.</description></item>"
        );
    }
    text.extend_from_slice(b"</channel></rss>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_the_size_that_the_comparison_names() {
        let size = document(999).len();
        assert!((3700..4200).contains(&size), "{size} bytes");
    }
}
