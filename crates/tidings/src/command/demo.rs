//! `tidings run --demo`: the program serves a hundred synthetic feeds to itself and polls only
//! those, at 600 times real speed.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use demo::{DemoDates, DemoFeed, DemoFormat, Mishap, with_mishaps};
use engine::{Clock, Gaps};
use feed::{FeedUrl, Time};
use lab::world::synth::{self, Population, SynthFeed, WindowVariation};
use store::{Location, NewFeed, OpenMode, Store, StoreError};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::error::{CliError, input_error};

const SPEED: f64 = 600.0;
const FEEDS: usize = 100;
/// At 600 times real speed these days last 7.2 hours.
const DAYS: u16 = 180;
const SEED: u64 = 2011;
/// Keeps a window that grows with every entry below the limits of a document.
const GROWN_WINDOW: usize = 300;
/// The tags of the demonstration. Feeds get them in turn.
const TOPICS: [&str; 8] =
    ["news", "science", "technology", "culture", "sport", "travel", "food", "music"];
/// The setting that marks a folder as a demonstration.
const MARK: &str = "demo";

pub struct Demo {
    pub config: Config,
    pub store: Store,
    pub clock: Clock,
    server: TcpListener,
    feeds: Vec<DemoFeed>,
}

/// Creates a new data folder and draws the feeds. The caller holds the folder's lock.
pub async fn prepare(mut config: Config, now: Time) -> Result<Demo, CliError> {
    refuse_what_is_in_use(&config.store)?;
    match &config.store {
        Location::Folder(folder) => remove_database(folder)?,
        Location::Postgres(_) => Store::wipe(&config.store)?,
    }
    let server = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let port = server.local_addr()?.port();
    let start = now.floor_to_second();
    let spec = synth::PopulationSpec { seed: SEED, feeds: FEEDS, start, days: DAYS };
    let population = Population::draw(&spec);
    let drawn: Vec<DemoFeed> = population.feeds.iter().map(demo_feed).collect();

    config.fetch.allow_private = true;
    config.fetch.loopback_only = true;
    for feed in &drawn {
        config.fetch.resolve.insert(feed.host.clone(), vec![Ipv4Addr::LOCALHOST.into()]);
    }
    config.engine.bounds.alpha = Duration::from_secs(60);
    config.engine.gaps = Gaps { default: Duration::from_secs(2), by_domain: Default::default() };

    let store = Store::open(&config.store, OpenMode::ReadWrite)?;
    store.set_setting(MARK, Some("1"))?;
    let clock = Clock::fast(start, SPEED);
    let new: Result<Vec<NewFeed>, _> = drawn
        .iter()
        .zip(TOPICS.iter().cycle())
        .map(|(feed, topic)| {
            let url = FeedUrl::parse(&feed.url(port))?;
            let tags = vec![(*topic).to_owned()];
            Ok::<_, feed::AddressError>(NewFeed { url, title: None, site: None, tags })
        })
        .collect();
    store.add_feeds(&new?, start)?;
    let feeds = with_mishaps(drawn, start);
    Ok(Demo { config, store, clock, server, feeds })
}

impl Demo {
    /// Serves the feeds until the future ends. Returns the other parts.
    pub fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> (Config, Store, Clock) {
        let clock = self.clock.clone();
        let router = demo::router(self.feeds, Arc::new(move || clock.now()));
        let server = self.server;
        tokio::spawn(async move {
            if let Err(error) = api::serve(server, router, shutdown).await {
                tracing::error!(%error, "the demonstration's server ended");
            }
        });
        (self.config, self.store, self.clock)
    }
}

/// Refuses a folder with somebody's data, because a demonstration would replace it.
fn refuse_what_is_in_use(place: &Location) -> Result<(), CliError> {
    let store = match Store::open(place, OpenMode::ReadOnly) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => return Ok(()),
        // A store that cannot be read may hold somebody's feeds.
        Err(error) => return Err(error.into()),
    };
    if store.setting(MARK)?.is_some() {
        return Ok(());
    }
    let held = if !store.feed_ids(None)?.is_empty() {
        "other feeds"
    } else if store.has_accounts()? {
        "accounts"
    } else if !store.queries()?.is_empty() {
        "queries"
    } else {
        return Ok(());
    };
    let own = match place {
        Location::Folder(_) => "its own folder (--data DIR)",
        Location::Postgres(_) => "its own database or schema (--database)",
    };
    Err(input_error(format!("{} holds {held}; give the demonstration {own}", place.shown())))
}

/// Removes the old database: a demonstration always starts with a new clock and new feeds.
fn remove_database(folder: &Path) -> Result<(), CliError> {
    for name in ["tidings.db", "tidings.db-wal", "tidings.db-shm"] {
        let path: PathBuf = folder.join(name);
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn demo_feed(drawn: &SynthFeed) -> DemoFeed {
    let format = match drawn.format {
        synth::SynthFormat::Atom10 => DemoFormat::Atom,
        synth::SynthFormat::Rss20 | synth::SynthFormat::Rss10 => DemoFormat::Rss,
    };
    let dates = match drawn.dates {
        synth::SynthDates::True => DemoDates::True,
        synth::SynthDates::Absent => DemoDates::Absent,
        synth::SynthDates::OnTheFly => DemoDates::OnTheFly,
    };
    let all = drawn.times.len().min(GROWN_WINDOW);
    let (window, age_max, mishap) = match drawn.varies {
        None => (drawn.window, None, None),
        Some(WindowVariation::Grows) => (all, None, None),
        Some(WindowVariation::Holds(time)) => (all, Some(time), None),
        Some(WindowVariation::WithEmpty) => (drawn.window, None, Some(Mishap::Empties)),
    };
    DemoFeed {
        host: drawn.domain.clone(),
        path: format!("/{}.xml", drawn.name),
        title: drawn.title.clone(),
        format,
        times: drawn.times.clone(),
        window,
        age_max,
        with_ids: drawn.ids,
        dates,
        ttl: drawn.ttl,
        supports_304: drawn.supports_304,
        mishap,
    }
}
