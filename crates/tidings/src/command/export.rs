//! `tidings export`: prints all feeds, or those of an account, as a subscription list.

use feed::FeedUrl;
use parse::opml::Outline;
use serde_json::json;
use store::FeedFilter;

use crate::args::whose::WhoseArgs;
use crate::args::{ExportFormat, InstanceArgs};
use crate::error::CliError;
use crate::output::{print_json, print_line};
use crate::{access, config};

pub fn run(
    format: ExportFormat,
    with_secrets: bool,
    whose: &WhoseArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let store = access::read(&config)?;
    let feeds = store.feeds_of(whose.find(&store)?, &FeedFilter::default())?;
    let url = |url: &FeedUrl| if with_secrets { url.as_str().to_owned() } else { url.masked() };
    match format {
        ExportFormat::Json => {
            let rows: Vec<_> = feeds
                .iter()
                .map(|f| {
                    let title = f.shown_title();
                    json!({
                        "url": url(&f.location.url),
                        "title": title,
                        "site": f.facts.site,
                        "tags": f.tags,
                    })
                })
                .collect();
            print_json(&rows)
        }
        ExportFormat::Opml => {
            let outlines: Vec<Outline> = feeds
                .iter()
                .map(|f| Outline {
                    url: url(&f.location.url),
                    title: f.shown_title().map(str::to_owned),
                    site: f.facts.site.clone(),
                    tags: f.tags.clone(),
                })
                .collect();
            print_line(parse::opml::write("Tidings subscriptions", &outlines).trim_end())
        }
    }
}
