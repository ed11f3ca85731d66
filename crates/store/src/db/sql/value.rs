//! The values that cross the border to a database: null, whole number, number, text and bytes.

use super::{Result, SqlError};

/// A value of a parameter or of a column. It borrows texts and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn as_str(self) -> Result<&'a str> {
        match self {
            Value::Text(text) => Ok(text),
            other => Err(other.unexpected("a text")),
        }
    }

    pub fn as_str_or_null(self) -> Result<Option<&'a str>> {
        match self {
            Value::Null => Ok(None),
            other => other.as_str().map(Some),
        }
    }

    pub fn as_blob(self) -> Result<&'a [u8]> {
        match self {
            Value::Blob(bytes) => Ok(bytes),
            other => Err(other.unexpected("bytes")),
        }
    }

    pub fn as_blob_or_null(self) -> Result<Option<&'a [u8]>> {
        match self {
            Value::Null => Ok(None),
            other => other.as_blob().map(Some),
        }
    }

    fn as_i64(self) -> Result<i64> {
        match self {
            Value::Int(n) => Ok(n),
            other => Err(other.unexpected("a whole number")),
        }
    }

    fn unexpected(self, expected: &'static str) -> SqlError {
        let found = match self {
            Value::Null => "null",
            Value::Int(_) => "a whole number",
            Value::Real(_) => "a number",
            Value::Text(_) => "a text",
            Value::Blob(_) => "bytes",
        };
        SqlError::value(format!("{expected} was expected, but the column holds {found}"))
    }
}

/// A type that can be a parameter.
pub(crate) trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

impl ToValue for Value<'_> {
    fn to_value(&self) -> Value<'_> {
        *self
    }
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl ToValue for $number {
            fn to_value(&self) -> Value<'_> {
                Value::Int(i64::from(*self))
            }
        }
    )*};
}

whole_numbers!(i64 i32 u32 u16 u8 bool);

impl ToValue for f64 {
    fn to_value(&self) -> Value<'_> {
        Value::Real(*self)
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<const N: usize> ToValue for [u8; N] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl ToValue for Vec<u8> {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value<'_> {
        (**self).to_value()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, ToValue::to_value)
    }
}

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value<'_>) -> Result<Self>;
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Result<i64> {
        value.as_i64()
    }
}

macro_rules! smaller_numbers {
    ($($number:ty)*) => {$(
        impl FromValue for $number {
            fn from_value(value: Value<'_>) -> Result<$number> {
                let n = value.as_i64()?;
                <$number>::try_from(n)
                    .map_err(|_| SqlError::value(format!("{n} does not fit the column's range")))
            }
        }
    )*};
}

smaller_numbers!(i32 u32 u16 u8);

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Result<bool> {
        value.as_i64().map(|n| n != 0)
    }
}

impl FromValue for f64 {
    fn from_value(value: Value<'_>) -> Result<f64> {
        match value {
            Value::Real(number) => Ok(number),
            // Both databases return a whole number where a calculation had only whole numbers.
            #[expect(clippy::cast_precision_loss, reason = "sums and means, not identities")]
            Value::Int(n) => Ok(n as f64),
            other => Err(other.unexpected("a number")),
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Result<String> {
        value.as_str().map(str::to_owned)
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Result<Vec<u8>> {
        value.as_blob().map(<[u8]>::to_vec)
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Result<[u8; N]> {
        let bytes = value.as_blob()?;
        bytes.try_into().map_err(|_| {
            SqlError::value(format!("{N} bytes were expected, but there are {}", bytes.len()))
        })
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Option<T>> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}
