//! Dates as pages write them: mostly ISO 8601, sometimes a mail date or English words. A date
//! without a zone counts as UTC.

use feed::Time;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::TimeZone;

/// Bytes of a date. Longer texts are not dates.
const DATE_BYTES_MAX: usize = 64;

/// Formats with words. The first ones have a time of day.
const WITH_TIME: [&str; 4] =
    ["%B %d, %Y %I:%M %p", "%b %d, %Y %I:%M %p", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M"];
const WITHOUT_TIME: [&str; 6] =
    ["%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d", "%Y%m%d"];

/// Returns the time that a text names.
pub fn time(text: &str) -> Option<Time> {
    let text = text.trim();
    if text.is_empty() || text.len() > DATE_BYTES_MAX {
        return None;
    }
    let civil = |at: DateTime| at.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let parsed = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(civil))
        .or_else(|| text.parse::<Date>().ok().and_then(|day| civil(day.at(0, 0, 0, 0))))
        .or_else(|| rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()))
        .or_else(|| {
            let words = WITH_TIME
                .iter()
                .find_map(|format| strtime::parse(format, text).ok()?.to_datetime().ok());
            words.and_then(civil)
        })
        .or_else(|| {
            let day = WITHOUT_TIME
                .iter()
                .find_map(|format| strtime::parse(format, text).ok()?.to_date().ok());
            day.and_then(|day| civil(day.at(0, 0, 0, 0)))
        })?;
    let time = Time::from_millis(parsed.as_millisecond());
    (Time::MIN..=Time::MAX).contains(&time).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_real_pages_are_read() {
        for (text, expect) in [
            ("2015-07-24T05:36:09+01:00", "2015-07-24T04:36:09Z"),
            ("2017-03-10T17:07:25+0100", "2017-03-10T16:07:25Z"),
            ("2015-10-15T02:19:15.607Z", "2015-10-15T02:19:15Z"),
            ("2017-11-03 03:01:00.000000", "2017-11-03T03:01:00Z"),
            ("2015-04-30T07:19:58", "2015-04-30T07:19:58Z"),
            ("2024-06-25", "2024-06-25T00:00:00Z"),
            (" 20240625 ", "2024-06-25T00:00:00Z"),
            ("Thu, 11 Aug 2016 09:00:00 -0400", "2016-08-11T13:00:00Z"),
            ("March 5, 2019", "2019-03-05T00:00:00Z"),
            ("5 Mar 2019", "2019-03-05T00:00:00Z"),
            ("Mar 5, 2019 2:30 PM", "2019-03-05T14:30:00Z"),
        ] {
            assert_eq!(time(text).map(|t| t.to_string()).as_deref(), Some(expect), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_dates() {
        for text in ["", "yesterday", "99", "2024-13-01", &"2024-06-25 ".repeat(10)] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
