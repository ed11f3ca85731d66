//! One statement for a list of keys. On SQLite it runs once for each key. On PostgreSQL, where each
//! run is a round trip, it becomes one statement over the whole list.

/// Turns a statement with the key `$1` into one with a list of keys `$1`. The first column of its
/// rows is the place of the key in the list.
///
/// The statement must be a plain `select`.
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
            "k.key"
        });
        rest = after;
    }
    inner.push_str(rest);
    format!(
        "select k.place, found.* from unnest($1::{array}) with ordinality as k (key, place) \
         cross join lateral ({inner}) as found order by k.place"
    )
}

#[cfg(test)]
mod tests {
    use super::lateral;

    #[test]
    fn only_the_key_is_replaced() {
        let sql = lateral("select a from t where k = $1 and b = $2 and c = $10", "bigint[]");
        assert!(sql.contains("(select a from t where k = k.key and b = $2 and c = $10)"), "{sql}");
        assert!(sql.contains("unnest($1::bigint[])"), "{sql}");
    }
}
