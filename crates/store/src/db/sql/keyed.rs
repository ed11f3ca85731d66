//! One statement for a list of keys. On SQLite it runs once for each key. On PostgreSQL, where each
//! run is a round trip, it becomes one statement over the whole list.

/// Turns a statement with the key `$1` into one with a list of keys `$1`. The first column of its
/// rows is the place of the key in the list.
///
/// The statement must be a plain `select` without a table called `asked`. The rows of one key come
/// in any order.
pub(crate) fn lateral(sql: &str, array: &str) -> String {
    let mut inner = String::with_capacity(sql.len() + 16);
    let mut rest = sql;
    while let Some(at) = rest.find("$1") {
        let after = &rest[at + 2..];
        inner.push_str(&rest[..at]);
        // `$10` is another parameter.
        inner.push_str(if after.starts_with(|c: char| c.is_ascii_digit()) {
            "$1"
        } else {
            "asked.key"
        });
        rest = after;
    }
    inner.push_str(rest);
    format!(
        "select asked.place, found.* \
         from unnest($1::{array}) with ordinality as asked (key, place) \
         cross join lateral ({inner}) as found order by asked.place"
    )
}

/// Turns columns with their types into rows from lists, one parameter for each column: `id bigint,
/// key bytea` becomes `unnest($1::bigint[], $2::bytea[]) with ordinality as u (id, key, place)`.
pub(crate) fn unnest(columns: &str) -> String {
    let (mut lists, mut names) = (String::new(), String::new());
    for (place, column) in columns.split(", ").enumerate() {
        let (name, kind) = column.split_once(' ').unwrap_or((column, "bigint"));
        let comma = if place == 0 { "" } else { ", " };
        lists.push_str(&format!("{comma}${}::{kind}[]", place + 1));
        names.push_str(name);
        names.push_str(", ");
    }
    format!("unnest({lists}) with ordinality as u ({names}place)")
}

/// The names of columns with their types.
pub(crate) fn names(columns: &str) -> String {
    let name = |column: &str| column.split(' ').next().unwrap_or_default().to_owned();
    columns.split(", ").map(name).collect::<Vec<_>>().join(", ")
}

/// Selects these columns from their lists.
pub(crate) fn from_lists(columns: &str) -> String {
    format!("select {} from {}", names(columns), unnest(columns))
}

#[cfg(test)]
mod tests {
    use super::{lateral, unnest};

    #[test]
    fn every_column_becomes_a_list() {
        let expect = "unnest($1::bigint[], $2::double precision[]) with ordinality \
                      as u (id, part, place)";
        assert_eq!(unnest("id bigint, part double precision"), expect);
    }

    #[test]
    fn only_the_key_is_replaced() {
        let sql = lateral("select a from t where k = $1 and b = $2 and c = $10", "bigint[]");
        assert!(
            sql.contains("(select a from t where k = asked.key and b = $2 and c = $10)"),
            "{sql}"
        );
        assert!(sql.contains("unnest($1::bigint[])"), "{sql}");
    }
}
