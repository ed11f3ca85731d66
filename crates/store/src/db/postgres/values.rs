//! Values on the wire of PostgreSQL. A parameter adapts to the type that the statement expects; a
//! column of any type that the schema uses becomes a [`Value`].

use std::error::Error;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::db::sql::{Datum, Result, SqlError, ToValue, Value};

type ValueError = Box<dyn Error + Sync + Send>;

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, ValueError> {
        match *self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(n) => whole(n, kind, out),
            Value::Real(number) => match *kind {
                Type::FLOAT8 => number.to_sql(kind, out),
                _ => Err(mismatch("a number", kind)),
            },
            Value::Text(text) => match *kind {
                Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => {
                    // PostgreSQL refuses U+0000 in a text, and nobody can read it.
                    if text.contains('\0') {
                        return text.replace('\0', "").to_sql(kind, out);
                    }
                    text.to_sql(kind, out)
                }
                _ => Err(mismatch("a text", kind)),
            },
            Value::Blob(bytes) => match *kind {
                Type::BYTEA => bytes.to_sql(kind, out),
                _ => Err(mismatch("bytes", kind)),
            },
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for Datum<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, ValueError> {
        self.to_value().to_sql(kind, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A parameter of PostgreSQL: one value, or a list for `unnest`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter<'a> {
    One(Value<'a>),
    List(&'a [Value<'a>]),
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, ValueError> {
        match self {
            Parameter::One(value) => value.to_sql(kind, out),
            Parameter::List(values) => values.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn whole(n: i64, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, ValueError> {
    match *kind {
        Type::INT8 => n.to_sql(kind, out),
        Type::INT4 => i32::try_from(n)?.to_sql(kind, out),
        Type::INT2 => i16::try_from(n)?.to_sql(kind, out),
        Type::BOOL => (n != 0).to_sql(kind, out),
        #[expect(clippy::cast_precision_loss, reason = "the column holds a weight or a share")]
        Type::FLOAT8 => (n as f64).to_sql(kind, out),
        _ => Err(mismatch("a whole number", kind)),
    }
}

fn mismatch(given: &str, kind: &Type) -> ValueError {
    format!("the statement expects {kind}, but the parameter is {given}").into()
}

/// Reads a column.
pub(crate) fn column_value(row: &tokio_postgres::Row, column: usize) -> Result<Value<'_>> {
    let read: std::result::Result<WireValue<'_>, _> = row.try_get(column);
    match read {
        Ok(WireValue(value)) => Ok(value),
        Err(error) => Err(SqlError::value(error.to_string())),
    }
}

/// A column as it comes from the wire.
struct WireValue<'a>(Value<'a>);

impl<'a> FromSql<'a> for WireValue<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> std::result::Result<WireValue<'a>, ValueError> {
        Ok(WireValue(match *kind {
            Type::INT8 => Value::Int(i64::from_sql(kind, raw)?),
            Type::INT4 => Value::Int(i64::from(i32::from_sql(kind, raw)?)),
            Type::INT2 => Value::Int(i64::from(i16::from_sql(kind, raw)?)),
            Type::OID => Value::Int(i64::from(u32::from_sql(kind, raw)?)),
            Type::BOOL => Value::Int(i64::from(bool::from_sql(kind, raw)?)),
            Type::FLOAT8 => Value::Real(f64::from_sql(kind, raw)?),
            Type::FLOAT4 => Value::Real(f64::from(f32::from_sql(kind, raw)?)),
            Type::NUMERIC => numeric(raw)?,
            Type::BYTEA => Value::Blob(raw),
            _ => Value::Text(std::str::from_utf8(raw)?),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<WireValue<'a>, ValueError> {
        Ok(WireValue(Value::Null))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::INT8
                | Type::INT4
                | Type::INT2
                | Type::OID
                | Type::BOOL
                | Type::FLOAT8
                | Type::FLOAT4
                | Type::NUMERIC
                | Type::BYTEA
                | Type::TEXT
                | Type::VARCHAR
                | Type::NAME
                | Type::UNKNOWN
        )
    }
}

/// Reads a `numeric`, the type of a sum of whole numbers: digits to base 10,000.
fn numeric(raw: &[u8]) -> std::result::Result<Value<'static>, ValueError> {
    let word = |at: usize| -> std::result::Result<i16, ValueError> {
        let bytes = raw.get(at * 2..at * 2 + 2).ok_or("a numeric is cut off")?;
        Ok(i16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let (n_digits, weight, sign) = (word(0)?, i32::from(word(1)?), word(2)?.cast_unsigned());
    if !matches!(sign, 0x0000 | 0x4000) {
        return Err("a numeric is not a number".into());
    }
    let is_negative = sign == 0x4000;
    let mut digits = Vec::new();
    for place in 0..usize::try_from(n_digits)? {
        digits.push(i64::from(word(4 + place)?));
    }
    let n_whole = usize::try_from(weight + 1).unwrap_or(0);
    if digits.iter().skip(n_whole).all(|digit| *digit == 0) {
        let mut n: i64 = 0;
        for place in 0..n_whole {
            let digit = digits.get(place).copied().unwrap_or(0);
            n = n.checked_mul(10_000).and_then(|n| n.checked_add(digit)).ok_or("too large")?;
        }
        return Ok(Value::Int(if is_negative { -n } else { n }));
    }
    let mut number = 0.0;
    for (place, digit) in (0..).zip(&digits) {
        #[expect(clippy::cast_precision_loss, reason = "a digit has four figures")]
        let digit = *digit as f64;
        number += digit * 10_000_f64.powi(weight - place);
    }
    Ok(Value::Real(if is_negative { -number } else { number }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(weight: i16, sign: u16, digits: &[i16]) -> Vec<u8> {
        let head = [digits.len() as i16, weight, sign.cast_signed(), 0];
        head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn sums_and_means_are_read() {
        assert_eq!(numeric(&wire(0, 0, &[])).unwrap(), Value::Int(0));
        assert_eq!(numeric(&wire(1, 0, &[12, 3456])).unwrap(), Value::Int(123_456));
        assert_eq!(numeric(&wire(2, 0x4000, &[1])).unwrap(), Value::Int(-100_000_000));
        assert_eq!(numeric(&wire(0, 0, &[1, 5000])).unwrap(), Value::Real(1.5));
        assert_eq!(numeric(&wire(-1, 0, &[2500])).unwrap(), Value::Real(0.25));
        assert!(numeric(&wire(0, 0xc000, &[])).is_err());
        assert!(numeric(&[0, 1]).is_err());
    }
}
