//! Our WebSub hub: asks callbacks to confirm subscription requests ([`verify`]) and pushes
//! published feeds to confirmed subscribers ([`push`]). Each request waits for its turn at its
//! domain. Verifications, pushes and repeated pushes have separate places, so that none waits for
//! another kind. [`Topics`] renders feeds and knows which are published.

mod push;
mod verify;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use feed::{Domain, Time};
use store::{DueSubscriber, StoreError};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use url::Url;

use crate::context::Context;
use crate::lanes::Lanes;

/// The interval between two looks for requests and new entries.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Callbacks that are verified at once, each at another domain. An answer is a few bytes.
const VERIFY_PLACES: usize = 32;
/// Subscribers that are pushed to at once, each at another domain. Each holds the whole feed.
const PUSH_PLACES: usize = 32;
/// The same for subscribers whose last push failed, so that callbacks that hang take only these
/// places.
const RETRY_PLACES: usize = 8;

/// A feed in the form in which it is pushed.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub body: String,
    pub content_type: &'static str,
    /// The address of the hub, as the feed names it.
    pub hub: String,
}

/// The published feeds, by their addresses.
#[derive(Clone)]
pub struct Topics {
    /// Whether a feed is published at an address.
    pub is_open: Lookup<bool>,
    /// Returns the feed at an address; `None` if none is published there.
    pub render: Lookup<Option<Rendered>>,
}

/// A function from an address to a fact about it.
pub type Lookup<T> = Arc<dyn Fn(&str) -> Result<T, StoreError> + Send + Sync>;

/// Domains that asked for fewer verifications, each with the end of the wait.
type RestingDomains = Mutex<HashMap<Domain, Time>>;

/// The kinds of work, each with its own places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HubWorkKind {
    Verify,
    Push,
    Retry,
}

struct Hub {
    context: Arc<Context>,
    topics: Topics,
    resting: Arc<RestingDomains>,
    lanes: [(HubWorkKind, Lanes<i64>); 3],
    tasks: JoinSet<()>,
    /// The kind and the subscription of each task.
    under_way: HashMap<Id, (HubWorkKind, i64)>,
}

/// Serves subscribers until the program stops. A request under way is then cancelled and repeated
/// at the next start.
pub async fn run(context: Arc<Context>, topics: Topics, mut stop: watch::Receiver<bool>) {
    let mut hub = Hub {
        context: Arc::clone(&context),
        topics,
        resting: Arc::default(),
        lanes: [
            (HubWorkKind::Verify, Lanes::new(VERIFY_PLACES)),
            (HubWorkKind::Push, Lanes::new(PUSH_PLACES)),
            (HubWorkKind::Retry, Lanes::new(RETRY_PLACES)),
        ],
        tasks: JoinSet::new(),
        under_way: HashMap::new(),
    };
    while !*stop.borrow() {
        if let Err(error) = hub.look().await {
            tracing::error!(%error, "cannot look for subscribers of the hub");
        }
        tokio::select! {
            Some(ended) = hub.tasks.join_next_with_id() => hub.ended(ended),
            () = context.clock.sleep_until(context.clock.now() + LOOK_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

impl Hub {
    /// Starts all work that is due and has a place.
    async fn look(&mut self) -> Result<(), StoreError> {
        let (store, now) = (&self.context.store, self.context.clock.now());
        store.end_leases(now).await?;
        let [mut wishes, mut pushes, mut retries] = [const { Vec::new() }; 3];
        store.hub_requests_due(now, |due| wishes.push(lane(due)))?;
        store.hub_pushes_due(now, |due| {
            let kind = if due.attempts == 0 { &mut pushes } else { &mut retries };
            kind.push(lane(due));
        })?;
        let mut admitted = Vec::new();
        for ((kind, lanes), due) in self.lanes.iter_mut().zip([wishes, pushes, retries]) {
            admitted.extend(lanes.admit(due).into_iter().map(|id| (*kind, id)));
        }
        for (kind, id) in admitted {
            self.start(kind, id);
        }
        Ok(())
    }

    fn start(&mut self, kind: HubWorkKind, id: i64) {
        let (context, topics) = (Arc::clone(&self.context), self.topics.clone());
        let resting = Arc::clone(&self.resting);
        let task = self.tasks.spawn(async move {
            let served = match kind {
                HubWorkKind::Verify => verify::verify(&context, &topics, &resting, id).await,
                HubWorkKind::Push | HubWorkKind::Retry => push::push(&context, &topics, id).await,
            };
            if let Err(error) = served {
                tracing::error!(%error, "cannot store the result of a hub request; it is repeated");
            }
        });
        self.under_way.insert(task.id(), (kind, id));
    }

    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) {
        let task = match ended {
            Ok((task, ())) => task,
            Err(error) => {
                tracing::error!(%error, "internal error in the hub; please report it");
                error.id()
            }
        };
        let Some((kind, id)) = self.under_way.remove(&task) else { return };
        let lanes = self.lanes.iter_mut().find(|(of, _)| *of == kind);
        lanes.into_iter().for_each(|(_, lanes)| lanes.ended(id));
    }
}

/// A subscription and its lane: the domain of its callback.
fn lane(due: DueSubscriber<'_>) -> (i64, String) {
    let domain = Url::parse(due.callback).map(|url| Domain::of(&url)).unwrap_or_default();
    (due.id, domain.as_str().to_owned())
}

/// Runs the renderer on a blocking thread.
async fn blocking<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    // Joining fails only if the runtime ends, and the store with it.
    tokio::task::spawn_blocking(ask).await.unwrap_or(Err(StoreError::Closed))
}
