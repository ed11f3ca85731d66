//! The rules of `rules.txt`, and the sites without feeds.

use std::sync::LazyLock;

/// One rule.
pub struct SiteRule {
    /// Hosts, separated by commas; `*` is any host.
    pub hosts: &'static str,
    pub path: &'static str,
    /// Templates of addresses, separated by spaces.
    pub feeds: &'static str,
    /// A page, and one feed that the rule makes of it.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test tries each"))]
    pub example: (&'static str, &'static str),
}

impl SiteRule {
    /// Whether the rule is known by the path alone.
    pub fn is_guess(&self) -> bool {
        self.hosts == "*"
    }
}

/// All rules, in the order of the file. A line that cannot be read is left out; a test counts them.
pub static RULES: LazyLock<Vec<SiteRule>> = LazyLock::new(|| rows().filter_map(read).collect());

/// The lines of the file that hold a rule.
pub fn rows() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("rules.txt").lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read(line: &'static str) -> Option<SiteRule> {
    let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [hosts, path, feeds, page, feed] = columns[..] else { return None };
    Some(SiteRule { hosts, path, feeds, example: (page, feed) })
}

/// Hosts without feeds, and the words for a person.
pub const SILENT: &[(&str, &str)] = &[
    ("instagram.com", "Instagram has no feeds; a bridge that you run yourself can make one"),
    (
        "facebook.com m.facebook.com fb.com",
        "Facebook has no feeds; look for the page's own website",
    ),
    ("x.com twitter.com mobile.twitter.com", "X (Twitter) has no feeds; look for another account"),
    ("tiktok.com", "TikTok has no feeds; a bridge that you run yourself can make one"),
    ("t.me telegram.me", "Telegram has no feeds; a bridge that you run yourself can make one"),
    ("open.spotify.com", "Spotify has no feeds; look for the show in another podcast directory"),
    ("groups.google.com", "Google Groups has no feeds since 2021; subscribe by mail instead"),
    ("threads.net threads.com", "Threads has no feeds; look for the person on Mastodon or a blog"),
    ("linkedin.com", "LinkedIn has no feeds; look for the company's own website"),
];
