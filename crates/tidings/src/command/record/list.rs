//! Reads the list of a recording: OPML, or one address a line.

use std::path::Path;

use feed::FeedUrl;
use store::NewFeed;

use crate::error::{CliError, input_error};
use crate::output::{self, complain};

/// The feeds of a list.
pub struct FeedsToRecord {
    pub feeds: Vec<NewFeed>,
}

/// Reads a list. Lines that are not addresses are named and left out.
pub fn read(file: &Path) -> Result<FeedsToRecord, CliError> {
    let shown = file.display().to_string();
    let bytes = output::read_input(file)?;
    let list = of_bytes(&bytes, &shown)?;
    if list.feeds.is_empty() {
        return Err(input_error(format!("{shown}:1:1: the list has no address of a feed")));
    }
    Ok(list)
}

fn of_bytes(bytes: &[u8], shown: &str) -> Result<FeedsToRecord, CliError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('<') {
        return of_opml(bytes, shown);
    }
    let mut feeds = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match FeedUrl::parse(line) {
            Ok(url) => feeds.push(NewFeed { url, title: None, site: None, tags: Vec::new() }),
            Err(error) => complain(&format!("{shown}:{}:1: skipped: {error}", number + 1)),
        }
    }
    Ok(FeedsToRecord { feeds })
}

fn of_opml(bytes: &[u8], shown: &str) -> Result<FeedsToRecord, CliError> {
    let list = ::parse::opml::read(bytes).map_err(|e| input_error(format!("{shown}: {e}")))?;
    for s in &list.skipped {
        complain(&format!("{shown}:{}:{}: skipped {}: {}", s.line, s.column, s.what, s.why));
    }
    let mut feeds = Vec::new();
    for outline in list.outlines {
        match FeedUrl::parse(&outline.url) {
            Ok(url) => {
                let (title, site, tags) = (outline.title, outline.site, outline.tags);
                feeds.push(NewFeed { url, title, site, tags });
            }
            Err(error) => complain(&format!("{shown}: skipped: {error}")),
        }
    }
    Ok(FeedsToRecord { feeds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_list_are_read() {
        let urls = |bytes: &[u8]| -> Vec<String> {
            let list = of_bytes(bytes, "list").map_err(|e| e.to_string()).unwrap();
            list.feeds.iter().map(|feed| feed.url.as_str().to_owned()).collect()
        };
        let lines = b"# feeds\nhttp://a.example/\n\n  b.example/feed \nnot an address\n";
        assert_eq!(urls(lines), ["http://a.example/", "https://b.example/feed"]);
        let opml = br#"<opml version="2.0"><body><outline type="rss" xmlUrl="http://a.example/"/>
            </body></opml>"#;
        assert_eq!(urls(opml), ["http://a.example/"]);
    }
}
