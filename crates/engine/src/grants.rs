//! The rows of grants. A grant is a row before its request leaves, so that the next process knows
//! which requests may be under way. A store that ends with its process needs no rows.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dispatch::{GrantId, Stopwatch};
use feed::Domain;
use store::{GrantRow, OpenGrantRow, Store, StoreError};

/// Numbers of one epoch. The epoch is the upper part of a number, so numbers are never used twice.
const NUMBERS_OF_EPOCH: u64 = 1 << 40;
/// How often the rows of requests that never answered are removed.
const CLEAN_EVERY: Duration = Duration::from_secs(30);

/// The time after which a request of an engine that stopped or was cut off has ended.
const CUT_ENDS_IN: Duration = Duration::from_secs(2);

/// The epochs of earlier engines in this process. Its requests ended with its engines, so their
/// domains need not wait until the rows end.
#[derive(Clone, Default)]
pub struct EarlierEpochs(Arc<Mutex<HashSet<i64>>>);

impl EarlierEpochs {
    /// Begins an epoch. Shortens the rows that earlier engines of this process left.
    fn begin(&self, epoch: i64, machine: &str, left: &mut [OpenGrantRow]) {
        let mut epochs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for row in left {
            let of_row = i64::try_from(row.number / NUMBERS_OF_EPOCH).unwrap_or(i64::MAX);
            if row.terminal == machine && epochs.contains(&of_row) {
                row.left = row.left.min(CUT_ENDS_IN);
            }
        }
        epochs.insert(epoch);
    }
}

/// The rows of this process.
pub struct GrantBook {
    store: Store,
    epoch: i64,
    first_number: u64,
    life: Duration,
    state: Mutex<BookState>,
    stopwatch: Stopwatch,
    n_commits: AtomicU64,
    /// The time of all commits together.
    commit_micros: AtomicU64,
}

#[derive(Default)]
struct BookState {
    /// Requests that ended without a record. Their rows go with the next commit.
    ended: Vec<u64>,
    cleaned_at: Duration,
}

impl GrantBook {
    /// Begins an epoch. Returns also the requests of earlier processes that may be under way.
    pub fn open(
        store: &Store,
        life: Duration,
        machine: &str,
        earlier: &EarlierEpochs,
    ) -> Result<(GrantBook, Vec<OpenGrantRow>), StoreError> {
        let (epoch, mut rows) = store.begin_granting()?;
        earlier.begin(epoch, machine, &mut rows);
        let of_epoch = epoch.max(0).unsigned_abs().saturating_mul(NUMBERS_OF_EPOCH);
        // Another engine of this epoch may have left rows.
        let last = rows.iter().map(|row| row.number).max().unwrap_or(0).max(of_epoch);
        let (state, stopwatch) = (Mutex::default(), Stopwatch::start());
        let (n_commits, commit_micros) = (AtomicU64::new(0), AtomicU64::new(0));
        let book = GrantBook {
            store: store.clone(),
            epoch,
            first_number: last + 1,
            life,
            state,
            stopwatch,
            n_commits,
            commit_micros,
        };
        Ok((book, rows))
    }

    /// Ends the rows of this process, whose requests have stopped, so that their domains do not
    /// wait for the next process. Rows of other machines stay.
    pub async fn close(&self, machine: &str) -> Result<(), StoreError> {
        let ended = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut state.ended)
        };
        self.store.end_grants(self.epoch, machine, ended, CUT_ENDS_IN).await
    }

    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The time from a grant to its end.
    pub fn life(&self) -> Duration {
        self.life
    }

    /// The time since this book was opened.
    pub fn elapsed(&self) -> Duration {
        self.stopwatch.elapsed()
    }

    /// The first number of a grant of this process.
    pub fn first_number(&self) -> u64 {
        self.first_number
    }

    /// Commits the rows of grants. Their requests may leave only after this.
    pub async fn commit(&self, rows: Vec<GrantRow>) -> Result<(), StoreError> {
        let now = self.stopwatch.elapsed();
        let (ended, cleans) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let cleans = now.saturating_sub(state.cleaned_at) >= CLEAN_EVERY;
            if cleans {
                state.cleaned_at = now;
            }
            (std::mem::take(&mut state.ended), cleans)
        };
        self.store.store_grants(self.epoch, rows, ended, self.life).await?;
        let took = self.stopwatch.elapsed().saturating_sub(now).as_micros();
        self.n_commits.fetch_add(1, Ordering::Relaxed);
        self.commit_micros.fetch_add(u64::try_from(took).unwrap_or(0), Ordering::Relaxed);
        if cleans {
            // The next time removes them as well.
            let _ = self.store.remove_ended_grants().await;
        }
        Ok(())
    }

    /// Removes the rows of ended requests that no commit has taken along. An idle process makes no
    /// commits, and a next one would wait for the end of these rows.
    pub async fn remove_ended(&self) {
        let ended = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut state.ended)
        };
        if ended.is_empty() {
            return;
        }
        let removed = self.store.store_grants(self.epoch, Vec::new(), ended, self.life).await;
        if let Err(error) = removed {
            tracing::debug!(%error, "the rows of ended requests stay until they end");
        }
    }

    /// Returns the number of commits, and how many microseconds they took together.
    pub fn commits(&self) -> (u64, u64) {
        (self.n_commits.load(Ordering::Relaxed), self.commit_micros.load(Ordering::Relaxed))
    }

    /// Commits the row of one request.
    pub async fn commit_one(
        &self,
        grant: GrantId,
        domain: &Domain,
        terminal: &str,
    ) -> Result<(), StoreError> {
        let (domain, terminal) = (domain.clone(), terminal.to_owned());
        self.commit(vec![GrantRow { number: grant.0, domain, terminal }]).await
    }

    /// Notes that a request has ended, and that the time of its end is stored or does not matter.
    pub fn ended(&self, grant: GrantId) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended.push(grant.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_row_of_the_last_request_goes_without_another_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = store::testing::location(folder.path());
        let store = Store::open(&place, store::OpenMode::ReadWrite).expect("a store");
        let life = Duration::from_secs(90);
        let (book, _) =
            GrantBook::open(&store, life, "box", &EarlierEpochs::default()).expect("a book");
        let (ended, open) = (GrantId(book.first_number()), GrantId(book.first_number() + 1));
        for grant in [ended, open] {
            let domain = Domain::from_stored("example.org");
            book.commit_one(grant, &domain, "box").await.expect("a commit");
        }
        book.remove_ended().await;
        assert_eq!(store.n_grants().ok(), Some(2));
        book.ended(ended);
        book.remove_ended().await;
        assert_eq!(store.n_grants().ok(), Some(1), "the other request may be under way");
    }

    #[test]
    fn only_requests_of_engines_that_ended_in_this_process_end_early() {
        let left = Duration::from_secs(90);
        let row = |epoch: u64, terminal: &str| OpenGrantRow {
            number: epoch * NUMBERS_OF_EPOCH + 7,
            domain: Domain::from_stored("example.org"),
            terminal: terminal.to_owned(),
            left,
        };
        let earlier = EarlierEpochs::default();
        earlier.begin(3, "box", &mut []);
        let mut rows = [row(3, "box"), row(3, "elsewhere"), row(2, "box")];
        earlier.begin(4, "box", &mut rows);
        assert_eq!(rows.map(|row| row.left), [CUT_ENDS_IN, left, left]);
    }
}
