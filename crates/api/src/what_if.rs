//! Replays of the feeds' own history with other rules. A replay takes seconds to minutes, so one
//! background job does it. The store keeps its result until the next one. The calculation belongs
//! to the lab and comes in as a closure.

use std::sync::{Arc, Mutex, PoisonError};

use feed::Time;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};

/// The key of the setting in the store.
const KEY: &str = "page.what-if";

/// The results of a replay.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ReplayResult {
    pub made_at: String,
    pub from: String,
    pub to: String,
    /// The policy in use, and other policies.
    pub rules: Vec<RuleResult>,
    /// One strategy with several budgets, smallest first.
    pub steps: Vec<RuleResult>,
    /// Each rule in a sentence.
    pub words: Vec<String>,
    /// The limits of what a replay can show.
    pub blind_spots: String,
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RuleResult {
    pub name: String,
    /// The budget as the form writes it; empty for a policy.
    pub budget: String,
    pub polls_per_day: f64,
    pub delay_secs: Option<f64>,
    pub found: u64,
    pub missed: u64,
    pub current: bool,
}

/// Replays the history. The argument receives the number of steps done and of all steps.
pub type ReplayFn = dyn Fn(&dyn Fn(usize, usize)) -> Result<ReplayResult, String> + Send + Sync;

/// The background job that replays the history, and its progress.
#[derive(Clone, Default)]
pub struct ReplayJob {
    replay: Option<Arc<ReplayFn>>,
    state: Arc<Mutex<ReplayState>>,
}

/// The state of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayState {
    /// Steps done and all steps, while the job runs.
    pub running: Option<(usize, usize)>,
    pub failed: Option<String>,
}

impl ReplayJob {
    pub fn new(replay: Arc<ReplayFn>) -> ReplayJob {
        ReplayJob { replay: Some(replay), state: Arc::default() }
    }

    pub fn state(&self) -> ReplayState {
        self.lock().clone()
    }

    /// Starts the job, unless it runs already or no replay function was given.
    pub fn start(&self, store: &Store, now: Time) {
        let Some(replay) = self.replay.clone() else { return };
        {
            let mut state = self.lock();
            if state.running.is_some() {
                return;
            }
            *state = ReplayState { running: Some((0, 0)), failed: None };
        }
        let (job, store) = (self.clone(), store.clone());
        let reporter = self.clone();
        let made = tokio::task::spawn_blocking(move || {
            let report = |done, of| reporter.lock().running = Some((done, of));
            replay(&report).and_then(|result| {
                let result = ReplayResult { made_at: now.to_string(), ..result };
                save(&store, &result).map_err(|error| error.to_string())
            })
        });
        tokio::spawn(async move {
            // The log has the panic already. The state must not say that the job still runs.
            let broken = |_| Err("the replay crashed; see the log".to_owned());
            let failed = made.await.unwrap_or_else(broken).err();
            *job.lock() = ReplayState { running: None, failed };
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ReplayState> {
        // A panic elsewhere cannot leave these values half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores a result in place of the last one.
pub fn save(store: &Store, result: &ReplayResult) -> Result<(), StoreError> {
    // Texts and numbers always serialise.
    let text = serde_json::to_string(result).unwrap_or_default();
    store.set_own_setting(KEY, Some(&text))
}

/// Returns the last result. A result of another version that cannot be read counts as none.
pub fn last(store: &Store) -> Result<Option<ReplayResult>, StoreError> {
    Ok(store.setting(KEY)?.and_then(|text| serde_json::from_str(&text).ok()))
}

#[cfg(test)]
mod tests {
    use store::OpenMode;

    use super::*;

    #[tokio::test]
    async fn a_replay_that_crashed_can_be_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let job = ReplayJob::new(Arc::new(|report| {
            report(1, 9);
            panic!("as a fault in the lab would")
        }));
        for _ in 0..2 {
            job.start(&store, Time::from_secs(0));
            for _ in 0..20_000 {
                if job.state().running.is_none() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let state = job.state();
            assert_eq!(state.running, None);
            assert!(state.failed.is_some_and(|why| why.contains("crashed")));
        }
    }
}
