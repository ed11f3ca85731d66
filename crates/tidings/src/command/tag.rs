//! `tidings tag …`: the tags of an account, or of the instance.

use api::plural;
use dispatch::command::BulkCommand;
use serde_json::json;
use store::{AccountId, NumberedTag};

use super::feed::bulk::say;
use crate::args::bulk::TagCommand;
use crate::args::whose::OwnerArgs;
use crate::error::CliError;
use crate::output::{print_json, print_line};
use crate::{access, config};

pub async fn run(tag: TagCommand) -> Result<(), CliError> {
    let (wish, rest) = match tag {
        TagCommand::List(rest) => return list(&rest),
        TagCommand::Rename { tag, to, rest } => {
            (BulkCommand::RenameTag { tag, to: Some(to) }, rest)
        }
        TagCommand::Remove { tag, rest } => (BulkCommand::RenameTag { tag, to: None }, rest),
        TagCommand::Order { tags, rest } => (BulkCommand::OrderTags { tags }, rest),
    };
    let config = config::read_offline(&rest.place)?;
    let account = rest.whose.account(&config)?;
    say(&config, wish, account, rest.json).await
}

fn list(wanted: &OwnerArgs) -> Result<(), CliError> {
    let store = access::read(&config::read_offline(&wanted.place)?)?;
    let tags: Vec<(String, u64)> = match wanted.whose.find(&store)? {
        AccountId::LOCAL => {
            let tags = store.tags()?.into_iter();
            let by_people = tags.filter(|row| !row.tag.starts_with(store::QUERY_TAG));
            by_people.map(|row| (row.tag, row.n_feeds)).collect()
        }
        account => {
            let tags = store.tags_of(account)?.into_iter();
            let named = tags.filter(|row| row.number != NumberedTag::UNTAGGED);
            named.map(|row| (row.tag, row.n_feeds)).collect()
        }
    };
    if wanted.json {
        let tags = tags.iter().map(|(tag, feeds)| json!({"tag": tag, "feeds": feeds}));
        return print_json(&tags.collect::<Vec<_>>());
    }
    for (tag, n_feeds) in tags {
        print_line(&format!("{tag} ({})", plural(n_feeds, "feed", "feeds")))?;
    }
    Ok(())
}
