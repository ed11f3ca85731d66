//! A feed and its polls as the API shows them. Secrets in addresses are masked.

use dispatch::command::PollSummary;
use store::{FeedRow, FeedState, PollRow, Settings};

use crate::v1::schema::answer;

answer! {
    /// A feed.
    Feed {
        /// Its number.
        id: u32,
        /// Its address as subscribed, secrets masked.
        url: String,
        /// The address after permanent redirects.
        effective_url: Option<String>,
        /// Its registrable domain.
        domain: String,
        /// The title to show: our own, or else the publisher's.
        title: Option<String>,
        /// The title that was given to it here.
        given_title: Option<String>,
        /// The address of its site.
        site: Option<String>,
        /// Its language, as the feed says.
        language: Option<String>,
        /// The publisher's categories of the whole feed.
        categories: Vec<String>,
        /// Its tags.
        tags: Vec<String>,
        /// `active`, `backing-off`, `damaged`, `gone` or `paused`.
        state: &'static str,
        /// When it was added.
        added_at: String,
        /// The number of its stored entries.
        entries: u64,
        /// When it was polled last.
        last_poll: Option<String>,
        /// How that poll ended: `seen`, `unchanged`, `gone`, `refused`, `failed` or
        /// `damaged`.
        last_outcome: Option<String>,
        /// The last poll that succeeded.
        last_success: Option<String>,
        /// The last poll that found new entries.
        last_change: Option<String>,
        /// When it is polled next.
        next_poll: Option<String>,
        /// When its policy alone would poll it.
        wanted_at: Option<String>,
        /// The reasons for the time of the next poll, a sentence each.
        why: Vec<String>,
        /// Failures in a row.
        failures: u32,
        /// The last error.
        error: Option<String>,
        /// Its own settings.
        settings: FeedSettings,
        /// The region that it asks for; null: any, or that of a tag or its domain.
        region: Option<String>,
    }

    /// The settings; null means the default.
    FeedSettings {
        /// The policy.
        policy: Option<String>,
        /// The shortest interval, in seconds.
        alpha_seconds: Option<u64>,
        /// The longest interval, in seconds.
        beta_seconds: Option<u64>,
        /// The longest delay that is acceptable, in seconds.
        max_delay_seconds: Option<u64>,
        /// How much its entries count.
        weight: Option<f64>,
        /// Whether it is paused.
        paused: Option<bool>,
    }

    /// A poll as it was recorded.
    Poll {
        /// When its request was sent.
        at: String,
        /// `seen`, `unchanged`, `gone`, `refused`, `failed` or
        /// `damaged`.
        outcome: String,
        /// The HTTP status of the response.
        status: Option<u16>,
        /// New entries.
        new: u64,
        /// Entries in the window.
        window: u64,
        /// Entries shared with the window before.
        overlap: u64,
        /// Whether no entry of the window before was left, so that entries may have been missed.
        suspected_miss: bool,
        /// Bytes received.
        bytes: u64,
        /// How long it took.
        elapsed_ms: u64,
        /// Why the poll happened at this time.
        made_because: Option<String>,
        /// The rule that changed the time of the next poll.
        held: Option<String>,
        /// When the policy wanted the next poll.
        wanted_at: Option<String>,
        /// When the next poll was scheduled.
        next_poll: Option<String>,
        /// The error.
        error: Option<String>,
        /// Repairs and omissions of the parser.
        warnings: Vec<String>,
    }

    /// The result of a requested poll.
    PollAnswer {
        /// The feed's number.
        feed: u32,
        /// `seen`, `unchanged`, `gone`, `refused`, `failed` or
        /// `damaged`.
        outcome: String,
        /// New entries.
        new: usize,
        /// Whether entries may have been missed before.
        suspected_miss: bool,
        /// When it is polled next.
        next_poll: Option<String>,
        /// The result in words.
        detail: String,
    }
}

impl From<PollSummary> for PollAnswer {
    fn from(polled: PollSummary) -> PollAnswer {
        PollAnswer {
            feed: polled.feed,
            outcome: polled.outcome,
            new: polled.new,
            suspected_miss: polled.suspected_miss,
            next_poll: polled.next_poll,
            detail: polled.detail,
        }
    }
}

impl From<&Settings> for FeedSettings {
    fn from(settings: &Settings) -> FeedSettings {
        FeedSettings {
            policy: settings.policy.clone(),
            alpha_seconds: settings.alpha.map(|d| d.as_secs()),
            beta_seconds: settings.beta.map(|d| d.as_secs()),
            max_delay_seconds: settings.max_delay.map(|d| d.as_secs()),
            weight: settings.weight,
            paused: settings.paused,
        }
    }
}

impl Feed {
    pub fn new(row: &FeedRow) -> Feed {
        let rests = !row.state().is_polled();
        let gone = row.location.gone.as_ref().map(|gone| gone.reason.clone());
        let mut why = Vec::new();
        match row.state() {
            FeedState::Gone => why.extend(gone.clone()),
            FeedState::Paused => why.push("it is paused".to_owned()),
            _ => {
                if row.history.last_poll_at.is_none() {
                    why.push("a feed that was never polled is due at once".to_owned());
                }
                why.extend(row.schedule.why.reason.clone());
                why.extend(row.schedule.why.held.clone());
            }
        }
        Feed {
            id: row.id.0,
            url: row.location.url.masked(),
            effective_url: row.location.effective_url.as_ref().map(|url| url.masked()),
            domain: row.domain.clone(),
            title: row.shown_title().map(str::to_owned),
            given_title: row.given_title.clone(),
            site: row.facts.site.clone(),
            language: row.facts.language.clone(),
            categories: row.facts.categories.clone(),
            tags: row.tags.clone(),
            state: row.state().word(),
            added_at: row.added_at.to_string(),
            entries: row.entries,
            last_poll: row.history.last_poll_at.map(|t| t.to_string()),
            last_outcome: row.last_outcome.map(|outcome| outcome.word().to_owned()),
            last_success: row.history.last_success_at.map(|t| t.to_string()),
            last_change: row.history.last_change_at.map(|t| t.to_string()),
            next_poll: row.schedule.next_at.filter(|_| !rests).map(|t| t.to_string()),
            wanted_at: row.schedule.wanted_at.filter(|_| !rests).map(|t| t.to_string()),
            why,
            failures: row.history.failures,
            error: gone.or_else(|| row.error().map(str::to_owned)),
            settings: (&row.settings).into(),
            region: row.region.clone(),
        }
    }
}

impl Poll {
    pub fn new(row: &PollRow) -> Poll {
        Poll {
            at: row.at.to_string(),
            outcome: row.outcome.word().to_owned(),
            status: row.status,
            new: row.n_new,
            window: row.window_len,
            overlap: row.overlap,
            suspected_miss: row.suspected_miss,
            bytes: row.bytes,
            elapsed_ms: u64::try_from(row.elapsed.as_millis()).unwrap_or(u64::MAX),
            made_because: row.cause().map(|cause| cause.to_string()),
            held: row.held.clone(),
            wanted_at: row.wanted_at.map(|t| t.to_string()),
            next_poll: row.next_at.map(|t| t.to_string()),
            error: row.error.clone(),
            warnings: row.warnings.clone(),
        }
    }
}
