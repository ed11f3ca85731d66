//! Times in tables: RFC 3339 in UTC with milliseconds.

use feed::Time;

/// Writes a time with milliseconds.
pub fn stamp(at: Time) -> String {
    let whole = at.to_string();
    format!("{}.{:03}Z", whole.trim_end_matches('Z'), at.millis().rem_euclid(1000))
}

/// Writes a time for the name of a file: `20110716050000`.
pub fn file_stamp(at: Time) -> String {
    at.to_string().chars().filter(char::is_ascii_digit).take(14).collect()
}

/// A time that every row has.
pub(super) mod required {
    use feed::Time;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(at: &Time, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::stamp(*at))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// A time that may be absent.
pub(super) mod optional {
    use feed::Time;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(at: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&at.map(super::stamp).unwrap_or_default())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_also_before_1970() {
        assert_eq!(stamp(Time::from_millis(-1)), "1969-12-31T23:59:59.999Z");
        assert_eq!(stamp(Time::from_secs(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(file_stamp(Time::from_secs(1_310_792_400)), "20110716050000");
    }
}
