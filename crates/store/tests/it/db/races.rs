//! Changes of two processes that meet on the same rows of one PostgreSQL database.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use feed::{Domain, EntryId, FeedId};
use store::{
    AccountError, AccountId, ArrivedEntry, Decision, EntryMatcher, Identity, Location, NewToken,
    NextPoll, PushReceipt, QueryId, QueryMatch, QueryStateChange, RelevantShare, Retention, Scope,
    ShareKind, ShareTarget, Store, SubscriberProtocol, SubscriberRequest, SubscriberRequestKind,
    SubscriberRequestOutcome, TokenScope, testing,
};

use super::guests::{both, processes, until_begun};
use crate::sample::{T0, add, at, items, poll, seen};

const ME: AccountId = AccountId::LOCAL;

/// A matcher that reads every feed. While the recorder has read the share of a feed but not written
/// it, a guest stores a judgement.
struct JudgedMeanwhile {
    guest: Store,
    judgements: Arc<Mutex<Vec<EntryId>>>,
}

impl EntryMatcher for JudgedMeanwhile {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        let judgements = Arc::clone(&self.judgements);
        Box::new(JudgedMeanwhile { guest: self.guest.clone(), judgements })
    }

    fn is_empty(&self) -> bool {
        false
    }

    fn clear(&mut self) {}

    fn put(&mut self, _: QueryId, _: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
        Vec::new()
    }

    fn remove_query(&mut self, _: QueryId) {}

    fn reads(&self, _: &str, _: &[String]) -> bool {
        true
    }

    fn match_entry(&mut self, _: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        Vec::new()
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        Vec::new()
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        for entry in self.judgements.lock().unwrap().drain(..) {
            assert!(self.guest.note_relevance(entry, true, T0).unwrap());
        }
        RelevantShare {
            seen: before.seen * 0.5 + f64::from(n_seen),
            kept: before.kept * 0.5 + f64::from(n_kept),
        }
    }
}

/// Records a poll whose next time is decided in the transaction. Such a poll is not part of a set.
fn poll_deciding(recorder: &Store, feed: FeedId, ids: &[&str], secs: i64) {
    let record = seen(recorder, feed, &items(ids), at(secs));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let decided = runtime.block_on(recorder.record_deciding(record, move |_| {
        (Decision { next: NextPoll::at(at(secs + 9)), learned: None, failures: 0 }, ())
    }));
    decided.unwrap();
}

/// Records a poll that shows entries at a time.
type PollFn<'a> = dyn Fn(FeedId, &[&str], i64) + 'a;

#[test]
fn a_judgement_during_a_poll_is_kept() {
    let Some((_folder, location, recorder, [guest, _])) = processes() else { return };
    let judgements = Arc::new(Mutex::new(Vec::new()));
    let matcher = JudgedMeanwhile { guest, judgements: Arc::clone(&judgements) };
    recorder.install(Box::new(matcher)).unwrap();
    let judge = |entry| judgements.lock().unwrap().push(EntryId(entry));
    let plain = |feed, ids: &[&str], secs| drop(poll(&recorder, feed, ids, at(secs)));
    let deciding = |feed, ids: &[&str], secs| poll_deciding(&recorder, feed, ids, secs);
    let ways: [&PollFn<'_>; 2] = [&plain, &deciding];
    for (place, way) in ways.into_iter().enumerate() {
        let feed = add(&recorder, &format!("https://f{place}.example/"));
        let first = recorder.last_entry_id().unwrap().0 + 1;
        let share = || {
            let share = recorder.share(feed).unwrap().unwrap();
            (share.seen, share.kept)
        };
        way(feed, &["1", "2", "3", "4"], 10);
        assert_eq!(share(), (4.0, 0.0));
        judge(first);
        judge(first + 1);
        way(feed, &["1", "2", "3", "4", "5"], 20);
        assert_eq!(share(), (3.0, 2.0), "two judgements came meanwhile");
        // The guest makes the row.
        testing::execute(&location, "delete from feed_relevance");
        judge(first + 2);
        way(feed, &["5", "6"], 30);
        assert_eq!(share(), (2.0, 1.0));
    }
}

/// Makes a change of a table take a while after it has locked its rows. It stands for a process
/// that commits late.
fn slow_down(location: &Location, table: &str, change: &str) {
    testing::execute(
        location,
        &format!(
            "create sequence begun_{table}; \
             create function slow_{table}() returns trigger language plpgsql as \
             $$ begin perform nextval('begun_{table}'); perform pg_sleep(2); return null; end $$; \
             create trigger zz_slow after {change} on {table} for each statement \
             execute function slow_{table}()"
        ),
    );
}

#[test]
fn retention_keeps_what_was_just_starred_or_labelled() {
    let Some((_folder, location, recorder, [one, other])) = processes() else { return };
    let feed = add(&recorder, "https://example.org/");
    poll(&recorder, feed, &["1", "2", "3", "4"], at(1));
    for table in ["stars", "entry_labels"] {
        slow_down(&location, table, "insert");
    }
    std::thread::scope(|scope| {
        let star = scope.spawn(|| one.star(ME, &[EntryId(1)], true, at(2)));
        let label = scope.spawn(|| other.label_entries(ME, "kept", &[EntryId(3)], true, at(2)));
        until_begun(&recorder, "stars");
        until_begun(&recorder, "entry_labels");
        let rule = Retention { entries_max: Some(1), ..Retention::off() };
        let retained = recorder.retain(&rule, at(3)).unwrap();
        assert_eq!(retained.entries, 1, "only the second entry");
        star.join().unwrap().unwrap();
        assert!(label.join().unwrap().unwrap());
    });
    assert_eq!(recorder.stars(ME).unwrap().into_iter().collect::<Vec<_>>(), [EntryId(1)]);
    assert_eq!(recorder.labels(ME).unwrap()[0].n_entries, 1);
    assert_eq!(recorder.check().unwrap(), []);
}

#[test]
fn a_star_for_an_entry_that_retention_deletes_is_no_error() {
    let Some((_folder, location, recorder, [one, other])) = processes() else { return };
    let feed = add(&recorder, "https://example.org/");
    poll(&recorder, feed, &["1", "2"], at(1));
    slow_down(&location, "entries", "delete");
    std::thread::scope(|scope| {
        let rule = Retention { entries_max: Some(1), ..Retention::off() };
        let retained = scope.spawn(move || recorder.retain(&rule, at(3)).map(|_| recorder));
        until_begun(&one, "entries");
        let label = scope.spawn(|| other.label_entries(ME, "kept", &[EntryId(1)], true, at(2)));
        one.star(ME, &[EntryId(1)], true, at(2)).unwrap();
        assert!(label.join().unwrap().unwrap());
        let recorder = retained.join().unwrap().unwrap();
        assert!(recorder.stars(ME).unwrap().is_empty());
    });
}

#[test]
fn two_devices_may_mark_a_list_read_at_once() {
    let Some((_folder, _, recorder, guests)) = processes() else { return };
    let feed = add(&recorder, "https://example.org/");
    for n in 0..20 {
        poll(&recorder, feed, &[&n.to_string()], at(n));
        let last = recorder.last_entry_id().unwrap();
        let marked = both(&guests, 1, |guest, _, _| {
            guest.mark_list_read(ME, &Scope::All, last, at(100)).unwrap()
        });
        assert_eq!(marked.iter().sum::<u64>(), 1, "each bit counts once: {marked:?}");
    }
}

#[test]
fn an_undo_leaves_what_another_device_has_read() {
    let Some((_folder, location, recorder, [one, other])) = processes() else { return };
    let feed = add(&recorder, "https://example.org/");
    poll(&recorder, feed, &["1", "2", "3"], at(1));
    testing::execute(
        &location,
        "create sequence begun_read_marks; \
         create function slow() returns trigger language plpgsql as \
         $$ begin if length(new.bits) > 0 then \
         perform nextval('begun_read_marks'); perform pg_sleep(2); \
         end if; return new; end $$; \
         create trigger slow before insert or update on read_marks for each row \
         execute function slow()",
    );
    std::thread::scope(|scope| {
        // It locks the block, and the list waits for it.
        let mark = scope.spawn(|| other.mark_read(ME, &[EntryId(2)], true));
        until_begun(&recorder, "read_marks");
        let n = one.mark_list_read(ME, &Scope::All, EntryId(3), at(2)).unwrap();
        assert_eq!(n, 2, "the other device has read one of them");
        mark.join().unwrap().unwrap();
    });
    assert!(one.undo_mark_list(ME, at(3)).unwrap());
    let marks = recorder.read_marks(ME).unwrap();
    assert!(marks.is_read(EntryId(2)) && !marks.is_read(EntryId(1)));
}

#[test]
fn a_first_login_on_two_machines_makes_one_account() {
    let Some((_folder, _, recorder, guests)) = processes() else { return };
    for n in 0..10 {
        let identity = Identity { issuer: "https://id.example".to_owned(), subject: n.to_string() };
        let name = format!("name{n}");
        let found = both(&guests, 1, |guest, _, _| {
            guest.account_for_identity(&identity, &name, T0).unwrap().unwrap().id
        });
        assert_eq!(found[0], found[1]);
    }
    assert_eq!(recorder.accounts().unwrap().len(), 10);
}

#[test]
fn limits_hold_for_two_processes_at_once() {
    let Some((_folder, _, recorder, guests)) = processes() else { return };
    let account = recorder.add_account("anna", "hash", T0).unwrap().unwrap();
    let answers = both(&guests, 60, |guest, place, n| {
        let target = ShareTarget {
            position: 0,
            name: format!("{place} {n}"),
            kind: ShareKind::Link,
            template: "https://example.org/{url}".to_owned(),
            signing_key: String::new(),
        };
        guest.label_entries(account, &format!("{place} {}", n % 40), &[], true, T0).unwrap();
        let digest = |fever: u8| [place as u8 + 1, n as u8, fever, 7].repeat(8).try_into().unwrap();
        let token = NewToken {
            account,
            name: format!("{place} {n}"),
            scope: TokenScope::Read,
            digest: digest(0),
            fever_digest: digest(1),
        };
        let token = guest.add_token(&token, T0).unwrap();
        (guest.add_share_target(account, &target).unwrap(), token.map(|row| row.id))
    });
    let taken = |error: &AccountError| matches!(error, AccountError::TooMany);
    let n_tokens = answers.iter().filter(|(_, token)| token.is_ok()).count();
    assert!(answers.iter().all(|(_, token)| token.as_ref().err().is_none_or(taken)));
    assert_eq!(n_tokens, recorder.tokens(account).unwrap().len());
    let mut positions: Vec<i64> = answers.iter().filter_map(|(target, _)| *target).collect();
    positions.sort_unstable();
    assert_eq!(positions.len(), recorder.share_targets(account).unwrap().len());
    assert!(positions.windows(2).all(|two| two[0] < two[1]), "each has a number of its own");
    assert_eq!(recorder.labels(account).unwrap().len(), 80);
}

/// Pushes of one subscription that may wait.
const WAITING_MAX: usize = 32;
/// Unverified requests for one callback domain.
const PER_DOMAIN_MAX: usize = 4;

#[test]
fn the_limits_of_pushes_hold_for_two_processes_at_once() {
    let Some((_folder, location, recorder, guests)) = processes() else { return };
    let sql = "insert into push_subscriptions (token, secret, hub, topic, next_at) \
               values ('token', '', '', '', 0)";
    testing::execute(&location, sql);
    let received = both(&guests, 30, |guest, _, _| {
        guest.receive_push("token", None, None, b"body".to_vec(), T0).unwrap()
    });
    let n_kept = received.iter().filter(|receipt| **receipt == PushReceipt::Kept).count();
    assert_eq!(n_kept, WAITING_MAX);

    let sql = "insert into queries (name, text, created_at, changed_at, link_key, signing_key) \
               values ('q', '', 0, 0, '', '')";
    testing::execute(&location, sql);
    let query = recorder.query("q").unwrap().unwrap().id;
    let answers = both(&guests, 10, |guest, place, n| {
        // Both ask for the same subscription now and then.
        let callback = if n % 3 == 0 { n } else { 100 + 2 * n + place };
        let request = SubscriberRequest {
            query,
            topic: "http://localhost/feeds/q.atom".to_owned(),
            callback: format!("https://reader.example/{callback}"),
            domain: Domain::from_stored("reader.example"),
            from: format!("192.0.2.{n}"),
            kind: SubscriberRequestKind::Subscribe {
                secret: None,
                lease: Duration::from_secs(86_400),
            },
            protocol: SubscriberProtocol::WebSub,
        };
        guest.add_hub_request(&request, T0).unwrap()
    });
    assert!(answers.contains(&SubscriberRequestOutcome::Taken));
    assert_eq!(testing::count(&recorder, "hub_subscriptions"), PER_DOMAIN_MAX as i64);
}

/// Threads that change rows in each process.
const THREADS: usize = 6;

#[test]
fn changes_of_many_people_in_two_processes_lock_each_other_out_for_a_moment_only() {
    let Some((_folder, _, recorder, guests)) = processes() else { return };
    let feed = add(&recorder, "https://example.org/");
    poll(&recorder, feed, &["1", "2"], at(1));
    let accounts: Vec<AccountId> = (0..THREADS)
        .map(|n| recorder.add_account(&format!("a{n}"), "hash", T0).unwrap().unwrap())
        .collect();
    std::thread::scope(|scope| {
        for (place, guest) in guests.iter().enumerate() {
            for thread in 0..THREADS {
                let accounts = &accounts;
                scope.spawn(move || {
                    for n in 0..40 {
                        let place = if place == 0 { thread + n } else { THREADS * 40 + thread - n };
                        let account = accounts[place % THREADS];
                        guest.mark_read(account, &[EntryId(1)], n % 2 == 0).unwrap();
                    }
                });
            }
        }
    });
}
