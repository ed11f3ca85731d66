//! The windows that a terminal remembers, so that unchanged items never travel. A job names the
//! digest of the window that the store has. A window with another digest is not used but asked for.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dispatch::GrantId;
use feed::{FeedId, KeyedItem, Window};

/// A digest of a window.
type WindowDigest = [u8; 16];

/// The function that asks the controller for a window; `None`: it did not answer.
pub type AskWindow = Box<
    dyn Fn(GrantId, FeedId, WindowDigest) -> Pin<Box<dyn Future<Output = Option<Window>> + Send>>
        + Send
        + Sync,
>;

/// Memory of a cached window in addition to its entries, in bytes.
const ENTRY_OVERHEAD: usize = 160;

/// Windows by feed. The least recently used ones are dropped when they need too many bytes.
#[derive(Debug)]
pub struct WindowCache {
    bytes_max: usize,
    bytes: usize,
    windows: HashMap<FeedId, CachedWindow>,
    /// Feeds by their last use.
    used: BTreeMap<u64, FeedId>,
    n_uses: u64,
}

#[derive(Debug)]
struct CachedWindow {
    digest: WindowDigest,
    window: Arc<Window>,
    used: u64,
}

impl WindowCache {
    pub fn new(bytes_max: usize) -> WindowCache {
        let (windows, used) = (HashMap::new(), BTreeMap::new());
        WindowCache { bytes_max, bytes: 0, windows, used, n_uses: 0 }
    }

    /// Returns the window of a feed if it has this digest.
    pub fn get(&mut self, feed: FeedId, digest: WindowDigest) -> Option<Arc<Window>> {
        let cached = self.windows.get_mut(&feed).filter(|cached| cached.digest == digest)?;
        self.used.remove(&cached.used);
        self.n_uses += 1;
        cached.used = self.n_uses;
        self.used.insert(self.n_uses, feed);
        Some(Arc::clone(&cached.window))
    }

    pub fn insert(&mut self, feed: FeedId, window: Arc<Window>) {
        self.remove(feed);
        self.n_uses += 1;
        self.bytes += bytes(&window);
        let cached = CachedWindow { digest: window.digest(), window, used: self.n_uses };
        self.windows.insert(feed, cached);
        self.used.insert(self.n_uses, feed);
        while self.bytes > self.bytes_max
            && let Some(&oldest) = self.used.values().next()
        {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, feed: FeedId) {
        if let Some(cached) = self.windows.remove(&feed) {
            self.used.remove(&cached.used);
            self.bytes -= bytes(&cached.window);
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

fn bytes(window: &Window) -> usize {
    size_of_val(window.entries()) + ENTRY_OVERHEAD
}

/// The cache of a terminal, and the way to the controller that knows all windows.
pub struct RemoteWindows {
    cache: Mutex<WindowCache>,
    ask: AskWindow,
    n_questions: AtomicU64,
}

impl RemoteWindows {
    pub fn new(bytes_max: usize, ask: AskWindow) -> RemoteWindows {
        let (cache, n_questions) = (Mutex::new(WindowCache::new(bytes_max)), AtomicU64::new(0));
        RemoteWindows { cache, ask, n_questions }
    }

    /// Returns the window with this digest. If nobody knows it, returns an empty one: then every
    /// item travels, and the controller compares.
    pub async fn get(&self, grant: GrantId, feed: FeedId, digest: WindowDigest) -> Arc<Window> {
        if digest == Window::default().digest() {
            return Arc::default();
        }
        if let Some(window) = self.lock().get(feed, digest) {
            return window;
        }
        self.n_questions.fetch_add(1, Ordering::Relaxed);
        match (self.ask)(grant, feed, digest).await {
            Some(window) if window.digest() == digest => Arc::new(window),
            _ => Arc::default(),
        }
    }

    /// Notes the window that a feed has after a document.
    pub fn followed(&self, feed: FeedId, before: &Window, items: &[KeyedItem], partial: bool) {
        self.lock().insert(feed, Arc::new(before.after_items(items, partial)));
    }

    /// The number of windows that the controller was asked for.
    pub fn n_questions(&self) -> u64 {
        self.n_questions.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WindowCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use feed::{Item, identify};

    use super::*;

    fn window(ids: &[&str]) -> Arc<Window> {
        let item = |id: &&str| Item { id: Some((*id).to_owned()), ..Item::default() };
        let items = identify(ids.iter().map(item).collect(), &Window::default());
        Arc::new(Window::default().after_items(&items, false))
    }

    #[test]
    fn the_least_recently_used_window_is_dropped() {
        let each = bytes(&window(&["a"]));
        let mut cache = WindowCache::new(2 * each);
        let digest = |id: &str| window(&[id]).digest();
        cache.insert(FeedId(1), window(&["a"]));
        cache.insert(FeedId(2), window(&["b"]));
        assert!(cache.get(FeedId(1), digest("a")).is_some());
        cache.insert(FeedId(3), window(&["c"]));
        assert!(cache.get(FeedId(2), digest("b")).is_none(), "it was used least recently");
        assert!(cache.get(FeedId(1), digest("a")).is_some());
        assert!(cache.get(FeedId(1), digest("c")).is_none(), "another digest is not used");
        assert_eq!(cache.bytes(), 2 * each);
    }

    #[tokio::test]
    async fn a_window_is_asked_for_only_if_it_changed_elsewhere() {
        let other = Arc::clone(&window(&["x"]));
        let ask: AskWindow = Box::new(move |_, _, _| {
            let other = (*other).clone();
            Box::pin(async move { Some(other) })
        });
        let windows = RemoteWindows::new(1 << 20, ask);
        let first = windows.get(GrantId(1), FeedId(1), Window::default().digest()).await;
        assert!(first.entries().is_empty());
        let items = identify(vec![Item { id: Some("a".to_owned()), ..Item::default() }], &first);
        windows.followed(FeedId(1), &first, &items, false);
        let next = windows.get(GrantId(2), FeedId(1), window(&["a"]).digest()).await;
        assert_eq!((next.entries().len(), windows.n_questions()), (1, 0));
        let pushed = windows.get(GrantId(3), FeedId(1), window(&["x"]).digest()).await;
        assert_eq!((pushed.digest(), windows.n_questions()), (window(&["x"]).digest(), 1));
        let unknown = windows.get(GrantId(4), FeedId(1), window(&["y"]).digest()).await;
        assert!(unknown.entries().is_empty(), "every item travels");
    }
}
