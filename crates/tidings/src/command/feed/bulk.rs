//! `tidings feed change` and `feed undo`: many feeds at once.

use dispatch::command::{BulkChange, BulkCommand, Command, CommandResult, FeedChoice};
use serde_json::json;

use super::{find_of, other_answer};
use crate::access;
use crate::args::bulk::BulkArgs;
use crate::args::whose::OwnerArgs;
use crate::config::{self, Config};
use crate::error::{CliError, input_error};
use crate::output::{print_json, print_line};

pub async fn change(wanted: BulkArgs) -> Result<(), CliError> {
    let config = config::read_offline(&wanted.rest.place)?;
    let account = wanted.rest.whose.account(&config)?;
    let change = bulk_change(&wanted);
    if account.is_some() && change.is_for_all() {
        let text = "--user: --pause, --resume and --policy change the feeds for everybody; leave \
                    --user out";
        return Err(input_error(text.to_owned()));
    }
    let choice = match wanted.feeds.is_empty() {
        true => FeedChoice::Matching {
            text: wanted.search.unwrap_or_default(),
            tag: wanted.tag,
            state: wanted.state,
        },
        false => {
            let store = access::read(&config)?;
            let whose = wanted.rest.whose.find(&store)?;
            let found = wanted.feeds.iter().map(|name| Ok(find_of(&store, whose, name)?.0));
            FeedChoice::Feeds(found.collect::<Result<_, CliError>>()?)
        }
    };
    say(&config, BulkCommand::Change { choice, change }, account, wanted.rest.json).await
}

fn bulk_change(wanted: &BulkArgs) -> BulkChange {
    match &wanted.policy {
        Some(policy) => {
            let policy = (policy != "default").then(|| policy.clone());
            BulkChange::Policy { policy }
        }
        None if wanted.unsubscribe => BulkChange::Unsubscribe,
        None if wanted.pause => BulkChange::Pause,
        None if wanted.resume => BulkChange::Resume,
        None => {
            let (add, remove) = (wanted.add_tags.clone(), wanted.remove_tags.clone());
            BulkChange::Tag { add, remove }
        }
    }
}

pub async fn undo(undo: OwnerArgs) -> Result<(), CliError> {
    let config = config::read_offline(&undo.place)?;
    let account = undo.whose.account(&config)?;
    let wish = BulkCommand::Undo { number: None };
    let (feeds, what) = carry_out(&config, wish, account).await?;
    match undo.json {
        true => print_json(&json!({"feeds": feeds, "undone": what})),
        false => print_line(&format!("undone: {what}")),
    }
}

/// Carries a change out and says what was done.
pub async fn say(
    config: &Config,
    wish: BulkCommand,
    account: Option<i64>,
    as_json: bool,
) -> Result<(), CliError> {
    let (feeds, what) = carry_out(config, wish, account).await?;
    match as_json {
        true => print_json(&json!({"feeds": feeds, "what": what})),
        false => print_line(&format!("{what}; `tidings feed undo` undoes it")),
    }
}

async fn carry_out(
    config: &Config,
    wish: BulkCommand,
    account: Option<i64>,
) -> Result<(usize, String), CliError> {
    // The operator also undoes what an account has changed for everybody.
    let everyone = matches!(wish, BulkCommand::Undo { .. });
    let command = Command::Bulk { wish, account, everyone };
    match access::carry_out(config, command, &|_, _| ()).await? {
        CommandResult::Changed { feeds, what, .. } => Ok((feeds, what)),
        _ => Err(other_answer()),
    }
}
