//! Duplicates among the feeds that an instance polls. It proposes, and merges nothing.

use parse::discover::format_twins;

use crate::resources::{ResourceFacts, resource_duplicates};

/// Two feeds that are probably the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedDuplicate {
    /// The place of the feed to keep, and of the one to remove.
    pub kept: usize,
    pub superfluous: usize,
    pub why: String,
}

/// Finds duplicates: the same feed in another format, or at another address.
pub fn own_duplicates(feeds: &[ResourceFacts]) -> Vec<ProposedDuplicate> {
    let urls: Vec<&str> = feeds.iter().map(|feed| feed.url.as_str()).collect();
    let mut found: Vec<ProposedDuplicate> = Vec::new();
    let twins = format_twins(&urls);
    for (superfluous, twin) in twins.iter().enumerate() {
        if let Some(twin) = twin {
            let why = "is the same feed in another format".to_owned();
            found.push(ProposedDuplicate { kept: twin.kept(), superfluous, why });
        }
    }
    let left: Vec<usize> = (0..feeds.len()).filter(|i| twins[*i].is_none()).collect();
    let facts: Vec<&ResourceFacts> = left.iter().map(|i| &feeds[*i]).collect();
    for (place, same) in resource_duplicates(&facts).into_iter().enumerate() {
        if let Some((kept, why)) = same {
            let (kept, superfluous) = (left[kept], left[place]);
            found.push(ProposedDuplicate { kept, superfluous, why: why.to_string() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_addresses_are_compared() {
        let facts = |url: &str, start: u64| ResourceFacts {
            url: url.to_owned(),
            final_url: url.to_owned(),
            body: start + 1,
            self_link: None,
            keys: (start..start + 9).collect(),
        };
        let feeds = [
            facts("https://a.example/rss.xml", 0),
            facts("https://b.example/", 50),
            facts("https://a.example/atom.xml", 100),
            facts("http://b.example/", 200),
        ];
        let found: Vec<(usize, usize)> =
            own_duplicates(&feeds).iter().map(|d| (d.kept, d.superfluous)).collect();
        assert_eq!(found, [(2, 0), (1, 3)]);
    }
}
