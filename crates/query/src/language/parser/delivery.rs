//! Parses `DELIVER TO …` and checks receivers as far as possible without a network.

use feed::FeedUrl;

use super::cursor::TokenCursor;
use super::value::period;
use crate::Fault;
use crate::language::ast::Deliver;

/// The longest address that mail servers take (RFC 5321).
const EMAIL_BYTES_MAX: usize = 254;
/// File systems take 255 bytes for each part of a path.
const PATH_BYTES_MAX: usize = 200;
/// For digests more often than this, use a webhook.
const DIGEST_MIN_SECS: u64 = 600;

pub(super) fn deliver(cursor: &mut TokenCursor<'_>) -> Result<Deliver, Fault> {
    cursor.expect("TO")?;
    if cursor.accept("WEBHOOK") {
        return webhook(cursor);
    }
    if cursor.accept("FILE") {
        return file(cursor);
    }
    if cursor.accept("EMAIL") {
        return email(cursor);
    }
    Err(cursor.expected(&["WEBHOOK", "FILE", "EMAIL"]))
}

fn webhook(cursor: &mut TokenCursor<'_>) -> Result<Deliver, Fault> {
    let at = cursor.position();
    let text = cursor.text()?;
    let url = FeedUrl::parse(&text).map_err(|_| {
        let help = "write it as \"https://example.org/hook\"";
        Fault::new(at, "this is not a web address").help(help)
    })?;
    let signed_by = if cursor.accept("SIGNED") {
        cursor.expect("BY")?;
        Some(cursor.text()?)
    } else {
        None
    };
    Ok(Deliver::Webhook { url, signed_by })
}

/// Parses a path below the data folder. A statement may come by HTTP and must not name other files.
fn file(cursor: &mut TokenCursor<'_>) -> Result<Deliver, Fault> {
    let at = cursor.position();
    let path = cursor.text()?;
    let bad_part = |part: &str| part.is_empty() || part == "." || part == "..";
    let bad_char = |c: char| c.is_control() || matches!(c, '\\' | ':');
    if path.len() > PATH_BYTES_MAX || path.split('/').any(bad_part) || path.contains(bad_char) {
        let help = "write a relative path without `..`, such as \"volcano.jsonl\"";
        return Err(Fault::new(at, "the path must be inside the data folder").help(help));
    }
    let rolling = if cursor.accept("ROLLING") {
        cursor.expect("EVERY")?;
        Some(period(cursor)?)
    } else {
        None
    };
    Ok(Deliver::File { path, rolling })
}

fn email(cursor: &mut TokenCursor<'_>) -> Result<Deliver, Fault> {
    let at = cursor.position();
    let to = cursor.text()?;
    let (name, host) = to.split_once('@').unwrap_or((&to, ""));
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '@' | ',' | '<' | '>');
    let bad = name.is_empty() || host.is_empty() || name.contains(odd) || host.contains(odd);
    if bad || to.len() > EMAIL_BYTES_MAX {
        let help = "write one address, such as \"ann@example.org\"";
        return Err(Fault::new(at, "this is not an e-mail address").help(help));
    }
    cursor.expect("EVERY")?;
    let at = cursor.position();
    let every = period(cursor)?;
    if every.as_secs() < DIGEST_MIN_SECS {
        let help = "use a webhook to get every entry at once";
        return Err(Fault::new(at, "the shortest interval of a digest is 10 MINUTES").help(help));
    }
    let at_minute = if cursor.accept("AT") { Some(minute(cursor)?) } else { None };
    Ok(Deliver::Email { to, every, at_minute })
}

/// `"07:30"`, in UTC.
fn minute(cursor: &mut TokenCursor<'_>) -> Result<u16, Fault> {
    let at = cursor.position();
    let text = cursor.text()?;
    let two = |part: &str, below: u16| {
        let whole = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<u16>().ok().filter(|n| whole && *n < below)
    };
    let time = text.split_once(':').and_then(|(h, m)| Some(two(h, 24)? * 60 + two(m, 60)?));
    time.ok_or_else(|| {
        Fault::new(at, "this is not a time of day").help("write it as \"07:30\", in UTC")
    })
}
