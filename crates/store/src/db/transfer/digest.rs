//! The digest of a table: the number of its rows, and a hash that does not depend on their order.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tables::{CopiedTable, canonical};
use crate::db::sql::{Result, Row, Value};

/// Number and hash of the rows of a table. Equal digests mean equal rows.
///
/// The hash is the sum of the hashes of the rows, so a row that is there twice does not cancel
/// itself. It protects against faults and not against an attacker, who could write the target
/// anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableDigest {
    pub rows: u64,
    #[serde(with = "hex")]
    hash: u128,
}

impl TableDigest {
    /// Adds a row. Columns must come in the order of the table.
    pub fn add(&mut self, table: &CopiedTable, row: &Row<'_>) -> Result<()> {
        let mut hasher = Sha256::new();
        for (place, column) in table.columns.iter().enumerate() {
            let mut text = String::new();
            match canonical(column.kind, row.get_ref(place)?, &mut text) {
                Value::Null => hasher.update([0]),
                Value::Int(n) => put(&mut hasher, 1, &n.to_le_bytes()),
                Value::Real(number) => put(&mut hasher, 2, &number.to_bits().to_le_bytes()),
                Value::Text(text) => put(&mut hasher, 3, text.as_bytes()),
                Value::Blob(bytes) => put(&mut hasher, 4, bytes),
            }
        }
        let hash = hasher.finalize();
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        self.rows += 1;
        self.hash = self.hash.wrapping_add(u128::from_le_bytes(half));
        Ok(())
    }

    /// The hash as a text of 32 digits.
    pub fn hash_text(&self) -> String {
        format!("{:032x}", self.hash)
    }
}

/// The length keeps two neighbouring texts apart.
fn put(hasher: &mut Sha256, kind: u8, bytes: &[u8]) {
    hasher.update([kind]);
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// JSON has no numbers of 128 bits.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(hash: &u128, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format!("{hash:032x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables;
    use super::*;
    use crate::db::sql::Connection;

    fn digest(rows: &[&str]) -> TableDigest {
        let tables = tables::copied().ok().unwrap();
        let table = tables.iter().find(|table| table.name == "tag_settings").unwrap();
        let conn = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        let mut digest = TableDigest::default();
        for row in rows {
            // The last three columns are the region and the settings for articles.
            let sql = format!("select {row}, null, null, null");
            conn.query_row(&sql, [], |row| digest.add(table, row)).unwrap();
        }
        digest
    }

    #[test]
    fn the_order_does_not_count_and_every_value_does() {
        let (one, two) = ("'a', 'p', 1, 2, 0.5, 3, 1", "'b', null, null, null, null, null, null");
        assert_eq!(digest(&[one, two]), digest(&[two, one]));
        assert_ne!(digest(&[one, one]), digest(&[two, two]));
        assert_ne!(digest(&[one, one]), digest(&[]));
        let changed = [
            "'a', 'q', 1, 2, 0.5, 3, 1",
            "'ap', '', 1, 2, 0.5, 3, 1",
            "'a', 'p', 2, 1, 0.5, 3, 1",
            "'a', 'p', 1, 2, 0.25, 3, 1",
            "'a', 'p', 1, 2, 0.5, 3, null",
        ];
        for row in changed {
            assert_ne!(digest(&[row]), digest(&[one]), "{row}");
        }
        assert_eq!(digest(&["'a' || char(0), 'p', 1, 2, 0.5, 3, 1"]), digest(&[one]));
        assert_eq!(digest(&["'a', 'p', 1, 2, 2, 3, 1"]), digest(&["'a', 'p', 1, 2, 2.0, 3, 1"]));
        let text = serde_json::to_string(&digest(&[one])).unwrap();
        assert_eq!(serde_json::from_str::<TableDigest>(&text).unwrap(), digest(&[one]));
    }
}
