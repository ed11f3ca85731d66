//! The figures of all feeds together, for the page *Population* and for strangers if the operator
//! publishes them. The calculation belongs to the crate `dataset` and comes in as a closure. It
//! takes seconds to minutes, so one background job does it; the store keeps the result.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use feed::Time;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};

/// The keys of the settings in the store.
const ALL: &str = "page.population";
const PUBLIC: &str = "page.population.public";
const TWINS: &str = "page.duplicates";

/// The figures, as the page shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PopulationResult {
    pub made_at: String,
    pub lead: String,
    pub sections: Vec<PopulationSection>,
}

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PopulationSection {
    pub name: String,
    pub title: String,
    /// The place in the source with the published figures.
    pub source: String,
    pub remarks: Vec<String>,
    /// A name, our figure and the published one.
    pub rows: Vec<[String; 3]>,
    pub svg: Option<String>,
}

/// Two feeds that are probably the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct TwinFeeds {
    pub feed: u32,
    pub title: String,
    pub kept: u32,
    pub kept_title: String,
    /// The common property of both feeds, as a predicate of the first.
    pub why: String,
}

/// The figures that a person or a stranger may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopulationScope {
    All,
    /// Without paused feeds and feeds whose address holds a secret.
    Public,
}

/// Calculates the figures.
pub type PopulationFn = dyn Fn(PopulationScope) -> Result<PopulationResult, String> + Send + Sync;

/// The background job that calculates the figures.
#[derive(Clone, Default)]
pub struct PopulationJob {
    calculate: Option<Arc<PopulationFn>>,
    /// Whether strangers may see the public figures and the monthly exports.
    pub is_published: bool,
    state: Arc<Mutex<PopulationState>>,
}

/// The state of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PopulationState {
    pub is_running: bool,
    pub failed: Option<String>,
}

impl PopulationJob {
    pub fn new(calculate: Arc<PopulationFn>, is_published: bool) -> PopulationJob {
        PopulationJob { calculate: Some(calculate), is_published, state: Arc::default() }
    }

    pub fn state(&self) -> PopulationState {
        self.lock().clone()
    }

    /// Starts the job, unless it runs already or nobody can calculate.
    pub fn start(&self, store: &Store, now: Time) {
        let Some(calculate) = self.calculate.clone() else { return };
        {
            let mut state = self.lock();
            if state.is_running {
                return;
            }
            *state = PopulationState { is_running: true, failed: None };
        }
        let (job, store, is_published) = (self.clone(), store.clone(), self.is_published);
        let made = tokio::task::spawn_blocking(move || {
            let scopes = [PopulationScope::All, PopulationScope::Public];
            for scope in scopes.into_iter().take(1 + usize::from(is_published)) {
                let result = PopulationResult { made_at: now.to_string(), ..calculate(scope)? };
                save(&store, scope, &result).map_err(|error| error.to_string())?;
            }
            Ok(())
        });
        tokio::spawn(async move {
            // The log has the panic already. The state must not say that the job still runs.
            let broken = |_| Err("the calculation crashed; see the log".to_owned());
            let failed = made.await.unwrap_or_else(broken).err();
            *job.lock() = PopulationState { is_running: false, failed };
        });
    }

    fn lock(&self) -> MutexGuard<'_, PopulationState> {
        // A panic elsewhere cannot leave these values half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn key(scope: PopulationScope) -> &'static str {
    match scope {
        PopulationScope::All => ALL,
        PopulationScope::Public => PUBLIC,
    }
}

fn save(store: &Store, scope: PopulationScope, made: &PopulationResult) -> Result<(), StoreError> {
    // Texts always serialise.
    let text = serde_json::to_string(made).unwrap_or_default();
    store.set_own_setting(key(scope), Some(&text))
}

/// Returns the last figures. A result of another version that cannot be read counts as none.
pub fn last(store: &Store, scope: PopulationScope) -> Result<Option<PopulationResult>, StoreError> {
    Ok(store.setting(key(scope))?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Stores the feeds that are probably subscribed twice.
pub fn save_twins(store: &Store, twins: &[TwinFeeds]) -> Result<(), StoreError> {
    let text = serde_json::to_string(twins).unwrap_or_default();
    if store.setting(TWINS)?.as_deref() == Some(text.as_str()) {
        return Ok(());
    }
    store.set_own_setting(TWINS, Some(&text))
}

/// Returns the feeds that are probably subscribed twice, if both still exist.
pub fn twins(store: &Store) -> Result<Vec<TwinFeeds>, StoreError> {
    let Some(text) = store.setting(TWINS)? else { return Ok(Vec::new()) };
    let mut found: Vec<TwinFeeds> = serde_json::from_str(&text).unwrap_or_default();
    let mut fault = None;
    found.retain(|pair| {
        let exists = |id: u32| store.find_feed(&id.to_string());
        match (exists(pair.feed), exists(pair.kept)) {
            (Ok(feed), Ok(kept)) => feed.is_some() && kept.is_some(),
            (Err(error), _) | (_, Err(error)) => {
                fault = Some(error);
                false
            }
        }
    });
    fault.map_or(Ok(found), Err)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use store::OpenMode;

    use super::*;

    async fn settled(job: &PopulationJob) -> PopulationState {
        for _ in 0..20_000 {
            if !job.state().is_running {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        job.state()
    }

    #[tokio::test]
    async fn public_figures_are_calculated_only_if_they_are_published() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let calculate: Arc<PopulationFn> = Arc::new(|scope| {
            let lead = format!("{scope:?}");
            Ok(PopulationResult { lead, ..PopulationResult::default() })
        });
        let lead = |scope| last(&store, scope).unwrap().map(|made| made.lead);
        for is_published in [false, true] {
            let job = PopulationJob::new(Arc::clone(&calculate), is_published);
            job.start(&store, Time::from_secs(0));
            assert_eq!(settled(&job).await, PopulationState::default());
            assert_eq!(lead(PopulationScope::All).as_deref(), Some("All"));
            assert_eq!(lead(PopulationScope::Public).is_some(), is_published);
        }
        let job = PopulationJob::new(Arc::new(|_| Err("no room".to_owned())), false);
        job.start(&store, Time::from_secs(0));
        assert_eq!(settled(&job).await.failed.as_deref(), Some("no room"));
    }

    #[test]
    fn a_pair_whose_feed_was_removed_is_not_proposed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let add = |url: &str| {
            let url = feed::FeedUrl::parse(url).unwrap();
            let new = store::NewFeed { url, title: None, site: None, tags: Vec::new() };
            store.add_feed(&new, Time::from_secs(0)).unwrap().id
        };
        let (a, b) = (add("http://a.example/rss"), add("http://a.example/atom"));
        let pair = TwinFeeds { feed: a.0, kept: b.0, ..TwinFeeds::default() };
        save_twins(&store, std::slice::from_ref(&pair)).unwrap();
        assert_eq!(twins(&store).unwrap(), [pair]);
        store.remove_feed(a).unwrap();
        assert_eq!(twins(&store).unwrap(), []);
    }
}
