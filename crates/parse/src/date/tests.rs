//! Dates as real feeds write them, and dates that are refused.

use super::parse;

#[track_caller]
fn check(text: &str, expect: &str) {
    let shown = parse(text).map(|t| t.to_string()).unwrap_or_default();
    assert_eq!(shown, expect, "{text}");
}

#[test]
fn mail_dates_with_every_usual_slip() {
    check("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z");
    check("Thu, 1 Jan 04 19:48 GMT", "2004-01-01T19:48:00Z");
    check("Thu,  01  January  2004 19:48:21 +0100", "2004-01-01T18:48:21Z");
    check("01 Jan 2004 19:48:21 -0500", "2004-01-02T00:48:21Z");
    check("Tues, 01 Jan 2004 9:8:1 EST", "2004-01-01T14:08:01Z");
    check("Thu, 01 Jan 2004 00:00:00", "2004-01-01T00:00:00Z");
    check("Thu, 01 Jan 2004", "2004-01-01T00:00:00Z");
    check("Jan 1, 2004 7:48:21 PM", "2004-01-01T19:48:21Z");
    check("January 1, 2004 12:05 AM", "2004-01-01T00:05:00Z");
    check("Thursday, January 1st, 2004", "2004-01-01T00:00:00Z");
    check("Thu, 31 Jun 2004 19:48:21 GMT", "");
    check("Thu, 01 Jan 100 00:00:00 GMT", "2000-01-01T00:00:00Z");
}

#[test]
fn zone_names_are_looked_up_and_unknown_ones_are_not_taken_for_utc() {
    check("Thu, 01 Jan 2004 10:00:00 CEST", "2004-01-01T08:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 JST", "2004-01-01T01:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 PT", "2004-01-01T18:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 GMT+2", "2004-01-01T08:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 +0200 (CEST)", "2004-01-01T08:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 Z", "2004-01-01T10:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 +5:30", "2004-01-01T04:30:00Z");
    check("Thu, 01 Jan 2004 10:00:00 Pacific Standard Time", "2004-01-01T18:00:00Z");
    check("Thu, 01 Jan 2004 10:00:00 XYZT", "");
}

#[test]
fn iso_dates_in_all_lengths() {
    check("2003-12-31T10:14:55Z", "2003-12-31T10:14:55Z");
    check("2003-12-31T10:14:55.123456-08:00", "2003-12-31T18:14:55Z");
    check("2003-12-31 10:14:55 +0100", "2003-12-31T09:14:55Z");
    check("2003-12-31T10:14:55+0100", "2003-12-31T09:14:55Z");
    check("2003-12-31T10:14Z", "2003-12-31T10:14:00Z");
    check("2003-12-31T24:00:00Z", "2004-01-01T00:00:00Z");
    check("20031231T101455Z", "2003-12-31T10:14:55Z");
    check("20031231", "2003-12-31T00:00:00Z");
    check("2003-12-31", "2003-12-31T00:00:00Z");
    check("2003-365", "2003-12-31T00:00:00Z");
    check("2003-12", "2003-12-01T00:00:00Z");
    check("2003", "2003-01-01T00:00:00Z");
    check("2003/12/31 10:14", "2003-12-31T10:14:00Z");
    check("0001-01-01T00:00:00Z", "");
    check("0000-00-00 00:00:00", "");
}

#[test]
fn other_software_and_other_languages() {
    check("Sun Jan  4 16:29:06 PST 2004", "2004-01-05T00:29:06Z");
    check("Sun Jan 04 16:29:06 2004", "2004-01-04T16:29:06Z");
    check("12/31/2003 10:14:55 AM", "2003-12-31T10:14:55Z");
    check("31/12/2003", "2003-12-31T00:00:00Z");
    check("31.12.2003 10:14", "2003-12-31T10:14:00Z");
    check("mercredi 31 décembre 2003", "2003-12-31T00:00:00Z");
    check("gio, 01 gen 2004 10:00:00 +0100", "2004-01-01T09:00:00Z");
    check("mar, 02 mar 2004 10:00:00 +0100", "2004-03-02T09:00:00Z");
    check("Do, 31 Dez 2003 10:14:55 MEZ", "2003-12-31T09:14:55Z");
    check("31 de diciembre de 2003", "2003-12-31T00:00:00Z");
    check("Πεμ, 08 Ιουλ 2004 20:42:13 EST", "2004-07-09T01:42:13Z");
    check("2004-július-13T9:15-05:00", "2004-07-13T14:15:00Z");
    check("2004-05-25 오후 11:23:17", "2004-05-25T23:23:17Z");
    check("2004년 05월 28일  오후 11:31:58", "2004-05-28T23:31:58Z");
    check("1072865695", "2003-12-31T10:14:55Z");
    check("1072865695123", "2003-12-31T10:14:55Z");
}

#[test]
fn what_is_no_date_is_none() {
    for text in ["", "yesterday", "Monday", "10:00", "99999", "-", "2003-13-01", "32 Jan 2004"] {
        check(text, "");
    }
    check(&"1".repeat(300), "");
}
