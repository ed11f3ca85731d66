//! Accounts, sessions and tokens.

use std::time::Duration;

use store::{
    AccountError, AccountId, AccountListFilter, AccountRole, Identity, NewToken, SessionNumber,
    SessionOrigin, TokenScope,
};

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

#[test]
fn the_first_account_is_an_admin_and_one_admin_always_remains() {
    let fresh = fresh();
    let store = &fresh.store;
    let anna = store.add_account("anna", "x", T0).unwrap().unwrap();
    let bert = store.add_account("bert", "x", T0).unwrap().unwrap();
    let carl = store.add_account_as("carl", "x", Some(AccountRole::Admin), T0).unwrap().unwrap();
    let role = |name| store.account(name).unwrap().map(|row| row.role);
    let (admin, reader) = (AccountRole::Admin, AccountRole::Reader);
    assert_eq!(["anna", "bert", "carl"].map(role), [Some(admin), Some(reader), Some(admin)]);
    assert_eq!(store.set_role(carl, reader).unwrap(), Ok(()));
    assert_eq!(store.set_role(anna, reader).unwrap(), Err(AccountError::LastAdmin));
    let gone = store.remove_account_but_last_admin(anna).unwrap();
    assert_eq!(gone, Err(AccountError::LastAdmin));
    assert_eq!(store.set_role(bert, admin).unwrap(), Ok(()));
    assert_eq!(store.remove_account_but_last_admin(anna).unwrap(), Ok(()));
    assert_eq!(role("anna"), None);
    assert_eq!(store.set_role(anna, admin).unwrap(), Err(AccountError::NoAccount));
}

#[test]
fn a_session_tells_its_owner_where_it_is_used() {
    let fresh = fresh();
    let store = &fresh.store;
    let [anna, bert] = ["anna", "bert"].map(|n| store.add_account(n, "x", T0).unwrap().unwrap());
    let origin =
        |device: &str| SessionOrigin { device: device.to_owned(), address: "192.0.2.1".to_owned() };
    store.begin_session_at(anna, [1; 32], origin("one"), T0, at(1000)).unwrap();
    store.begin_session_at(anna, [2; 32], origin(&"x".repeat(900)), at(1), at(1000)).unwrap();
    store.begin_session(bert, [3; 32], T0, at(1000)).unwrap();
    store.note_session_use([1; 32], origin("elsewhere"), at(50)).unwrap();
    let rows = store.sessions(anna, at(60)).unwrap();
    let seen: Vec<_> = rows.iter().map(|row| (row.created_at, row.seen_at)).collect();
    assert_eq!(seen, [(T0, at(50)), (at(1), at(1))]);
    assert_eq!(rows[0].origin, origin("elsewhere"));
    assert_eq!(rows[1].origin.device.len(), 300);
    let number = rows[0].number;
    assert_eq!(SessionNumber::parse(&number.to_string()), Some(number));
    assert!(!store.end_session_numbered(bert, number).unwrap(), "it is not theirs");
    assert!(store.end_session_numbered(anna, number).unwrap());
    assert!(store.session(&[1; 32], at(60)).unwrap().is_none());
    assert_eq!(store.end_other_sessions(anna, Some([2; 32])).unwrap(), 0);
    assert_eq!(store.end_other_sessions(anna, None).unwrap(), 1);
    assert!(store.session(&[3; 32], at(60)).unwrap().is_some());
    assert!(store.sessions(bert, at(1000)).unwrap().is_empty(), "it has expired");
}

#[test]
fn an_identity_belongs_to_one_account_and_takes_over_none() {
    let fresh = fresh();
    let store = &fresh.store;
    let identity = |issuer: &str, subject: &str| Identity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
    };
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let here = identity("https://a.example", "anna");
    let made = store.account_for_identity(&here, "Anna", T0).unwrap().unwrap();
    assert_eq!((made.name.as_str(), made.role), ("anna-2", AccountRole::Reader));
    assert_ne!(made.id, anna);
    let again = store.account_for_identity(&here, "other", T0).unwrap().unwrap();
    assert_eq!(again.id, made.id, "the name does not matter any more");
    for other in [identity("https://b.example", "anna"), identity("https://a.example", "Anna")] {
        assert!(store.identified(&other).unwrap().is_none(), "{other:?}");
    }
    assert_eq!(store.connect_identity(anna, &here, T0).unwrap(), Err(AccountError::Taken));
    let there = identity("https://b.example", "anna");
    assert_eq!(store.connect_identity(anna, &there, T0).unwrap(), Ok(()));
    assert_eq!(store.identified(&there).unwrap().unwrap().id, anna);
    assert!(!store.disconnect_identity(made.id, &there).unwrap(), "it is not theirs");
    assert!(store.disconnect_identity(anna, &there).unwrap());
    store.remove_account(made.id).unwrap();
    assert!(store.identified(&here).unwrap().is_none());
}

#[test]
fn the_list_of_accounts_has_pages_in_both_directions_and_a_search() {
    let fresh = fresh();
    let store = &fresh.store;
    for n in 0..25 {
        store.add_account(&format!("Person_{n:02}"), "hash", T0).unwrap().unwrap();
    }
    let page = |text: &str, from: Option<&str>, backwards| {
        let (text, from) = (text.to_owned(), from.map(str::to_owned));
        let filter = AccountListFilter { text, from, backwards, limit: 10 };
        let page = store.account_page(&filter).unwrap();
        let ends = [page.accounts.first(), page.accounts.last()];
        let ends = ends.map(|row| row.map_or(String::new(), |row| row.name.clone()));
        (ends, page.accounts.len(), page.n_accounts, [page.has_earlier, page.has_later])
    };
    let ends = |first: &str, last: &str| [first.to_owned(), last.to_owned()];
    let (first, last) = (ends("person_00", "person_09"), ends("person_20", "person_24"));
    assert_eq!(page("", None, false), (first.clone(), 10, 25, [false, true]));
    let second = ends("person_10", "person_19");
    assert_eq!(page("", Some("person_09"), false), (second.clone(), 10, 25, [true, true]));
    assert_eq!(page("", Some("person_19"), false), (last, 5, 25, [true, false]));
    assert_eq!(page("", Some("person_20"), true), (second, 10, 25, [true, true]));
    assert_eq!(page("", Some("person_10"), true), (first, 10, 25, [false, true]));
    assert_eq!(page("", Some("z"), false), (ends("", ""), 0, 25, [true, false]));
    // No character has a meaning of its own.
    assert_eq!(page(" N_2 ", None, false), (ends("person_20", "person_24"), 5, 5, [false, false]));
    assert_eq!(page("%2", None, false), (ends("", ""), 0, 0, [false, false]));
    assert_eq!(page("n.2", None, false), (ends("", ""), 0, 0, [false, false]));
}

#[test]
fn accounts_were_last_seen_by_session_or_token() {
    let fresh = fresh();
    let store = &fresh.store;
    let add = |name| store.add_account(name, "hash", T0).unwrap().unwrap();
    let (anna, bert, carl) = (add("anna"), add("bert"), add("carl"));
    store.begin_session(anna, [1; 32], at(5), at(100)).unwrap();
    store.begin_session(bert, [2; 32], at(6), at(100)).unwrap();
    let seen = |accounts: &[AccountId], now| {
        let mut seen: Vec<_> = store.last_seen(accounts, at(now)).unwrap().into_iter().collect();
        seen.sort();
        seen
    };
    assert_eq!(seen(&[anna, carl], 50), [(anna, at(5))]);
    assert_eq!(seen(&[carl, bert, anna], 50), [(anna, at(5)), (bert, at(6))]);
    assert_eq!(seen(&[anna, bert], 100), []);
}
