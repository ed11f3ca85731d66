//! The account that a command acts for.

use store::{AccountId, Store};

use super::read;
use crate::args::whose::WhoseArgs;
use crate::config::Config;
use crate::error::{CliError, input_error};

impl WhoseArgs {
    /// Returns the account for a command; `None`: the instance.
    pub fn account(&self, config: &Config) -> Result<Option<i64>, CliError> {
        if self.user.is_none() {
            return Ok(None);
        }
        let account = self.find(&read(config)?)?;
        Ok(Some(account.0))
    }

    /// Returns the account whose feeds are meant. Account 0 stands for the instance.
    pub fn find(&self, store: &Store) -> Result<AccountId, CliError> {
        let Some(name) = &self.user else { return Ok(AccountId::LOCAL) };
        let found = store.account(name)?.ok_or_else(|| {
            let name: String = name.chars().take(64).collect();
            input_error(format!(
                "the account {name} does not exist; list all with: tidings user list"
            ))
        })?;
        Ok(found.id)
    }
}
