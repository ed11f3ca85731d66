//! The effects of rules on entries. The engine follows the stream by the mark in `rule_progress`.
//! One transaction makes all changes of a step and moves the mark. So a rule acts once on each
//! entry, whatever fails in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use feed::{EntryId, Time};

use super::change;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::reading::{hidden, labels, marks};
use crate::{AccountId, RuleId, RuleRow, Store, StoreError};

/// One thing that a rule does with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleEffect {
    MarkRead,
    Star,
    /// Marks the entry read, and no list shows it.
    Hide,
    Label(String),
    Notify,
}

/// An entry that a rule keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAct {
    pub rule: RuleId,
    pub account: AccountId,
    pub entry: EntryId,
    pub effects: Arc<[RuleEffect]>,
}

/// The acts of all rules on the entries after `from`, up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleStep {
    /// The version of the rules that were matched.
    pub version: i64,
    pub from: EntryId,
    pub to: EntryId,
    pub acts: Vec<RuleAct>,
}

impl Store {
    /// Returns the last entry that the rules have seen, and the version of the rules.
    pub fn rule_progress(&self) -> Result<(EntryId, i64), StoreError> {
        self.read(change::version)
    }

    /// Returns a rule that shall act on stored entries, if there is one, and the version.
    pub fn rule_with_past(&self) -> Result<Option<(RuleRow, i64)>, StoreError> {
        self.read(|conn| {
            let version = change::version(conn)?.1;
            Ok(change::with_past(conn)?.map(|row| (row, version)))
        })
    }

    /// Carries out a step and moves the mark. `false`: the mark or the rules have changed, and
    /// nothing was done.
    pub async fn act_by_rules(&self, step: RuleStep, now: Time) -> Result<bool, StoreError> {
        self.write_async(move |conn| {
            let sql = "update rule_progress set done_to = $1 where version = $2 and done_to <= $3";
            let values = params![step.to.0, step.version, step.from.0];
            if conn.prepare_cached(sql)?.execute(values)? == 0 {
                return Ok(false);
            }
            act(conn, &step.acts, now)?;
            Ok(true)
        })
        .await
    }

    /// Carries out a step of one rule on stored entries. After the last one `is_end` is true. No
    /// device is notified of the past.
    pub async fn act_on_past(
        &self,
        rule: RuleId,
        mut step: RuleStep,
        is_end: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        for act in &mut step.acts {
            act.effects =
                act.effects.iter().filter(|one| **one != RuleEffect::Notify).cloned().collect();
        }
        self.write_async(move |conn| {
            // Locks the row of the version, as every change of a rule does.
            let sql = "update rule_progress set version = version where version = $1";
            if conn.prepare_cached(sql)?.execute([step.version])? == 0 {
                return Ok(false);
            }
            let next = (!is_end).then_some(step.to.0);
            let sql = "update rules set past_next = $1 where id = $2 and past_next = $3";
            let values = params![next, rule.0, step.from.0];
            if conn.prepare_cached(sql)?.execute(values)? == 0 {
                return Ok(false);
            }
            act(conn, &step.acts, now)?;
            Ok(true)
        })
        .await
    }
}

fn act(conn: &Connection, acts: &[RuleAct], now: Time) -> Result<(), DbError> {
    let mut read: BTreeMap<AccountId, Vec<EntryId>> = BTreeMap::new();
    let mut hide: BTreeMap<AccountId, Vec<EntryId>> = BTreeMap::new();
    let mut starred: BTreeSet<(AccountId, EntryId)> = BTreeSet::new();
    let mut labelled: BTreeSet<(i64, EntryId)> = BTreeSet::new();
    let mut numbers: HashMap<(AccountId, &str), Option<i64>> = HashMap::new();
    let mut n_acted: BTreeMap<RuleId, i64> = BTreeMap::new();
    for one in acts {
        let (account, entry) = (one.account, one.entry);
        *n_acted.entry(one.rule).or_default() += 1;
        for effect in one.effects.iter() {
            match effect {
                RuleEffect::MarkRead => read.entry(account).or_default().push(entry),
                RuleEffect::Hide => {
                    read.entry(account).or_default().push(entry);
                    hide.entry(account).or_default().push(entry);
                }
                RuleEffect::Star => {
                    starred.insert((account, entry));
                }
                RuleEffect::Label(name) => {
                    let number = match numbers.get(&(account, name.as_str())) {
                        Some(number) => *number,
                        None => labels::number(conn, account, name)?,
                    };
                    numbers.insert((account, name), number);
                    labelled.extend(number.map(|number| (number, entry)));
                }
                RuleEffect::Notify => notify(conn, one, now)?,
            }
        }
    }
    // In the order in which people's changes lock these rows.
    for (account, entry) in starred {
        marks::star_one(conn, account, entry, now)?;
    }
    for (label, entry) in labelled {
        labels::add(conn, label, entry, true, now)?;
    }
    for (account, entries) in &read {
        // A person whose rules mark entries has not read anything.
        marks::set_bits(conn, *account, entries, true)?;
    }
    for (account, entries) in &hide {
        hidden::hide(conn, *account, entries)?;
    }
    let sql = "update rules set n_acted = n_acted + $1, acted_at = $2 where id = $3";
    let mut statement = conn.prepare_cached(sql)?;
    for (rule, n) in n_acted {
        statement.execute(params![n, now.millis(), rule.0])?;
    }
    Ok(())
}

/// Keeps a notification for the devices of a person who has any.
fn notify(conn: &Connection, act: &RuleAct, now: Time) -> Result<(), DbError> {
    let sql = "insert into notifications (account, rule, entry, made_at) \
               select $1, r.name, e.id, $2 from rules r, entries e where r.id = $3 and e.id = $4 \
               and exists (select 1 from push_devices d where d.account = $1)";
    let values = params![act.account.0, now.millis(), act.rule.0, act.entry.0];
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(())
}
