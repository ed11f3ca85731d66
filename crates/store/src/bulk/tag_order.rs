//! The order of tags: of an account, or of the person at the machine.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::AccountId;
use crate::db::dialect;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::feeds::tag_numbers;
use crate::subscriptions::account_tags;

/// The places that tags had.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct OrderBefore {
    account: AccountId,
    /// The number of each tag, and its place.
    places: Vec<(i64, Option<i64>)>,
}

/// Sets the order. Tags that are not named follow in the present order.
pub(super) fn order(
    conn: &Connection,
    account: AccountId,
    tags: &[String],
) -> Result<OrderBefore, DbError> {
    if account == AccountId::LOCAL {
        tag_numbers::number_all(conn)?;
        let places = places(conn, account)?;
        order_of_instance(conn, tags)?;
        return Ok(OrderBefore { account, places });
    }
    let places = places(conn, account)?;
    account_tags::order(conn, account, tags)?;
    Ok(OrderBefore { account, places })
}

fn places(conn: &Connection, account: AccountId) -> Result<Vec<(i64, Option<i64>)>, DbError> {
    let sql = match account {
        AccountId::LOCAL => "select id, position from tag_numbers where $1 = 0 order by id",
        _ => "select number, position from account_tags where account = $1 order by number",
    };
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([account.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn order_of_instance(conn: &Connection, tags: &[String]) -> Result<(), DbError> {
    let sql = "select tag from tag_numbers where tag <> '' and position is not null \
               order by position, tag";
    let mut statement = conn.prepare_cached(sql)?;
    let known: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let named: HashSet<&String> = tags.iter().collect();
    let rest = known.iter().filter(|tag| !named.contains(tag));
    let mut statement =
        conn.prepare_cached("update tag_numbers set position = $1 where tag = $2")?;
    for (place, tag) in tags.iter().chain(rest).enumerate() {
        statement.execute(params![place as i64 + 1, tag])?;
    }
    Ok(())
}

impl OrderBefore {
    pub(super) fn is_of_instance(&self) -> bool {
        self.account == AccountId::LOCAL
    }

    pub(super) fn restore(&self, conn: &Connection) -> Result<(), DbError> {
        let (table, number, whose) = match self.account {
            AccountId::LOCAL => ("tag_numbers", "id", "$2 = 0"),
            account => {
                account_tags::lock(conn, account)?;
                ("account_tags", "number", "account = $2")
            }
        };
        let sql = format!(
            "update {table} set position = n.place from \
             (select cast(value ->> 0 as bigint) as number, cast(value ->> 1 as bigint) as place \
              from {}) as n where {whose} and {table}.{number} = n.number",
            dialect::json_elements(conn, "$1")
        );
        let list = serde_json::to_string(&self.places).unwrap_or_default();
        conn.prepare_cached(&sql)?.execute(params![list, self.account.0])?;
        Ok(())
    }
}
