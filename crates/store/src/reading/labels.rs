//! Labels of entries: each person has their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use feed::{EntryId, Time};

use crate::db::columns::count;
use crate::db::dialect::{self, LockSubject};
use crate::db::sql::{Connection, OptionalExtension, Value, params};
use crate::error::DbError;
use crate::subscriptions::scope;
use crate::{AccountId, Store, StoreError};

/// Labels that one account may have.
const LABELS_MAX: u64 = 500;

/// The number of a label. It belongs to one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub i64);

/// A label of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRow {
    pub id: LabelId,
    pub name: String,
    pub n_entries: u64,
}

/// An entry with a label, and its link.
pub type LabelledEntry = (EntryId, Option<String>);

impl Store {
    /// Returns the labels of an account by name.
    pub fn labels(&self, account: AccountId) -> Result<Vec<LabelRow>, StoreError> {
        self.read(|conn| {
            let sql = "select l.id, l.name, (select count(*) from entry_labels e \
                       where e.label = l.id) from labels l where l.account = $1 order by l.name";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| {
                Ok(LabelRow {
                    id: LabelId(row.get(0)?),
                    name: row.get(1)?,
                    n_entries: count(row, 2)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the label of an account with this name.
    pub fn label(&self, account: AccountId, name: &str) -> Result<Option<LabelId>, StoreError> {
        self.read(|conn| Ok(find(conn, account, name)?.map(LabelId)))
    }

    /// Gives entries a label, or takes it away. The label is made if it does not exist, and it
    /// stays without entries. Deleted entries stay as they are, and so do those that the account
    /// may not see. `false`: the account has too many
    /// labels.
    pub fn label_entries(
        &self,
        account: AccountId,
        name: &str,
        entries: &[EntryId],
        on: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        let (name, mut entries) = (name.to_owned(), entries.to_vec());
        // Every process locks entries in this order.
        entries.sort_unstable();
        self.write_own(move |conn| {
            let label = match on {
                true => number(conn, account, &name)?,
                false => find(conn, account, &name)?,
            };
            let Some(label) = label else { return Ok(!on) };
            let visible = scope::visible_entries(conn, account, &entries)?;
            for entry in entries {
                if on && !visible.contains(&entry) {
                    continue;
                }
                if on {
                    add(conn, label, entry, false, now)?;
                } else {
                    let sql = "delete from entry_labels where label = $1 and entry = $2";
                    conn.prepare_cached(sql)?.execute([label, entry.0])?;
                }
            }
            Ok(true)
        })
    }

    /// Gives an entry exactly these labels. Labels that do not exist are made. `false`: the account
    /// would have too many labels, and nothing has changed.
    pub fn set_labels(
        &self,
        account: AccountId,
        entry: EntryId,
        names: &[String],
        now: Time,
    ) -> Result<bool, StoreError> {
        let names: BTreeSet<String> = names.iter().cloned().collect();
        self.write_own(move |conn| {
            if !scope::visible_entries(conn, account, &[entry])?.contains(&entry) {
                return Ok(true);
            }
            dialect::one_at_a_time(conn, LockSubject::Account, account.0)?;
            let sql = "select count(*) from labels where account = $1";
            let mut n_labels =
                conn.prepare_cached(sql)?.query_row([account.0], |row| count(row, 0))?;
            for name in &names {
                n_labels += u64::from(find(conn, account, name)?.is_none());
            }
            if n_labels > LABELS_MAX {
                return Ok(false);
            }
            let mut wanted = Vec::new();
            for name in &names {
                wanted.extend(number(conn, account, name)?);
            }
            // Every process locks labels in this order.
            wanted.sort_unstable();
            let sql = "select l.id from entry_labels e join labels l on l.id = e.label \
                       where e.entry = $1 and l.account = $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([entry.0, account.0], |row| row.get(0))?;
            let present: Vec<i64> = rows.collect::<Result<_, _>>()?;
            for label in present.iter().filter(|label| !wanted.contains(label)) {
                let sql = "delete from entry_labels where label = $1 and entry = $2";
                conn.prepare_cached(sql)?.execute([*label, entry.0])?;
            }
            for label in wanted.into_iter().filter(|label| !present.contains(label)) {
                add(conn, label, entry, false, now)?;
            }
            Ok(true)
        })
    }

    /// Renames a label. If the new name is taken, the two become one. `false` if it does not exist.
    pub fn rename_label(
        &self,
        account: AccountId,
        name: &str,
        to: &str,
    ) -> Result<bool, StoreError> {
        let (name, to) = (name.to_owned(), to.to_owned());
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Account, account.0)?;
            let Some(from) = find(conn, account, &name)? else { return Ok(false) };
            match find(conn, account, &to)?.filter(|other| *other != from) {
                None => {
                    conn.execute("update labels set name = $1 where id = $2", params![to, from])?;
                }
                Some(other) => {
                    let sql = "insert into entry_labels (label, entry, by_rule, labelled_at) \
                               select $1, entry, by_rule, labelled_at from entry_labels \
                               where label = $2 on conflict (label, entry) do nothing";
                    conn.execute(sql, [other, from])?;
                    conn.execute("delete from labels where id = $1", [from])?;
                }
            }
            Ok(true)
        })
    }

    /// Deletes a label; `false` if it does not exist. The entries stay.
    pub fn delete_label(&self, account: AccountId, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_own(move |conn| {
            let sql = "delete from labels where account = $1 and name = $2";
            Ok(conn.execute(sql, params![account.0, name])? > 0)
        })
    }

    /// Returns all entries that an account has labelled, by label, each with its link.
    pub fn labelled(
        &self,
        account: AccountId,
    ) -> Result<BTreeMap<String, Vec<LabelledEntry>>, StoreError> {
        self.read(|conn| {
            let sql = "select l.name, e.id, e.link from labels l \
                       join entry_labels m on m.label = l.id join entries e on e.id = m.entry \
                       where l.account = $1 order by l.name, e.id";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([account.0])?;
            let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
            while let Some(row) = &rows.next()? {
                found.entry(row.get(0)?).or_default().push((EntryId(row.get(1)?), row.get(2)?));
            }
            Ok(found)
        })
    }

    /// Returns the labels that an account has given to each of these entries.
    pub fn labels_of(
        &self,
        account: AccountId,
        entries: &[EntryId],
    ) -> Result<HashMap<EntryId, Vec<String>>, StoreError> {
        self.read(|conn| {
            let sql = "select l.name from entry_labels e join labels l on l.id = e.label \
                       where e.entry = $1 and l.account = $2 order by l.name";
            let keys: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
            let mut found: HashMap<EntryId, Vec<String>> = HashMap::new();
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.each(&keys, &[Value::Int(account.0)], |place, row| {
                Ok((entries[place], row.get::<_, String>(0)?))
            })?;
            for (entry, name) in rows {
                found.entry(entry).or_default().push(name);
            }
            Ok(found)
        })
    }
}

fn find(conn: &Connection, account: AccountId, name: &str) -> Result<Option<i64>, DbError> {
    let sql = "select id from labels where account = $1 and name = $2";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row(params![account.0, name], |row| row.get(0)).optional()?)
}

/// Returns the number of a label, and makes it if needed. `None`: the account has too many.
pub(crate) fn number(
    conn: &Connection,
    account: AccountId,
    name: &str,
) -> Result<Option<i64>, DbError> {
    if let Some(found) = find(conn, account, name)? {
        return Ok(Some(found));
    }
    dialect::one_at_a_time(conn, LockSubject::Account, account.0)?;
    if let Some(found) = find(conn, account, name)? {
        return Ok(Some(found));
    }
    let sql = "select count(*) from labels where account = $1";
    if conn.prepare_cached(sql)?.query_row([account.0], |row| count(row, 0))? >= LABELS_MAX {
        return Ok(None);
    }
    let sql = "insert into labels (account, name) values ($1, $2) \
               on conflict (account, name) do nothing";
    conn.prepare_cached(sql)?.execute(params![account.0, name])?;
    find(conn, account, name)
}

pub(crate) fn add(
    conn: &Connection,
    label: i64,
    entry: EntryId,
    by_rule: bool,
    now: Time,
) -> Result<(), DbError> {
    // The label of a person wins over that of a rule: it keeps the entry.
    let sql = "insert into entry_labels (label, entry, by_rule, labelled_at) \
               select $1, id, $2, $3 from entries where id = $4 key_share \
               on conflict (label, entry) do update set by_rule = min_of_two";
    let smaller = if conn.is_postgres() { "least" } else { "min" };
    let rule = format!("{smaller}(entry_labels.by_rule, excluded.by_rule)");
    // Retention of another process may delete the entry at the same time.
    let lock = dialect::for_key_share(conn);
    let sql = sql.replace("min_of_two", &rule).replace(" key_share", lock);
    let values = params![label, i64::from(by_rule), now.millis(), entry.0];
    conn.prepare_cached(&sql)?.execute(values)?;
    Ok(())
}

/// Returns the entries with a label.
pub(crate) fn entries(
    conn: &Connection,
    account: AccountId,
    label: LabelId,
) -> Result<Vec<EntryId>, DbError> {
    let sql = "select e.entry from entry_labels e join labels l on l.id = e.label \
               where e.label = $1 and l.account = $2";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([label.0, account.0], |row| row.get(0).map(EntryId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
