//! `tidings parse`: shows one document as the parser reads it.

use std::path::Path;

use parse::{Document, Limits};
use serde_json::{Value, json};
use url::Url;

use crate::error::{CliError, failed, input_error};
use crate::output::{self, print_json, print_line, tamed};

pub fn run(
    file: &Path,
    content_type: Option<&str>,
    url: Option<&str>,
    json: bool,
) -> Result<(), CliError> {
    let base = url
        .map(|u| Url::parse(u).map_err(|e| input_error(format!("--url {u}: {e}"))))
        .transpose()?;
    let bytes = output::read_input(file)?;
    let document = parse::document(&bytes, content_type, base.as_ref(), &Limits::default())
        .map_err(|e| failed(format!("{}: {e}", file.display())))?;
    if json {
        return print_json(&document_json(&document));
    }
    print_human(&document)
}

/// Returns a document as JSON. Missing values are null and never invented.
fn document_json(d: &Document) -> Value {
    let seconds = |d: Option<std::time::Duration>| d.map(|d| d.as_secs());
    json!({
        "format": d.format.word(),
        "title": d.title,
        "link": d.link,
        "self": d.self_link,
        "hubs": d.hubs,
        "rss_cloud": d.cloud,
        "language": d.language,
        "categories": d.categories,
        "updated": d.updated.map(|t| t.to_string()),
        "ttl_seconds": seconds(d.hints.ttl),
        "skip_hours": d.hints.skip_hours,
        "skip_days": d.hints.skip_days.iter().map(|day| day_name(*day)).collect::<Vec<_>>(),
        "update_seconds": seconds(d.hints.update_every),
        "update_base": d.hints.update_base.map(|t| t.to_string()),
        "items": d.items.iter().map(item_json).collect::<Vec<_>>(),
        "warnings": d.warnings,
    })
}

fn item_json(item: &feed::Item) -> Value {
    json!({
        "id": item.id,
        "title": item.title,
        "link": item.link,
        "published": item.published.map(|t| t.to_string()),
        "updated": item.updated.map(|t| t.to_string()),
        "author": item.author,
        "summary": item.summary,
        "content": item.content,
        "categories": item.categories,
        "language": item.language,
        "enclosures": item.enclosures.iter().map(|e| json!({
            "url": e.url, "type": e.mime_type, "length": e.length,
        })).collect::<Vec<_>>(),
    })
}

fn day_name(day: u8) -> &'static str {
    const NAMES: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    NAMES[usize::from(day) % 7]
}

fn print_human(d: &Document) -> Result<(), CliError> {
    let (n, title) = (d.items.len(), tamed(d.title.as_deref().unwrap_or("(no title)")));
    print_line(&format!("{title} ({}, {n} items)", d.format.word()))?;
    if let Some(link) = &d.link {
        print_line(&tamed(link))?;
    }
    let mut table = output::table(["Published", "Title", "Link"]);
    for item in &d.items {
        let published = item.published.or(item.updated);
        table.add_row([
            published.map_or_else(|| "-".to_owned(), |t| t.to_string()),
            output::one_line(item.title.as_deref().unwrap_or("-"), 60),
            output::one_line(item.link.as_deref().or(item.id.as_deref()).unwrap_or("-"), 60),
        ]);
    }
    if !d.items.is_empty() {
        print_line(&table.to_string())?;
    }
    for warning in &d.warnings {
        output::complain(&format!("warning: {}", tamed(warning)));
    }
    Ok(())
}
