//! The command that posts an entry to a webhook of a person.

use dispatch::command::CommandResult;
use feed::{EntryId, FeedUrl};
use store::{AccountId, AccountRole, ShareKind};

use super::CommandError;
use crate::Engine;
use crate::deliver::SentEntry;

/// Sends an entry once and says what became of it.
pub async fn carry_out(
    engine: &Engine,
    account: AccountId,
    position: i64,
    entry: EntryId,
) -> Result<CommandResult, CommandError> {
    let targets = engine.store.share_targets(account)?;
    let target = targets.into_iter().find(|target| target.position == position);
    let target = target.filter(|target| target.kind == ShareKind::Webhook);
    let missing = || CommandError::Change("there is no such webhook in your services".to_owned());
    let target = target.ok_or_else(missing)?;
    let url = FeedUrl::parse(&target.template)?;
    let may_see = engine.store.visible_entries(account, &[entry])?.contains(&entry);
    let row = engine.store.entry(entry)?.filter(|_| may_see);
    let row = row.ok_or_else(|| CommandError::Change(format!("there is no entry {entry}")))?;
    // Readers are not trusted with the services of this network.
    let public_only = engine.store.role_of(account)? == Some(AccountRole::Reader);
    let (service, key) = (&target.name, &target.signing_key);
    let sent = SentEntry { service, url: &url, key, public_only };
    match engine.send_entry(&sent, &row).await? {
        None => Ok(CommandResult::Sent { service: target.name }),
        Some(why) => Err(CommandError::Change(format!(
            "{} did not take the entry: {why}; try again later",
            target.name
        ))),
    }
}
