//! Accounts, sessions and tokens.

use std::time::Duration;

use store::{AccountError, AccountId, NewToken, TokenScope};

use crate::sample::{T0, at, fresh};

#[test]
fn names_are_one_whatever_their_case_and_given_once() {
    let fresh = fresh();
    assert!(!fresh.store.has_accounts().unwrap());
    let anna = fresh.store.add_account("Anna", "hash", T0).unwrap().unwrap();
    assert_ne!(anna, AccountId::LOCAL);
    assert!(fresh.store.has_accounts().unwrap());
    assert_eq!(fresh.store.add_account("anna", "other", T0).unwrap(), Err(AccountError::Taken));
    let row = fresh.store.account("ANNA").unwrap().unwrap();
    assert_eq!((row.id, row.password.as_str()), (anna, "hash"));
    assert!(fresh.store.remove_account(anna).unwrap());
    assert!(!fresh.store.remove_account(anna).unwrap());
    assert!(!fresh.store.has_accounts().unwrap());
}

#[test]
fn a_session_holds_until_it_ends_or_the_password_changes() {
    let fresh = fresh();
    let store = &fresh.store;
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    store.begin_session(anna, [1; 32], T0, at(100)).unwrap();
    store.begin_session(anna, [2; 32], T0, at(200)).unwrap();
    assert_eq!(store.session(&[1; 32], at(99)).unwrap().unwrap().id, anna);
    assert!(store.session(&[1; 32], at(100)).unwrap().is_none());
    assert!(store.session(&[3; 32], T0).unwrap().is_none());
    store.end_session([2; 32]).unwrap();
    assert!(store.session(&[2; 32], T0).unwrap().is_none());
    store.set_password(anna, "another").unwrap();
    assert!(store.session(&[1; 32], T0).unwrap().is_none());
}

#[test]
fn a_token_is_found_by_either_digest_and_can_be_taken_back() {
    let fresh = fresh();
    let store = &fresh.store;
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let new = NewToken {
        account: anna,
        name: "phone".to_owned(),
        scope: TokenScope::Write,
        digest: [5; 32],
        fever_digest: [6; 32],
    };
    let row = store.add_token(&new, T0).unwrap().unwrap();
    let twin = NewToken { digest: [7; 32], fever_digest: [8; 32], ..new.clone() };
    assert_eq!(store.add_token(&twin, T0).unwrap(), Err(AccountError::Taken));
    let (account, found) = store.token(&[5; 32]).unwrap().unwrap();
    assert_eq!((account.name.as_str(), &found), ("anna", &row));
    assert_eq!(store.fever_token(&[6; 32]).unwrap().unwrap().1, row);
    assert!(store.token(&[6; 32]).unwrap().is_none());
    store.note_token_use(row.id, at(9)).unwrap();
    assert_eq!(store.tokens(anna).unwrap()[0].used_at, Some(at(9)));
    assert!(!store.revoke_token(AccountId(99), row.id).unwrap(), "it is not theirs");
    assert!(store.revoke_token(anna, row.id).unwrap());
    assert!(store.token(&[5; 32]).unwrap().is_none());
    let nobody = NewToken { account: AccountId(99), ..new };
    assert_eq!(store.add_token(&nobody, T0).unwrap(), Err(AccountError::NoAccount));
}

#[test]
fn an_account_has_so_many_sessions_and_the_oldest_goes_first() {
    let fresh = fresh();
    let store = &fresh.store;
    let [anna, bert] = ["anna", "bert"].map(|n| store.add_account(n, "x", T0).unwrap().unwrap());
    let digest = |n: i64| {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    };
    store.begin_session(bert, [9; 32], T0, at(100_000)).unwrap();
    for n in 0..=500 {
        store.begin_session(anna, digest(n), at(n), at(100_000)).unwrap();
    }
    let lives = |digest| store.session(&digest, at(1000)).unwrap().is_some();
    assert_eq!([digest(0), digest(1), digest(500), [9; 32]].map(lives), [false, true, true, true]);
}

#[test]
fn sessions_that_ended_are_forgotten_by_the_next_one() {
    let fresh = fresh();
    let anna = fresh.store.add_account("anna", "hash", T0).unwrap().unwrap();
    fresh.store.begin_session(anna, [1; 32], T0, at(10)).unwrap();
    fresh.store.begin_session(anna, [2; 32], at(20), at(20) + Duration::from_secs(9)).unwrap();
    assert_eq!(store::testing::count(&fresh.store, "sessions"), 1);
}
