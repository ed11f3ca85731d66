//! The rules of an account: list, save, switch on and off, delete.

use std::collections::HashMap;

use feed::{EntryId, Time};

use crate::db::columns::{count, time, time_or_none};
use crate::db::sequence;
use crate::db::sql::{Connection, OptionalExtension, Row, params};
use crate::error::DbError;
use crate::people::belongings::count_rule_change;
use crate::{AccountId, Store, StoreError};

/// Rules that one account may have. People have a dozen; the limit bounds the work per entry.
const RULES_MAX: u64 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub i64);

/// A stored rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRow {
    pub id: RuleId,
    pub account: AccountId,
    pub name: String,
    pub text: String,
    pub is_on: bool,
    /// It acts by itself on the entries after this one.
    pub since: EntryId,
    /// It still has to look at the stored entries after this one.
    pub past_next: Option<EntryId>,
    /// The number of entries on which it has acted.
    pub n_acted: u64,
    pub acted_at: Option<Time>,
    pub changed_at: Time,
    pub version: i64,
}

/// The reason why a rule was not saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("a rule with this name exists already; choose another name")]
    Taken,
    #[error("you have too many rules; delete one first")]
    TooMany,
    #[error("the rule does not exist")]
    NoRule,
}

/// A rule to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRule {
    pub name: String,
    pub text: String,
    pub is_on: bool,
    /// The name of the rule that this one takes the place of. It keeps its counts.
    pub replaces: Option<String>,
}

const COLUMNS: &str = "select id, account, name, text, is_on, since_entry, past_next, n_acted, \
                       acted_at, changed_at, version from rules";

impl Store {
    /// Returns the rules of an account by name.
    pub fn rules(&self, account: AccountId) -> Result<Vec<RuleRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where account = $1 order by name");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([account.0], rule_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn rule(&self, account: AccountId, name: &str) -> Result<Option<RuleRow>, StoreError> {
        self.read(|conn| find(conn, account, name))
    }

    /// Saves a rule. From now on it acts on new entries, if it is on.
    pub fn put_rule(
        &self,
        account: AccountId,
        new: &NewRule,
        now: Time,
    ) -> Result<Result<RuleRow, RuleError>, StoreError> {
        let new = new.clone();
        self.write_own(move |conn| {
            let version = count_rule_change(conn)?;
            let since = sequence::last_entry(conn)?;
            let old = match &new.replaces {
                Some(name) => match find(conn, account, name)? {
                    Some(row) => Some(row.id),
                    None => return Ok(Err(RuleError::NoRule)),
                },
                None => None,
            };
            if find(conn, account, &new.name)?.is_some_and(|row| Some(row.id) != old) {
                return Ok(Err(RuleError::Taken));
            }
            let values =
                params![account.0, new.name, new.text, new.is_on, since, now.millis(), version];
            match old {
                Some(RuleId(id)) => {
                    let sql = "update rules set name = $1, text = $2, is_on = $3, \
                               since_entry = $4, changed_at = $5, version = $6, past_next = null \
                               where id = $7";
                    let (name, text) = (&new.name, &new.text);
                    let values = params![name, text, new.is_on, since, now.millis(), version, id];
                    conn.execute(sql, values)?;
                }
                None => {
                    let sql = "select count(*) from rules where account = $1";
                    if conn.query_row(sql, [account.0], |row| count(row, 0))? >= RULES_MAX {
                        return Ok(Err(RuleError::TooMany));
                    }
                    let sql = "insert into rules (account, name, text, is_on, since_entry, \
                               changed_at, version) values ($1, $2, $3, $4, $5, $6, $7)";
                    conn.execute(sql, values)?;
                }
            }
            Ok(find(conn, account, &new.name)?.ok_or(RuleError::NoRule))
        })
    }

    /// Switches a rule on or off; `false` if it does not exist.
    pub fn switch_rule(
        &self,
        account: AccountId,
        name: &str,
        is_on: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_own(move |conn| {
            let version = count_rule_change(conn)?;
            let since = sequence::last_entry(conn)?;
            let sql = "update rules set is_on = $1, since_entry = $2, changed_at = $3, \
                       version = $4, past_next = null where account = $5 and name = $6";
            let values = params![is_on, since, now.millis(), version, account.0, name];
            Ok(conn.execute(sql, values)? > 0)
        })
    }

    /// Lets a rule act on the stored entries too, without notifications; `false` if there is no
    /// such rule that is on. The engine does this in steps.
    pub fn apply_rule_to_past(&self, account: AccountId, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_own(move |conn| {
            count_rule_change(conn)?;
            let sql = "update rules set past_next = 0 \
                       where account = $1 and name = $2 and is_on = $3";
            Ok(conn.execute(sql, params![account.0, name, true])? > 0)
        })
    }

    /// Deletes a rule; `false` if it does not exist. The marks that it has made stay.
    pub fn delete_rule(&self, account: AccountId, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_own(move |conn| {
            count_rule_change(conn)?;
            let sql = "delete from rules where account = $1 and name = $2";
            Ok(conn.execute(sql, params![account.0, name])? > 0)
        })
    }

    /// Returns the version of the rules, and those that are on but not among the `known` ones in
    /// the same version. Also returns the known ones that are gone or off.
    pub fn changed_rules(&self, known: &HashMap<RuleId, i64>) -> Result<ChangedRules, StoreError> {
        self.read(|conn| {
            let version = version(conn)?.1;
            let mut statement =
                conn.prepare_cached("select id, version from rules where is_on = $1")?;
            let rows = statement.query_map([true], |row| Ok((RuleId(row.get(0)?), row.get(1)?)))?;
            let there: HashMap<RuleId, i64> = rows.collect::<Result<_, _>>()?;
            let gone = known.keys().filter(|id| !there.contains_key(id)).copied().collect();
            let sql = format!("{COLUMNS} where id = $1");
            let mut statement = conn.prepare_cached(&sql)?;
            let mut changed = Vec::new();
            for (id, _) in there.iter().filter(|(id, version)| known.get(id) != Some(version)) {
                changed.extend(statement.query_row([id.0], rule_row).optional()?);
            }
            Ok(ChangedRules { version, changed, gone })
        })
    }
}

/// The rules that changed since somebody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedRules {
    pub version: i64,
    pub changed: Vec<RuleRow>,
    pub gone: Vec<RuleId>,
}

/// Returns the last entry that the rules have seen, and the version of the rules.
pub(super) fn version(conn: &Connection) -> Result<(EntryId, i64), DbError> {
    let sql = "select done_to, version from rule_progress";
    let read = |row: &Row<'_>| Ok((EntryId(row.get(0)?), row.get(1)?));
    Ok(conn.prepare_cached(sql)?.query_row([], read)?)
}

fn find(conn: &Connection, account: AccountId, name: &str) -> Result<Option<RuleRow>, DbError> {
    let sql = format!("{COLUMNS} where account = $1 and name = $2");
    Ok(conn.prepare_cached(&sql)?.query_row(params![account.0, name], rule_row).optional()?)
}

pub(super) fn with_past(conn: &Connection) -> Result<Option<RuleRow>, DbError> {
    let sql = format!("{COLUMNS} where past_next is not null and is_on = $1 order by id limit 1");
    Ok(conn.prepare_cached(&sql)?.query_row([true], rule_row).optional()?)
}

fn rule_row(row: &Row<'_>) -> crate::db::sql::Result<RuleRow> {
    Ok(RuleRow {
        id: RuleId(row.get(0)?),
        account: AccountId(row.get(1)?),
        name: row.get(2)?,
        text: row.get(3)?,
        is_on: row.get::<_, i64>(4)? != 0,
        since: EntryId(row.get(5)?),
        past_next: row.get::<_, Option<i64>>(6)?.map(EntryId),
        n_acted: count(row, 7)?,
        acted_at: time_or_none(row, 8)?,
        changed_at: time(row, 9)?,
        version: row.get(10)?,
    })
}
