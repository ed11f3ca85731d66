//! Repairs publication times. A publisher's date is a claim; the repaired time is used for all
//! calculations, and the claim is kept with it. Identity and novelty never depend on dates.
//!
//! The rules follow source 003, chapter 3 (docs/notes/sources.md). An item without a date gets the
//! poll's time. If all items carry the response's own `Date`, they were generated on the fly and
//! count as undated. A date in the future becomes the poll's time. A new item dated before the
//! previous poll gets the poll's time.

use std::time::Duration;

use crate::{Item, Time};

/// A claim this far in the future is not an error: dates are in whole seconds, and many servers are
/// a few seconds ahead.
const FUTURE_TOLERANCE: Duration = Duration::from_secs(5);

/// Dates within this distance of the response's `Date` count as equal to it.
const ON_THE_FLY_TOLERANCE: Duration = Duration::from_secs(1);

/// The largest clock skew that is corrected. A larger one is as likely to come from a cached or
/// broken `Date` header.
const SKEW_MAX: Duration = Duration::from_secs(6 * 3600);

/// A publication time with its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The publisher's own date.
    pub claim: Option<Time>,
    /// The repaired time.
    pub at: Time,
}

/// The judgement on the dates of a whole document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentDates {
    /// Every item carries the time at which the response was made.
    pub on_the_fly: bool,
    /// Milliseconds by which the publisher's clock runs ahead of ours.
    pub skew_ms: i64,
}

impl DocumentDates {
    /// Judges the dates of a document that came with the response header `Date` at the poll `at`.
    /// `on_the_fly` is the result of [`DocumentDates::are_on_the_fly`] for its items.
    pub fn new(on_the_fly: bool, response_date: Option<Time>, at: Time) -> DocumentDates {
        let Some(response_date) = response_date else { return DocumentDates::default() };
        let skew = response_date.millis_since(at);
        let believable = u128::from(skew.unsigned_abs()) <= SKEW_MAX.as_millis();
        // `Date` has whole seconds and the request took some time: a difference below two seconds
        // is ignored.
        let skew_ms = if believable && skew.abs() >= 2000 { skew } else { 0 };
        DocumentDates { on_the_fly, skew_ms }
    }

    /// Returns whether every item carries the time at which the response was made.
    pub fn are_on_the_fly(items: &[Item], response_date: Option<Time>) -> bool {
        let Some(response_date) = response_date else { return false };
        let date = |item: &Item| item.published.or(item.updated);
        let near = |t: Time| {
            u128::from(t.millis_since(response_date).unsigned_abs())
                <= ON_THE_FLY_TOLERANCE.as_millis()
        };
        // One entry that was published just now is new, not a generated date.
        items.len() >= 2
            && items.iter().all(|item| date(item).is_some_and(near))
            && items.windows(2).all(|pair| date(&pair[0]) == date(&pair[1]))
    }
}

/// Repairs the time of one item found by the poll `at`. `previous` is the last successful poll
/// before it, if any, and is given for new entries.
pub fn repair(item: &Item, dates: DocumentDates, at: Time, previous: Option<Time>) -> Published {
    let claim = item.published.or(item.updated);
    let Some(claimed) = claim.filter(|_| !dates.on_the_fly) else {
        return Published { claim, at };
    };
    let corrected = claimed.shifted(-dates.skew_ms);
    if corrected > at + FUTURE_TOLERANCE || previous.is_some_and(|p| corrected < p) {
        return Published { claim, at };
    }
    Published { claim, at: corrected.min(at) }
}

/// Returns the date of a new item if it is before the `previous` poll: the item became visible
/// later than it says. The date is corrected for clock skew. Dates made on the fly do not count.
pub fn late(item: &Item, dates: DocumentDates, previous: Option<Time>) -> Option<Time> {
    let claimed = item.published.or(item.updated).filter(|_| !dates.on_the_fly)?;
    let corrected = claimed.shifted(-dates.skew_ms);
    previous.filter(|p| corrected < *p).map(|_| corrected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dated(secs: i64) -> Item {
        Item { published: Some(Time::from_secs(secs)), ..Item::default() }
    }

    fn judge(items: &[Item], response_date: Time, at: Time) -> DocumentDates {
        let response_date = Some(response_date);
        let on_the_fly = DocumentDates::are_on_the_fly(items, response_date);
        DocumentDates::new(on_the_fly, response_date, at)
    }

    /// The row `correct_timestamps` of the reference vectors: inside, in the future, too old.
    #[test]
    fn a_claim_outside_the_last_two_polls_is_replaced_by_the_poll_time() {
        let (at, previous) = (Time::from_secs(1_310_817_600), Time::from_secs(1_310_796_000));
        let results = [1_310_810_400, 1_310_821_200, 1_310_785_200]
            .map(|s| repair(&dated(s), DocumentDates::default(), at, Some(previous)).at.secs());
        assert_eq!(results, [1_310_810_400, 1_310_817_600, 1_310_817_600]);
    }

    #[test]
    fn a_new_item_dated_before_the_last_poll_is_late_and_others_are_not() {
        let previous = Some(Time::from_secs(1000));
        let late_of = |item: &Item, dates| late(item, dates, previous).map(Time::secs);
        let plain = DocumentDates::default();
        assert_eq!([400, 1000, 1600].map(|s| late_of(&dated(s), plain)), [Some(400), None, None]);
        assert_eq!(late_of(&Item::default(), plain), None, "undated is not late");
        assert_eq!(late(&dated(400), plain, None), None, "the feed was never polled before");
        let skewed = DocumentDates { skew_ms: 100_000, on_the_fly: false };
        assert_eq!(late_of(&dated(1050), skewed), Some(950));
        let made = DocumentDates { on_the_fly: true, ..plain };
        assert_eq!(late_of(&dated(400), made), None);
    }

    #[test]
    fn the_claim_is_kept_with_the_correction() {
        let p = repair(&dated(900), DocumentDates::default(), Time::from_secs(500), None);
        assert_eq!(p, Published { claim: Some(Time::from_secs(900)), at: Time::from_secs(500) });
    }

    #[test]
    fn dates_made_for_the_response_count_as_undated() {
        let items = [dated(1000), dated(1000)];
        let at = Time::from_secs(1001);
        let dates = judge(&items, Time::from_secs(1000), at);
        assert!(dates.on_the_fly);
        assert_eq!(repair(&items[0], dates, at, None).at, at);
    }

    #[test]
    fn one_item_published_just_now_is_not_on_the_fly() {
        let dates = judge(&[dated(1000)], Time::from_secs(1000), Time::from_secs(1000));
        assert!(!dates.on_the_fly);
    }

    #[test]
    fn a_publisher_whose_clock_is_ahead_is_corrected_by_its_date_header() {
        let at = Time::from_secs(10_000);
        let dates = judge(&[dated(10_500)], Time::from_secs(10_600), at);
        assert_eq!(repair(&dated(10_500), dates, at, None).at, Time::from_secs(9_900));
    }
}
