//! `tidings import`: adds the feeds of a subscription list. It makes no request.

use std::path::Path;

use api::plural;
use dispatch::command::{Command, CommandResult, ImportedFeed};
use serde_json::json;

use crate::args::InstanceArgs;
use crate::args::whose::WhoseArgs;
use crate::error::{CliError, failed, input_error};
use crate::output::{self, print_json, print_line};
use crate::{access, config};

pub async fn run(
    file: &Path,
    json: bool,
    whose: &WhoseArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let account = whose.account(&config)?;
    let shown = file.display().to_string();
    let bytes = output::read_input(file)?;
    let list = ::parse::opml::read(&bytes).map_err(|e| input_error(format!("{shown}: {e}")))?;
    let skipped: Vec<String> = list
        .skipped
        .iter()
        .map(|s| format!("{shown}:{}:{}: skipped {}: {}", s.line, s.column, s.what, s.why))
        .collect();
    let feeds: Vec<ImportedFeed> = list
        .outlines
        .into_iter()
        .map(|o| ImportedFeed { url: o.url, title: o.title, site: o.site, tags: o.tags })
        .collect();
    let n_listed = feeds.len();
    let progress =
        output::spinner(&format!("importing {}", plural(n_listed as u64, "feed", "feeds")));
    let done = access::carry_out(&config, Command::Import { feeds, account }, &|_, _| ()).await?;
    progress.finish_and_clear();
    let CommandResult::Imported { added, known, refused } = done else {
        return Err(failed(
            "the daemon gave an unexpected answer; it may be another version".to_owned(),
        ));
    };
    for line in &skipped {
        output::complain(line);
    }
    for why in &refused {
        output::complain(&format!("{shown}: skipped: {why}"));
    }
    let n_skipped = skipped.len() + refused.len();
    if json {
        let skipped: Vec<&String> = skipped.iter().chain(&refused).collect();
        return print_json(&json!({ "added": added, "known": known, "skipped": skipped }));
    }
    print_line(&format!(
        "{} added, {known} already there, {n_skipped} skipped.",
        plural(added as u64, "feed", "feeds")
    ))
}
