//! Several processes on one PostgreSQL database: what a guest may write, changes of the same rows
//! at once, and when a process loses the seat.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::Duration;

use feed::EntryId;
use store::{
    AccountId, AccountRole, Decision, Location, NextPoll, OpenMode, QueryChange, SeatWaiter,
    SettingsChange, Store, StoreError, testing,
};
use tempfile::TempDir;

use crate::sample::{T0, add, at, new_feed, poll, seen};

/// A process that records and two guests; `None` without a server.
pub fn processes() -> Option<(TempDir, Location, Store, [Store; 2])> {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(&testing::url(folder.path())?, &|_| None).unwrap();
    let recorder = Store::open(&location, OpenMode::ReadWrite).unwrap();
    let guest = || Store::open(&location, OpenMode::Shared).unwrap();
    let guests = [guest(), guest()];
    Some((folder, location, recorder, guests))
}

/// Calls a function in both guests at the same moment, so many times. The function gets the place
/// of the guest and the number of the call.
pub fn both<T: Send>(
    guests: &[Store; 2],
    n: usize,
    call: impl Fn(&Store, usize, usize) -> T + Sync,
) -> Vec<T> {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let run = |place: usize| {
            let (barrier, call) = (&barrier, &call);
            scope.spawn(move || {
                let each = (0..n).map(|n| {
                    barrier.wait();
                    // The other thread waits for this one at the next call.
                    catch_unwind(AssertUnwindSafe(|| call(&guests[place], place, n)))
                });
                each.collect::<Vec<_>>()
            })
        };
        let threads = [run(0), run(1)];
        let results = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[track_caller]
fn refused(error: Option<&StoreError>) {
    assert!(matches!(error, Some(StoreError::Guest { .. })), "{error:?}");
}

#[test]
fn a_guest_may_write_nothing_that_the_recorder_decides() {
    let Some((_folder, _, recorder, [guest, _])) = processes() else { return };
    let id = add(&recorder, "https://example.org/");
    poll(&recorder, id, &["1"], at(1));
    refused(guest.add_feed(&new_feed("https://example.org/b"), T0).err().as_ref());
    refused(guest.remove_feed(id).err().as_ref());
    refused(guest.set_setting("a", Some("b")).err().as_ref());
    refused(guest.set_feed(id, &SettingsChange::default()).err().as_ref());
    let drop_query = QueryChange::Drop("q".to_owned());
    refused(guest.change_queries(vec![drop_query], None, T0).err().as_ref());
    refused(guest.subscribe(AccountId(1), &[new_feed("https://example.org/c")], T0).err().as_ref());
    guest.leave_request("x", "{}", T0).unwrap();
    refused(guest.take_requests().err().as_ref());
    let record = seen(&guest, id, &[], at(2));
    refused(guest.record_blocking(record.clone()).err().as_ref());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    refused(runtime.block_on(guest.record(record)).err().as_ref());
    guest.mark_read(AccountId::LOCAL, &[EntryId(1)], true).unwrap();
    assert!(recorder.read_marks(AccountId::LOCAL).unwrap().is_read(EntryId(1)));
}

#[test]
fn marks_and_judgements_of_two_processes_at_once_are_all_kept() {
    let Some((_folder, location, recorder, guests)) = processes() else { return };
    let id = add(&recorder, "https://example.org/");
    let names: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    poll(&recorder, id, &names, at(1));
    let account = AccountId::LOCAL;
    let seen = "insert into feed_relevance (feed, seen, kept) values (1, 40, 0)";
    testing::execute(&location, seen);
    both(&guests, 20, |guest, place, n| {
        let entry = EntryId((2 * n + place + 1) as i64);
        guest.mark_read(account, &[entry], true).unwrap();
        guest.star(account, &[entry], true, at(2)).unwrap();
        guest.label_entries(account, "both", &[entry], true, at(3)).unwrap();
        // Both say the same about one entry. It counts once.
        guest.note_relevance(EntryId(n as i64 + 1), true, at(4)).unwrap();
    });
    let marks = recorder.read_marks(account).unwrap();
    assert!((1..=40).all(|n| marks.is_read(EntryId(n))), "{marks:?}");
    assert_eq!(recorder.stars(account).unwrap().len(), 40);
    assert_eq!(recorder.labels(account).unwrap()[0].n_entries, 40);
    // Forty entries were seen; of these, people want twenty.
    let share = recorder.share(id).unwrap().unwrap();
    assert!((share.kept - 20.0).abs() < 1e-9, "{share:?}");
}

#[test]
fn one_of_two_first_accounts_is_the_admin() {
    let Some((_folder, _, recorder, guests)) = processes() else { return };
    let made = both(&guests, 1, |guest, place, _| {
        guest.add_account(["anna", "bert"][place], "hash", T0).unwrap().unwrap()
    });
    let accounts = recorder.accounts().unwrap();
    let admins = accounts.iter().filter(|row| row.role == AccountRole::Admin).count();
    assert_eq!((made.len(), accounts.len(), admins), (2, 2, 1), "{accounts:?}");
}

/// The silence after which a holder is unseated.
const SILENCE: Duration = Duration::from_millis(1500);
/// Far longer than anything takes, even on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until a slow change of a table has locked its rows. Its trigger steps a sequence, which
/// other sessions see before the commit.
pub fn until_begun(store: &Store, table: &str) {
    let begun = "cast(case when is_called then 1 else 0 end as bigint)";
    let sql = format!("select last_value, {begun} from begun_{table}");
    let is_begun = (0..2400).any(|_| {
        std::thread::sleep(PAUSE);
        testing::pairs(store, &sql)[0].1 == 1
    });
    assert!(is_begun, "no change of {table} has begun");
}

#[test]
fn a_long_change_keeps_the_seat() {
    let Some((_folder, location, recorder, _)) = processes() else { return };
    testing::execute(
        &location,
        // Other sessions see the steps of a sequence before the commit, and so does the change.
        "create sequence begun_settings; create sequence go_on; \
         create function slow() returns trigger language plpgsql as \
         $$ begin perform nextval('begun_settings'); \
         for n in 1..6000 loop \
         exit when (select is_called from go_on); perform pg_sleep(0.02); \
         end loop; return new; end $$; \
         create trigger slow before insert on settings for each row execute function slow()",
    );
    std::thread::scope(|scope| {
        let change = scope.spawn(|| recorder.set_setting("a", Some("b")));
        until_begun(&recorder, "settings");
        let is_silent = || recorder.seat().unwrap().unwrap().silent_for > SILENCE;
        let silent = (0..2400).any(|_| {
            std::thread::sleep(PAUSE);
            is_silent()
        });
        let error = SeatWaiter::new(location.clone(), SILENCE).open().err();
        let was_under_way = !change.is_finished();
        testing::execute(&location, "select nextval('go_on')");
        assert!(silent && was_under_way, "the change is under way");
        assert!(matches!(error, Some(StoreError::SeatTaken { .. })), "the server works for it");
        change.join().unwrap().unwrap();
    });
    assert_eq!(recorder.setting("a").unwrap().as_deref(), Some("b"));
    assert!(!recorder.is_lost());
}

#[test]
fn a_process_that_hangs_within_a_change_loses_the_seat() {
    let Some((_folder, location, recorder, _)) = processes() else { return };
    let id = add(&recorder, "https://example.org/");
    let record = seen(&recorder, id, &[], at(2));
    let mut waiter = SeatWaiter::new(location, SILENCE);
    let error = waiter.open().err();
    assert!(matches!(error, Some(StoreError::SeatTaken { .. })), "{error:?}");
    let ((begin, begun), (go, may_go)) = (channel(), channel::<()>());
    std::thread::scope(|scope| {
        let hangs = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(recorder.record_deciding(record, move |_| {
                begin.send(()).unwrap();
                // Without a word it goes on after a while, so that a failed test ends.
                let _ = may_go.recv_timeout(PATIENCE);
                let next = NextPoll::at(at(9));
                (Decision { next, learned: None, failures: 0 }, ())
            }))
        });
        begun.recv_timeout(PATIENCE).unwrap();
        let opened = (0..1200).find_map(|_| {
            std::thread::sleep(PAUSE);
            waiter.open().ok()
        });
        go.send(()).unwrap();
        let next = opened.unwrap();
        let error = hangs.join().unwrap().err().unwrap();
        assert!(error.is_unavailable(), "{error}");
        assert_eq!(next.feed(id).unwrap().generation, 0, "nothing of it is stored");
        assert_eq!(next.epoch(), recorder.epoch() + 1);
    });
    assert!(recorder.is_lost());
}

#[test]
fn a_wipe_drops_the_tables_of_a_store_and_no_others() {
    let Some((_folder, location, recorder, guests)) = processes() else { return };
    add(&recorder, "https://example.org/");
    drop((recorder, guests));
    testing::execute(&location, "create table invoices (n bigint)");
    let refused = Store::wipe(&location).unwrap_err().to_string();
    assert!(refused.contains("invoices"), "{refused}");
    testing::execute(
        &location,
        "drop table invoices; \
         create view addresses as select url from feeds",
    );
    assert!(Store::wipe(&location).is_err(), "a view depends on a table");
    testing::execute(&location, "drop view addresses");
    Store::wipe(&location).unwrap();
    let store = Store::open(&location, OpenMode::ReadWrite).unwrap();
    assert_eq!(testing::count(&store, "feeds"), 0);
}
