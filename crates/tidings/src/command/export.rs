//! `tidings export`: prints all feeds, or those of an account, as a subscription list.

use feed::FeedUrl;
use serde_json::json;

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
    let account = whose.find(&store)?;
    let url = |url: &FeedUrl| if with_secrets { url.as_str().to_owned() } else { url.masked() };
    match format {
        ExportFormat::Json => {
            let feeds = store.feeds_in_own_order(account, None)?;
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
            print_line(api::written_opml(&store, account, with_secrets)?.trim_end())
        }
    }
}
