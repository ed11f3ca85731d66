//! Time zones by name, from the time zone database of the system. Without a database only UTC is
//! known. A zone is a small number, so that it can be copied like a time.

use std::sync::LazyLock;

use feed::Time;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// The names of all zones, UTC first. The database has about 600; more than 2000 would be a broken
/// folder.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let known = jiff::tz::db().available().map(|name| name.as_str().to_owned());
    let mut names: Vec<String> = known.filter(|name| name != "UTC").take(2000).collect();
    names.sort_unstable();
    names.insert(0, "UTC".to_owned());
    names
});

/// A time zone, as its index in the list of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone(u16);

impl Zone {
    pub const UTC: Zone = Zone(0);

    /// Returns the zone of a name, or `None` if the system does not know the name.
    pub fn named(name: &str) -> Option<Zone> {
        let at = NAMES.iter().position(|known| known == name)?;
        u16::try_from(at).ok().map(Zone)
    }

    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).map_or("UTC", String::as_str)
    }

    /// Returns every name, for a list to choose from.
    pub fn names() -> &'static [String] {
        &NAMES
    }

    pub fn time_zone(self) -> TimeZone {
        match self {
            Zone::UTC => TimeZone::UTC,
            zone => jiff::tz::db().get(zone.name()).unwrap_or(TimeZone::UTC),
        }
    }

    /// Returns how many seconds the zone's clocks are ahead of UTC at a time.
    pub fn ahead(self, at: Time) -> i64 {
        let at = Timestamp::from_second(at.clamp(Time::MIN, Time::MAX).secs());
        let offset = at.map_or(Offset::UTC, |at| self.time_zone().to_offset(at));
        i64::from(offset.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_known_by_name_and_follow_summer_time() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let berlin = Zone::named("Europe/Berlin").expect("the system has a time zone database");
        assert_eq!(berlin.name(), "Europe/Berlin");
        assert_eq!(berlin.ahead(at("2024-07-01T00:00:00Z")), 7200);
        assert_eq!(berlin.ahead(at("2024-01-01T00:00:00Z")), 3600);
        assert_eq!(Zone::named("UTC"), Some(Zone::UTC));
        for name in ["", "Nowhere/Else", "../../etc/passwd", "europe/berlin\0"] {
            assert_eq!(Zone::named(name), None, "{name:?}");
        }
    }
}
