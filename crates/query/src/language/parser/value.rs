//! Parses durations, numbers of entries and dates.

use std::time::Duration;

use feed::Time;

use super::cursor::{A_NUMBER, TokenCursor};
use crate::Fault;
use crate::language::ast::{Date, LookBack};
use crate::language::lexer::Token;
use crate::language::show;
use crate::limits::{LOOK_BACK_MAX, REMEMBERED_MAX};

const UNITS: [(&str, &str, u64); 5] = [
    ("SECOND", "SECONDS", 1),
    ("MINUTE", "MINUTES", 60),
    ("HOUR", "HOURS", 3600),
    ("DAY", "DAYS", 86_400),
    ("WEEK", "WEEKS", 604_800),
];

/// `24 HOURS`
pub(super) fn duration(cursor: &mut TokenCursor<'_>) -> Result<Duration, Fault> {
    let at = cursor.position();
    let number = cursor.number()?;
    measured(cursor, number, at)
}

/// `DAY` or `2 DAYS`, after `EVERY`.
pub(super) fn period(cursor: &mut TokenCursor<'_>) -> Result<Duration, Fault> {
    let at = cursor.position();
    let number = match cursor.token() {
        Token::Number(number) => {
            let number = *number;
            cursor.advance();
            number
        }
        _ => 1,
    };
    measured(cursor, number, at)
}

fn measured(cursor: &mut TokenCursor<'_>, n: u64, at: crate::Position) -> Result<Duration, Fault> {
    let unit = UNITS.iter().find(|(one, many, _)| cursor.is_word(one) || cursor.is_word(many));
    let Some((_, _, secs)) = unit else {
        return Err(cursor.expected(&["SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS"]));
    };
    let duration = n.checked_mul(*secs).map(Duration::from_secs);
    match duration {
        Some(Duration::ZERO) => Err(Fault::new(at, "a duration must be at least 1 SECOND")),
        Some(duration) if duration <= LOOK_BACK_MAX => {
            cursor.advance();
            Ok(duration)
        }
        _ => {
            let max = show::duration(LOOK_BACK_MAX);
            Err(Fault::new(at, format!("the duration is longer than {max}")))
        }
    }
}

/// `24 HOURS` or `LAST 50 ITEMS`
pub(super) fn look_back(cursor: &mut TokenCursor<'_>) -> Result<LookBack, Fault> {
    if cursor.accept("LAST") {
        let n = counted(cursor)?;
        if !cursor.accept("ITEMS") && !cursor.accept("ITEM") {
            let fault = cursor.expected(&["ITEMS"]);
            let is_unit = UNITS.iter().any(|(a, b, _)| cursor.is_word(a) || cursor.is_word(b));
            return Err(if is_unit {
                fault.help("write the duration without LAST")
            } else {
                fault
            });
        }
        return Ok(LookBack::Items(n));
    }
    if !matches!(cursor.token(), Token::Number(_)) {
        return Err(cursor.expected(&["a duration", "LAST"]));
    }
    let at = cursor.position();
    let number = cursor.number()?;
    if cursor.is_word("ITEMS") || cursor.is_word("ITEM") {
        let help = format!("write LAST {number} ITEMS");
        return Err(Fault::new(at, "a number of items needs LAST before it").help(help));
    }
    measured(cursor, number, at).map(LookBack::Time)
}

/// `>= 5`, `> 4`
pub(super) fn at_least(cursor: &mut TokenCursor<'_>) -> Result<u32, Fault> {
    if cursor.accept_sign(">=") {
        return counted(cursor);
    }
    if cursor.accept_sign(">") {
        return counted(cursor).map(|n| n + 1);
    }
    let fault = cursor.expected(&["`>=`"]);
    Err(match cursor.token() {
        Token::Sign("<" | "<=") => fault.help("COUNT sets a minimum, not a maximum"),
        Token::Number(n) => {
            let help = format!("write COUNT >= {n}");
            fault.help(help)
        }
        _ => fault,
    })
}

/// Parses a number of entries that an operator may remember.
fn counted(cursor: &mut TokenCursor<'_>) -> Result<u32, Fault> {
    let at = cursor.position();
    if !matches!(cursor.token(), Token::Number(_)) {
        return Err(cursor.expected(&[A_NUMBER]));
    }
    let number = cursor.number()?;
    match u32::try_from(number) {
        Ok(n) if n >= 1 && n as usize <= REMEMBERED_MAX => Ok(n),
        _ => Err(Fault::new(at, format!("the number must be between 1 and {REMEMBERED_MAX}"))),
    }
}

/// `"2011"`, `"2011-07"`, `"2011-07-16"` or `"2011-07-16T05:00:00Z"`
pub(super) fn date(cursor: &mut TokenCursor<'_>) -> Result<Date, Fault> {
    let at = cursor.position();
    let written = cursor.text()?;
    let (start, end) = span(&written).ok_or_else(|| {
        Fault::new(at, format!("`{}` is not a date", written.chars().take(40).collect::<String>()))
            .help("write it as \"2011-07-16\" or \"2011-07-16T05:00:00Z\"")
    })?;
    Ok(Date { written, start, end })
}

fn span(written: &str) -> Option<(Time, Time)> {
    let whole =
        |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = written.split('-').collect();
    let start_of = |year: i32, month: u32| {
        // After December comes January.
        let (year, month) = if month > 12 { (year + 1, 1) } else { (year, month) };
        format!("{year:04}-{month:02}-01T00:00:00Z").parse::<Time>().ok()
    };
    match parts.as_slice() {
        [year] if whole(year, 4) => {
            let year = year.parse().ok()?;
            Some((start_of(year, 1)?, start_of(year, 13)?))
        }
        [year, month] if whole(year, 4) && whole(month, 2) => {
            let (year, month) = (year.parse().ok()?, month.parse().ok()?);
            let start = start_of(year, month).filter(|_| (1..=12).contains(&month))?;
            Some((start, start_of(year, month + 1)?))
        }
        [year, month, day] if whole(year, 4) && whole(month, 2) && whole(day, 2) => {
            let start = format!("{written}T00:00:00Z").parse::<Time>().ok()?;
            Some((start, start + Duration::from_secs(86_400)))
        }
        _ => {
            let start = written.parse::<Time>().ok()?;
            Some((start, start + Duration::from_secs(1)))
        }
    }
}
