//! Commands left for the daemon, and their answers.

use store::{CommandAnswer, OpenMode, Store};

use crate::sample::{T0, at, fresh};

#[test]
fn a_request_is_left_carried_out_and_answered_across_stores() {
    let f = fresh();
    let command = Store::open(store::testing::location(f.folder.path()), OpenMode::Shared).unwrap();
    let id = command.leave_request("feed-add", r#"{"url":"https://example.org/"}"#, T0).unwrap();
    let pending = f.store.pending_requests().unwrap();
    assert_eq!((pending.len(), pending[0].id, pending[0].kind.as_str()), (1, id, "feed-add"));

    assert_eq!(command.request_answer(id).unwrap(), None);
    f.store.answer_request(id, true, r#"{"id":1}"#, at(1)).unwrap();
    let answer = command.request_answer(id).unwrap();
    assert_eq!(answer, Some(CommandAnswer { ok: true, body: r#"{"id":1}"#.to_owned() }));
    assert_eq!(f.store.pending_requests().unwrap(), []);
    f.store.answer_request(id, false, "{}", at(2)).unwrap();
    assert!(command.request_answer(id).unwrap().unwrap().ok, "the first answer stands");
}

#[test]
fn requests_of_a_killed_daemon_are_refused_and_old_answers_forgotten() {
    let f = fresh();
    let old = f.store.leave_request("x", "{}", at(0)).unwrap();
    let young = f.store.leave_request("x", "{}", at(100)).unwrap();
    let words = (r#""look""#, r#""too late""#);
    assert_eq!(f.store.refuse_requests(at(50), words, at(101)).unwrap(), 1);
    assert!(!f.store.request_answer(old).unwrap().unwrap().ok);
    assert_eq!(f.store.pending_requests().unwrap()[0].id, young);
    f.store.leave_request("x", "{}", at(101 + 86_400)).unwrap();
    assert!(f.store.request_answer(old).unwrap().is_some(), "for a day it is kept");
    f.store.leave_request("x", "{}", at(102 + 86_400)).unwrap();
    assert_eq!(f.store.request_answer(old).unwrap(), None);
    assert_eq!(f.store.pending_requests().unwrap().len(), 3, "what waits is not forgotten");
}

/// A request with a lower number may be committed after one with a higher number was taken.
#[test]
fn each_request_is_taken_once_and_what_a_dead_process_took_is_answered() {
    let f = fresh();
    let first = f.store.leave_request("x", "{}", at(0)).unwrap();
    let taken: Vec<_> = f.store.take_requests().unwrap().iter().map(|r| r.id).collect();
    assert_eq!(taken, [first]);
    let second = f.store.leave_request("x", "{}", at(1)).unwrap();
    let taken: Vec<_> = f.store.take_requests().unwrap().iter().map(|r| r.id).collect();
    assert_eq!(taken, [second]);
    assert_eq!(f.store.take_requests().unwrap(), []);
    let third = f.store.leave_request("x", "{}", at(2)).unwrap();
    let words = (r#""look whether it was done""#, r#""too late""#);
    assert_eq!(f.store.refuse_requests(at(0), words, at(3)).unwrap(), 2);
    assert!(f.store.request_answer(first).unwrap().unwrap().body.contains("look"));
    assert_eq!(f.store.request_answer(third).unwrap(), None, "it is taken by the next process");
}
