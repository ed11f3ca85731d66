//! Reads response headers: dates, freshness, Retry-After. An invalid header counts as absent.

use std::time::Duration;

use feed::{ExchangeFacts, HttpVersion, RetryAfter, Time, Validators};
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{StatusCode, Version};
use url::Url;

use crate::link;

/// Longer validators are not stored: servers that send kilobytes refuse to take them back.
pub const VALIDATOR_BYTES_MAX: usize = 2048;

pub(crate) fn facts(
    url: &Url,
    status: StatusCode,
    version: Version,
    headers: &HeaderMap,
) -> ExchangeFacts {
    ExchangeFacts {
        status: Some(status.as_u16()),
        http_version: match version {
            Version::HTTP_10 => Some(HttpVersion::Http10),
            Version::HTTP_11 => Some(HttpVersion::Http11),
            Version::HTTP_2 => Some(HttpVersion::Http2),
            _ => None,
        },
        date: text(headers, &header::DATE).and_then(date),
        max_age: max_age(headers).map(|max_age| max_age.saturating_sub(age(headers))),
        expires: text(headers, &header::EXPIRES).and_then(date),
        retry_after: text(headers, &header::RETRY_AFTER).and_then(retry_after),
        links: link::links(url, headers),
        noarchive: noarchive(headers),
        wire_bytes: head_bytes(status, headers),
        elapsed: Duration::ZERO,
    }
}

/// Whether `X-Robots-Tag` asks all programs, or ours, not to show copies. The name of a program
/// counts for the rules after it.
fn noarchive(headers: &HeaderMap) -> bool {
    headers.get_all("x-robots-tag").iter().any(|value| {
        let Ok(text) = value.to_str() else { return false };
        let text = text.to_ascii_lowercase();
        let mut is_for_us = true;
        text.split(',').any(|rule| {
            let named = rule.split_once(':').filter(|(name, _)| is_agent(name.trim()));
            if let Some((name, _)) = named {
                is_for_us = name.trim() == "tidings";
            }
            is_for_us && named.map_or(rule, |(_, rule)| rule).trim() == "noarchive"
        })
    })
}

/// Whether the word before a colon is the name of a program. Some rules have a value after a colon.
fn is_agent(name: &str) -> bool {
    let is_rule = name.starts_with("max-") || name == "unavailable_after";
    !is_rule && !name.contains(char::is_whitespace)
}

pub(crate) fn validators(headers: &HeaderMap) -> Validators {
    let kept = |name| {
        let value = headers.get(name)?.as_bytes();
        (!value.is_empty() && value.len() <= VALIDATOR_BYTES_MAX).then(|| value.to_vec())
    };
    Validators { etag: kept(header::ETAG), last_modified: kept(header::LAST_MODIFIED) }
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Returns the size of the head as HTTP/1 would write it. The library does not say what was on the
/// wire.
fn head_bytes(status: StatusCode, headers: &HeaderMap) -> u64 {
    let reason = status.canonical_reason().unwrap_or("").len();
    let lines: usize = headers.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    ("HTTP/1.1 200 \r\n\r\n".len() + reason + lines) as u64
}

/// Returns how long the answer was in a cache.
fn age(headers: &HeaderMap) -> Duration {
    let seconds = text(headers, &header::AGE).and_then(|t| t.parse().ok());
    seconds.map_or(Duration::ZERO, Duration::from_secs)
}

fn max_age(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get_all(header::CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(|directive| {
            let (name, seconds) = directive.split_once('=')?;
            let ours = name.trim().eq_ignore_ascii_case("max-age");
            ours.then(|| seconds.trim().trim_matches('"').parse().ok()).flatten()
        })
        .map(Duration::from_secs)
}

/// Returns how long the server keeps an unused connection, if it says so (`Keep-Alive: timeout=5`).
pub(crate) fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("keep-alive")?.to_str().ok()?;
    value.split(',').find_map(|part| {
        let (name, seconds) = part.split_once('=')?;
        let ours = name.trim().eq_ignore_ascii_case("timeout");
        ours.then(|| seconds.trim().parse().ok().map(Duration::from_secs)).flatten()
    })
}

fn retry_after(text: &str) -> Option<RetryAfter> {
    match text.parse() {
        Ok(seconds) => Some(RetryAfter::After(Duration::from_secs(seconds))),
        Err(_) => date(text).map(RetryAfter::At),
    }
}

/// Reads an HTTP date in any of its three forms (RFC 9110, 5.6.7), also with `UTC` or `+0000` for
/// `GMT`.
fn date(text: &str) -> Option<Time> {
    let mut words = text.split([' ', ',', '-']).filter(|w| !w.is_empty());
    let _weekday = words.next()?;
    let (first, second, third, fourth) =
        (words.next()?, words.next()?, words.next()?, words.next()?);
    let (day, month, year, clock) = match month_of(first) {
        // asctime: Sun Nov  6 08:49:37 1994
        Some(month) => (second, month, fourth, third),
        None => (first, month_of(second)?, third, fourth),
    };
    if !matches!(words.next(), None | Some("GMT" | "UTC" | "+0000" | "0000")) {
        return None;
    }
    let day: i64 = day.parse().ok().filter(|d| (1..=31).contains(d))?;
    let year = match (year.len(), year.parse::<i64>().ok()?) {
        (4, year) => year,
        // RFC 850 has two digits. HTTP is younger than 1970, and these servers are old.
        (2, year) => year + if year < 70 { 2000 } else { 1900 },
        _ => return None,
    };
    let mut parts = clock.split(':').map(|p| p.parse::<i64>().ok());
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    let valid = (0..24).contains(&h) && (0..60).contains(&m) && (0..=60).contains(&s);
    valid.then(|| {
        Time::from_secs(days_since_1970(year, month, day) * 86_400 + h * 3600 + m * 60 + s)
    })
}

fn month_of(name: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let at = NAMES.iter().position(|n| n.eq_ignore_ascii_case(name))?;
    i64::try_from(at + 1).ok()
}

/// Returns the days since 1970-01-01 in the Gregorian calendar. Years start in March here, so that
/// the leap day is the last day of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_of_a_date_are_read() {
        let expect = Some(Time::from_secs(784_111_777));
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), expect);
        assert_eq!(date("Sunday, 06-Nov-94 08:49:37 GMT"), expect);
        assert_eq!(date("Sun Nov  6 08:49:37 1994"), expect);
        assert_eq!(date("Sun, 6 Nov 1994 08:49:37 +0000"), expect);
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), "2024-02-29T00:00:00Z".parse().ok());
        assert_eq!(date("Wed, 31 Dec 1969 23:59:59 GMT"), Some(Time::from_secs(-1)));
    }

    #[test]
    fn a_header_may_forbid_copies() {
        for (value, expect) in [
            ("noarchive", true),
            ("noindex, NOARCHIVE", true),
            ("tidings: noarchive", true),
            ("otherbot: noarchive", false),
            ("otherbot: noindex, noarchive", false),
            ("otherbot: noindex, tidings: noarchive", true),
            ("tidings: max-snippet: 5, noarchive", true),
            ("noarchive, max-snippet:-1", true),
            ("max-image-preview:large, noarchive", true),
            ("unavailable_after: 25 Jun 2030 15:00:00 PST, noarchive", true),
            ("unavailable_after: Tuesday, 25-Jun-30 15:00:00 UTC, noarchive", true),
            ("noindex", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-robots-tag", value.parse().unwrap());
            assert_eq!(noarchive(&headers), expect, "{value}");
        }
        assert!(!noarchive(&HeaderMap::new()));
    }

    #[test]
    fn what_is_not_a_date_is_absent() {
        let odd = [
            "0",
            "-1",
            "",
            "now",
            "Sun, 06 Nov 1994",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CEST",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, 40 Nov 1994 08:49:37 GMT",
        ];
        for text in odd {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after("120"), Some(RetryAfter::After(Duration::from_secs(120))));
        let at = RetryAfter::At(Time::from_secs(784_111_777));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(at));
        assert_eq!(retry_after("soon"), None);
        assert_eq!(retry_after("-5"), None);
    }

    #[test]
    fn max_age_is_found_among_the_directives() {
        let headers = |values: &[&'static str]| {
            let mut map = HeaderMap::new();
            for value in values {
                map.append(header::CACHE_CONTROL, header::HeaderValue::from_static(value));
            }
            map
        };
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(max_age(&headers(&["public, Max-Age=300"])), seconds(300));
        assert_eq!(max_age(&headers(&["public", "max-age=\"60\", s-maxage=5"])), seconds(60));
        assert_eq!(max_age(&headers(&["s-maxage=5"])), None);
        assert_eq!(max_age(&headers(&["max-age=soon"])), None);
    }
}
