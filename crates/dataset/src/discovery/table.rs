//! Table 3.2 of the dissertation: the number of addresses after each step, compared with the
//! published numbers.

use serde::Serialize;

/// The counts of one run. Names are those of `tidings discover --from --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiscoveryCounts {
    /// Lines of the list, without empty ones and comments.
    pub read: u64,
    pub unreachable: u64,
    pub not_a_feed: u64,
    pub exact_duplicates: u64,
    pub session_urls: u64,
    pub format_duplicates: u64,
    pub content_duplicates: u64,
    pub sampled: u64,
    /// Lines that are not addresses.
    #[serde(skip)]
    pub not_an_address: u64,
    /// Links to feeds on all pages, repeated ones included.
    #[serde(skip)]
    pub links: u64,
    #[serde(skip)]
    pub pages_with_links: u64,
    /// Links that are exact duplicates or carry a session id.
    #[serde(skip)]
    pub links_not_asked: u64,
    /// Addresses that answered with a feed.
    #[serde(skip)]
    pub answered: u64,
    /// Addresses that are the beginning of another one: the prefix rule as printed.
    #[serde(skip)]
    pub printed_prefixes: u64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunnelStep {
    /// The number of the list in the dissertation.
    pub list: Option<u8>,
    pub name: &'static str,
    pub ours: u64,
    pub published: Option<u64>,
}

/// The published lists 2 to 7.
const PUBLISHED: [u64; 6] = [8_262_000, 3_814_955, 1_529_086, 1_341_661, 994_413, 200_000];

impl DiscoveryCounts {
    /// Returns the rows of table 3.2. The dissertation had no step for content duplicates.
    pub fn table(&self) -> Vec<FunnelStep> {
        let after_format = self.answered.saturating_sub(self.format_duplicates);
        let after_content = after_format.saturating_sub(self.content_duplicates);
        let links_asked = self.links.saturating_sub(self.links_not_asked);
        let step = |list: u8, name, ours| {
            let published = PUBLISHED.get(usize::from(list) - 2).copied();
            FunnelStep { list: Some(list), name, ours, published }
        };
        vec![
            step(2, "addresses read", self.read),
            step(3, "links to feeds found (autodiscovery)", self.links),
            step(4, "without exact duplicates and session ids", links_asked),
            step(5, "that answered with a feed", self.answered),
            step(6, "without format duplicates", after_format),
            FunnelStep {
                list: None,
                name: "without content duplicates",
                ours: after_content,
                published: None,
            },
            step(7, "sampled", self.sampled),
        ]
    }
}

impl DiscoveryCounts {
    /// Returns the number of addresses that each step dropped, in the order of the steps.
    pub fn drops(&self) -> [(&'static str, u64); 7] {
        [
            ("not an address", self.not_an_address),
            ("unreachable", self.unreachable),
            ("neither a feed nor a page with a link to one", self.not_a_feed),
            ("exact duplicate", self.exact_duplicates),
            ("session id in the address", self.session_urls),
            ("the same feed in another format", self.format_duplicates),
            ("the same feed at another address", self.content_duplicates),
        ]
    }
}

/// Returns what a step left of the step before, in per cent.
pub fn left_percent(before: u64, after: u64) -> Option<f64> {
    (before > 0).then(|| 100.0 * after as f64 / before as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares that the text gives for the published lists.
    #[test]
    fn published_shares_follow_from_the_published_lists() {
        let dropped = |i: usize| {
            let left = left_percent(PUBLISHED[i - 1], PUBLISHED[i]).unwrap();
            ((100.0 - left) * 10.0).round() / 10.0
        };
        assert_eq!([dropped(2), dropped(3), dropped(4)], [59.9, 12.3, 25.9]);
        assert!((PUBLISHED[1] as f64 / PUBLISHED[0] as f64 - 0.46).abs() < 0.005);
    }

    #[test]
    fn the_table_has_the_lists_in_order() {
        let counts = DiscoveryCounts {
            read: 100,
            links: 50,
            exact_duplicates: 5,
            session_urls: 1,
            links_not_asked: 6,
            answered: 40,
            format_duplicates: 10,
            content_duplicates: 2,
            sampled: 20,
            ..DiscoveryCounts::default()
        };
        let ours: Vec<u64> = counts.table().iter().map(|step| step.ours).collect();
        assert_eq!(ours, [100, 50, 44, 40, 30, 28, 20]);
    }
}
