//! What other rules would have done with the feeds' own history. Replaying takes seconds to
//! minutes, so it is one job behind the page; what came of it is stored and shown until the next.
//! How it is reckoned is the lab's, which comes in as a closure.

use std::sync::{Arc, Mutex, PoisonError};

use feed::Time;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};

/// The key of the setting in the store.
const KEY: &str = "page.what-if";

/// What the replays came to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Outlook {
    pub made_at: String,
    pub from: String,
    pub to: String,
    /// What is in use, and other policies.
    pub rules: Vec<Rule>,
    /// One strategy at growing budgets, the smallest first.
    pub steps: Vec<Rule>,
    /// Each rule in a sentence.
    pub words: Vec<String>,
    /// What the history cannot tell.
    pub blind_spots: String,
}

/// What one rule would have done.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Rule {
    pub name: String,
    /// As the budget's form takes it; empty for a policy.
    pub budget: String,
    pub polls_per_day: f64,
    pub delay_secs: Option<f64>,
    pub found: u64,
    pub missed: u64,
    pub current: bool,
}

/// Replays the history; is told how many of its steps are done.
pub type Replay = dyn Fn(&dyn Fn(usize, usize)) -> Result<Outlook, String> + Send + Sync;

/// The one job, and how far it is.
#[derive(Clone, Default)]
pub struct WhatIf {
    replay: Option<Arc<Replay>>,
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Steps done and steps in all, while it runs.
    pub running: Option<(usize, usize)>,
    pub failed: Option<String>,
}

impl WhatIf {
    pub fn new(replay: Arc<Replay>) -> WhatIf {
        WhatIf { replay: Some(replay), state: Arc::default() }
    }

    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// Begins, unless it runs already or nobody can.
    pub fn begin(&self, store: &Store, now: Time) {
        let Some(replay) = self.replay.clone() else { return };
        {
            let mut state = self.lock();
            if state.running.is_some() {
                return;
            }
            *state = State { running: Some((0, 0)), failed: None };
        }
        let (job, store) = (self.clone(), store.clone());
        let teller = self.clone();
        let made = tokio::task::spawn_blocking(move || {
            let told = |done, of| teller.lock().running = Some((done, of));
            replay(&told).and_then(|outlook| {
                let outlook = Outlook { made_at: now.to_string(), ..outlook };
                keep(&store, &outlook).map_err(|error| error.to_string())
            })
        });
        tokio::spawn(async move {
            // A panic is in the log already; it must not look as if the job went on.
            let broken = |_| Err("the replay broke off; the log says more".to_owned());
            let failed = made.await.unwrap_or_else(broken).err();
            *job.lock() = State { running: None, failed };
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A number and a text: a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores what was reckoned, in place of what was before.
pub fn keep(store: &Store, outlook: &Outlook) -> Result<(), StoreError> {
    // Texts and numbers always have a form.
    let text = serde_json::to_string(outlook).unwrap_or_default();
    store.set_setting(KEY, Some(&text))
}

/// What was reckoned last; what another version stored and this one cannot read is as nothing.
pub fn last(store: &Store) -> Result<Option<Outlook>, StoreError> {
    Ok(store.setting(KEY)?.and_then(|text| serde_json::from_str(&text).ok()))
}

#[cfg(test)]
mod tests {
    use store::OpenMode;

    use super::*;

    #[tokio::test]
    async fn a_replay_that_breaks_off_can_be_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let job = WhatIf::new(Arc::new(|told| {
            told(1, 9);
            panic!("as a fault in the lab would")
        }));
        for _ in 0..2 {
            job.begin(&store, Time::from_secs(0));
            for _ in 0..1000 {
                if job.state().running.is_none() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let state = job.state();
            assert_eq!(state.running, None);
            assert!(state.failed.is_some_and(|why| why.contains("broke off")));
        }
    }
}
