//! A value that may own its text or bytes. Functions return rows of them, which both ways of
//! writing use: one row at a time, or many rows as lists.

use std::borrow::Cow;

use super::{Params, ToValue, Value};

/// A value of a row that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Blob(Cow<'a, [u8]>),
}

impl ToValue for Datum<'_> {
    fn to_value(&self) -> Value<'_> {
        match self {
            Datum::Null => Value::Null,
            Datum::Int(n) => Value::Int(*n),
            Datum::Real(number) => Value::Real(*number),
            Datum::Text(text) => Value::Text(text),
            Datum::Blob(bytes) => Value::Blob(bytes),
        }
    }
}

impl Params for &[Datum<'_>] {
    fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        super::params::pass_all(self.iter().map(ToValue::to_value), run)
    }
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Datum<'_> {
            fn from(n: $number) -> Self {
                Datum::Int(i64::from(n))
            }
        }
    )*};
}

whole_numbers!(i64 u32 u16 bool);

impl From<f64> for Datum<'_> {
    fn from(number: f64) -> Self {
        Datum::Real(number)
    }
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(text: &'a str) -> Self {
        Datum::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Datum<'a> {
    fn from(text: &'a String) -> Self {
        Datum::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Datum<'_> {
    fn from(text: String) -> Self {
        Datum::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for Datum<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Datum::Blob(Cow::Borrowed(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Datum<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Datum::Blob(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Datum<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Datum::Blob(Cow::Owned(bytes))
    }
}

impl<'a> From<&'a [u8; 16]> for Datum<'a> {
    fn from(bytes: &'a [u8; 16]) -> Self {
        Datum::Blob(Cow::Borrowed(bytes))
    }
}

impl From<[u8; 16]> for Datum<'_> {
    fn from(bytes: [u8; 16]) -> Self {
        Datum::Blob(Cow::Owned(bytes.to_vec()))
    }
}

impl<'a, T: Into<Datum<'a>>> From<Option<T>> for Datum<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Datum::Null, Into::into)
    }
}

impl<'a> From<&'a Option<String>> for Datum<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_deref().into()
    }
}

impl<'a> From<&'a Option<Vec<u8>>> for Datum<'a> {
    fn from(bytes: &'a Option<Vec<u8>>) -> Self {
        bytes.as_deref().into()
    }
}

/// Lists the values of a row.
macro_rules! row {
    ($($value:expr),* $(,)?) => { [$($crate::db::sql::Datum::from($value)),*] };
}

pub(crate) use row;
