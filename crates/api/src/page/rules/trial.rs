//! The trial of a rule as the page shows it.

use feed::Time;
use store::{AccountId, Store, StoreError};

use crate::page::queries::{EntryLink, FaultMessage, SourcePiece, entry_link, marked_faults};
use crate::rule_book::{RULE_TRIAL_DAYS, try_rule};
use crate::words::{count, plural};

/// Entries that the trial names.
const NAMED_MAX: usize = 8;

/// The result of a trial, or the faults of the rule.
pub struct RuleTrial {
    pub source: Vec<SourcePiece>,
    pub faults: Vec<FaultMessage>,
    /// The result in words; empty if nothing was tried.
    pub words: String,
    pub actions: String,
    pub newest: Vec<EntryLink>,
}

impl RuleTrial {
    pub fn none() -> RuleTrial {
        RuleTrial {
            source: Vec::new(),
            faults: Vec::new(),
            words: String::new(),
            actions: String::new(),
            newest: Vec::new(),
        }
    }

    pub fn run(
        store: &Store,
        account: AccountId,
        text: &str,
        now: Time,
    ) -> Result<RuleTrial, StoreError> {
        let tried = match try_rule(store, account, text, now)? {
            Ok(tried) => tried,
            Err(fault) => {
                let (source, faults) = marked_faults(text, &[fault]);
                return Ok(RuleTrial { source, faults, ..RuleTrial::none() });
            }
        };
        let (rule, kept) = (tried.rule, tried.kept);
        let mut newest = Vec::new();
        for id in kept.iter().rev().take(NAMED_MAX) {
            newest.extend(store.entry(*id)?.map(|entry| entry_link(&entry, now)));
        }
        let of = plural(tried.n_entries, "entry", "entries");
        let (kept, days) = (count(kept.len() as u64), RULE_TRIAL_DAYS);
        let actions = rule.actions.iter().map(ToString::to_string).collect::<Vec<_>>();
        Ok(RuleTrial {
            words: format!(
                "It would have acted on {kept} of the newest {of} of the last {days} days."
            ),
            actions: actions.join(", "),
            newest,
            ..RuleTrial::none()
        })
    }
}
