//! Parses the times of traces: RFC 3339, or seconds or milliseconds since 1970.
//!
//! Nearly all rows of a large trace have the form `2017-06-21T10:00:00Z`. This module parses these
//! 20 bytes itself; [`feed::Time`] parses everything else.

use feed::Time;

/// Numbers from here on are milliseconds. As seconds they would be after the year 5000.
const MILLIS_FROM: i64 = 100_000_000_000;

/// Returns the time that a field means; `None` if it is not a time.
pub(super) fn moment(text: &[u8]) -> Option<Time> {
    plain(text).or_else(|| number(text)).or_else(|| {
        let time: Time = std::str::from_utf8(text).ok()?.parse().ok()?;
        (Time::MIN..=Time::MAX).contains(&time).then_some(time)
    })
}

/// `2017-06-21T10:00:00Z`, or a space instead of the `T`.
fn plain(text: &[u8]) -> Option<Time> {
    let text: &[u8; 20] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':'), (19, b'Z')];
    if marks.iter().any(|(i, mark)| text[*i] != *mark) || !matches!(text[10], b'T' | b' ') {
        return None;
    }
    let two = |i: usize| digits(&text[i..i + 2]);
    let (year, month, day) = (digits(&text[..4])?, two(5)?, two(8)?);
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let valid = (1..=12).contains(&month) && (1..=month_days).contains(&day) && year > 0;
    if !valid || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(Time::from_secs(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second))
}

/// Returns the days since 1970. Years begin in March here, so that the leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // Months from March on have 31, 30, 31, 30, 31 days, repeatedly: 153 in five.
    let of_year = (153 * month + 2) / 5 + day - 1;
    // 1970-01-01 is 719,468 days after the first of March of the year 0.
    year * 365 + leap_days + of_year - 719_468
}

fn digits(text: &[u8]) -> Option<i64> {
    let digit = |n: i64, b: &u8| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0'));
    text.iter().try_fold(0, digit)
}

/// `1310792400`, `1310792400.5` or `1310792400500`.
fn number(text: &[u8]) -> Option<Time> {
    let (sign, text) = match text.split_first()? {
        (b'-', rest) => (-1, rest),
        _ => (1, text),
    };
    let mut parts = text.splitn(2, |b| *b == b'.');
    let (whole, decimals) = (parts.next()?, parts.next());
    if whole.is_empty() || whole.len() > 15 || decimals.is_some_and(<[u8]>::is_empty) {
        return None;
    }
    let whole = digits(whole)?;
    let mut ms = 0;
    for (place, byte) in decimals.unwrap_or_default().iter().enumerate() {
        let digit = digits(&[*byte])?;
        ms += match place {
            0 => digit * 100,
            1 => digit * 10,
            2 => digit,
            _ => 0,
        };
    }
    let millis = if whole >= MILLIS_FROM { whole } else { whole * 1000 + ms };
    let time = Time::from_millis(sign * millis);
    (Time::MIN..=Time::MAX).contains(&time).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_way_agrees_with_the_library_on_every_day_of_five_centuries() {
        for day in -40_000..140_000_i64 {
            let time = Time::from_secs(day * 86_400 + 45_296);
            assert_eq!(plain(time.to_string().as_bytes()), Some(time));
        }
        for wrong in ["2023-02-29T00:00:00Z", "2023-04-31T00:00:00Z", "2023-13-01T00:00:00Z"] {
            assert_eq!(moment(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn times_come_as_rfc_3339_seconds_or_milliseconds() {
        let same = [
            "2011-07-16T05:00:00Z",
            "2011-07-16 05:00:00Z",
            "2011-07-16T07:00:00+02:00",
            "2011-07-16T05:00:00.000Z",
            "1310792400",
            "1310792400.0",
            "1310792400000",
        ];
        for text in same {
            assert_eq!(moment(text.as_bytes()), Some(Time::from_secs(1_310_792_400)), "{text}");
        }
        assert_eq!(moment(b"1310792400.25"), Some(Time::from_millis(1_310_792_400_250)));
        assert_eq!(moment(b"-1"), Some(Time::from_secs(-1)));
        for none in ["", "yesterday", "16.07.2011", "1.", "-", "9999999999999999", "2011-07-16"] {
            assert_eq!(moment(none.as_bytes()), None, "{none}");
        }
    }
}
