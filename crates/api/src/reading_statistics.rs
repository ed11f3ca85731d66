//! The statistics of one person: what they opened by feed, tag, hour and week, and the feeds that
//! they hardly open. Page and JSON API show the same figures.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use feed::{FeedId, Time};
use store::{AccountId, ENTRIES_COUNTED_MAX, FeedFilter, OpenedCounts, Store, StoreError};
use suggest::{OpenedShare, RARELY_SPAN, is_rarely_opened};

use crate::suggestions::shown_title;
use crate::words::LocalNow;
use crate::zone::Zone;

/// Whole weeks that are shown, the present one included: 90 days and a little.
const WEEKS: usize = 13;
/// Subscriptions that are looked at. Nobody reads more.
const FEEDS_MAX: u32 = 2000;
const WEEK_DAYS: i64 = 7;
const DAY_SECS: i64 = 86_400;

/// The statistics of one person over 90 days.
pub struct ReadingStatistics {
    /// The first day with a count, if it is within the 90 days; else their first day.
    pub since: Time,
    /// Whether anything was counted at all.
    pub is_counted: bool,
    pub opened: u64,
    /// The feeds that the person reads, with opened entries, the most first.
    pub feeds: Vec<FeedShare>,
    /// Opened entries of feeds that the person no longer reads.
    pub elsewhere: u64,
    /// Opened entries of the feeds of each tag, the most first.
    pub tags: Vec<(String, u64)>,
    /// By hour of the day, in the zone of the person.
    pub hours: [u64; 24],
    /// By week, the present one last, with its Monday at noon UTC.
    pub weeks: Vec<(Time, u64)>,
    /// Feeds that the person hardly opens, the least opened and largest first.
    pub rarely: Vec<FeedShare>,
}

/// A feed with the part of its entries that the person has opened.
pub struct FeedShare {
    pub feed: FeedId,
    pub title: String,
    pub share: OpenedShare,
}

impl FeedShare {
    /// Returns the number of entries in words. Archives are not counted to their end.
    pub fn entries(&self) -> String {
        match self.share.entries {
            n if n >= ENTRIES_COUNTED_MAX => format!("more than {n}"),
            n => n.to_string(),
        }
    }

    /// Returns the days over which entries were counted.
    pub fn days(&self) -> u64 {
        self.share.over.as_secs() / DAY_SECS.unsigned_abs()
    }
}

/// A subscription, as far as statistics need it.
struct Subscribed {
    feed: FeedId,
    since: Time,
    tags: Vec<String>,
}

/// Returns the statistics of an account.
pub fn reading_statistics(
    store: &Store,
    account: AccountId,
    now: LocalNow,
) -> Result<ReadingStatistics, StoreError> {
    let first = now.at - RARELY_SPAN;
    let counts = store.opened_counts(account, first)?;
    let since = counts.counted_since.map_or(first, |counted| counted.max(first));
    let subscribed = subscribed(store, account)?;
    let opened: HashMap<FeedId, u64> = counts.by_feed.iter().copied().collect();
    let mut tags: BTreeMap<&str, u64> = BTreeMap::new();
    let mut own = 0;
    for one in &subscribed {
        let n = opened.get(&one.feed).copied().unwrap_or(0);
        own += n;
        for tag in one.tags.iter().filter(|_| n > 0) {
            *tags.entry(tag).or_default() += n;
        }
    }
    let mut tags: Vec<(String, u64)> =
        tags.into_iter().map(|(tag, n)| (tag.to_owned(), n)).collect();
    tags.sort_by(|(one, a), (other, b)| b.cmp(a).then(one.cmp(other)));
    let all: u64 = opened.values().sum();
    let mut feeds = shares(store, account, &subscribed, &opened, since, now.at)?;
    let mut rarely: Vec<FeedShare> = Vec::new();
    if counts.counted_since.is_some() {
        rarely.extend(feeds.extract_if(.., |one| is_rarely_opened(one.share)));
    }
    rarely.sort_by_key(|one| (one.share.opened, u64::MAX - one.share.entries, one.feed));
    feeds.retain(|one| one.share.opened > 0);
    feeds.sort_by_key(|one| (u64::MAX - one.share.opened, one.feed));
    Ok(ReadingStatistics {
        since,
        is_counted: counts.counted_since.is_some(),
        opened: all,
        feeds,
        elsewhere: all.saturating_sub(own),
        tags,
        hours: by_hour(&counts, now.zone),
        weeks: by_week(&counts, now),
        rarely,
    })
}

fn subscribed(store: &Store, account: AccountId) -> Result<Vec<Subscribed>, StoreError> {
    if account != AccountId::LOCAL {
        let rows = store.subscriptions(account)?.into_iter().take(FEEDS_MAX as usize);
        let row = |row: store::SubscriptionRow| Subscribed {
            feed: row.feed,
            since: row.subscribed_at,
            tags: row.tags,
        };
        return Ok(rows.map(row).collect());
    }
    let filter = FeedFilter { limit: Some(FEEDS_MAX), ..FeedFilter::default() };
    let rows = store.feeds(&filter)?.into_iter();
    let is_own = |tag: &String| !tag.starts_with(store::QUERY_TAG);
    let row = |row: store::FeedRow| Subscribed {
        feed: row.id,
        since: row.added_at,
        tags: row.tags.into_iter().filter(is_own).collect(),
    };
    Ok(rows.map(row).collect())
}

/// Returns the feeds with their opened part, since the beginning of each subscription.
fn shares(
    store: &Store,
    account: AccountId,
    subscribed: &[Subscribed],
    opened: &HashMap<FeedId, u64>,
    since: Time,
    now: Time,
) -> Result<Vec<FeedShare>, StoreError> {
    let names = store.feed_names_of(account, subscribed.iter().map(|one| one.feed))?;
    let feeds: Vec<FeedId> = subscribed.iter().map(|one| one.feed).collect();
    let counted = store.entries_since(account, &feeds, since)?;
    let entries: HashMap<FeedId, u64> = feeds.into_iter().zip(counted).collect();
    let share = |one: &Subscribed| {
        let opened = opened.get(&one.feed).copied().unwrap_or(0);
        // An entry may be opened long after its publication.
        let entries = entries.get(&one.feed).copied().unwrap_or(0).max(opened);
        let over: Duration = now.since(one.since.max(since));
        let title = names.get(&one.feed).map(shown_title).unwrap_or_default();
        FeedShare { feed: one.feed, title, share: OpenedShare { opened, entries, over } }
    };
    Ok(subscribed.iter().map(share).collect())
}

fn by_hour(counts: &OpenedCounts, zone: Zone) -> [u64; 24] {
    let mut hours = [0; 24];
    for (at, n) in &counts.by_hour {
        let hour = (at.secs() + zone.ahead(*at)).div_euclid(3600).rem_euclid(24);
        hours[usize::try_from(hour).unwrap_or(0)] += n;
    }
    hours
}

/// Returns the number of the week that a moment belongs to; 0 began on Monday, 29 December 1969.
fn week(at: Time, zone: Zone) -> i64 {
    ((at.secs() + zone.ahead(at)).div_euclid(DAY_SECS) + 3).div_euclid(WEEK_DAYS)
}

fn by_week(counts: &OpenedCounts, now: LocalNow) -> Vec<(Time, u64)> {
    let last = week(now.at, now.zone);
    let mut weeks = vec![0; WEEKS];
    for (at, n) in &counts.by_hour {
        let back = usize::try_from(last - week(*at, now.zone)).unwrap_or(usize::MAX);
        if let Some(place) = (WEEKS - 1).checked_sub(back) {
            weeks[place] += n;
        }
    }
    let monday = |place: usize| {
        let number = last + 1 + place as i64 - WEEKS as i64;
        Time::from_secs((number * WEEK_DAYS - 3) * DAY_SECS + DAY_SECS / 2)
    };
    weeks.into_iter().enumerate().map(|(place, n)| (monday(place), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_weeks_are_those_of_the_person() {
        // Sunday at 23:00 UTC is Monday at 8 in Tokyo.
        let sunday: Time = "2023-11-12T23:00:00Z".parse().unwrap();
        let counts = OpenedCounts { by_hour: vec![(sunday, 4)], ..OpenedCounts::default() };
        let tokyo = Zone::named("Asia/Tokyo").unwrap();
        assert_eq!(by_hour(&counts, tokyo)[8], 4);
        assert_eq!(by_hour(&counts, Zone::UTC)[23], 4);
        let at: Time = "2023-11-14T12:00:00Z".parse().unwrap();
        let in_tokyo = by_week(&counts, LocalNow { at, zone: tokyo });
        assert_eq!(in_tokyo.len(), WEEKS);
        assert_eq!(in_tokyo[12], ("2023-11-13T12:00:00Z".parse().unwrap(), 4));
        let in_utc = by_week(&counts, LocalNow { at, zone: Zone::UTC });
        assert_eq!((in_utc[11].1, in_utc[12].1), (4, 0));
    }
}
