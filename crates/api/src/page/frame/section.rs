//! The sections of the navigation, with their names and paths.

/// A section of the site, in the order of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavSection {
    Read,
    Feeds,
    Queries,
    Budget,
    Lab,
    Health,
    Account,
}

impl NavSection {
    pub const NAVIGATION: [NavSection; 6] = [
        NavSection::Read,
        NavSection::Feeds,
        NavSection::Queries,
        NavSection::Budget,
        NavSection::Lab,
        NavSection::Health,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            NavSection::Read => "Read",
            NavSection::Feeds => "Feeds",
            NavSection::Queries => "Queries",
            NavSection::Budget => "Budget",
            NavSection::Lab => "Lab",
            NavSection::Health => "Health",
            NavSection::Account => "Account",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            NavSection::Read => "/",
            NavSection::Feeds => "/feeds",
            NavSection::Queries => "/queries",
            NavSection::Budget => "/budget",
            NavSection::Lab => "/lab",
            NavSection::Health => "/health",
            NavSection::Account => "/account",
        }
    }
}
