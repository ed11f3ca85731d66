//! Calls about marks, accounts, sessions, tokens, and commands of other processes.

use std::time::Duration;

use feed::QueryId;
use store::{
    AccountId, AccountRole, Identity, NewToken, RequestId, Scope, SessionOrigin, Store, TokenScope,
};

use super::step::{Act, Step};
use super::{Side, said};

const NAMES: [&str; 3] = ["anna", "Berta", "čeněk"];

/// The local person, or one of the accounts.
pub fn account(step: &Step) -> AccountId {
    AccountId(i64::from(step.n % 3))
}

/// Makes a call for an account that exists. For others, PostgreSQL would use up a number of a row
/// that it then undoes.
pub fn known_account(store: &Store, who: AccountId, call: impl FnOnce() -> String) -> String {
    let accounts = store.accounts().unwrap_or_default();
    if accounts.iter().any(|row| row.id == who) { call() } else { String::new() }
}

pub fn scope(step: &Step) -> Scope {
    match step.n % 6 {
        0 => Scope::All,
        1 => Scope::Feed(step.feed()),
        2 => Scope::Feeds(vec![step.feed(), feed::FeedId(2), feed::FeedId(1)]),
        3 => Scope::Tag(format!("t{}", step.feed % 3)),
        4 => Scope::Tag(step.word()),
        _ => Scope::Query(QueryId(1 + step.feed % 3)),
    }
}

/// A person at one of two providers.
fn identity(step: &Step) -> Identity {
    Identity { issuer: format!("https://{}.example", step.feed % 2), subject: step.word() }
}

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, who, now) = (&side.store, account(step), step.now());
    let digest = [u8::try_from(step.n % 3).unwrap_or(0); 32];
    Some(match step.act {
        Act::MarkRead => said(store.mark_read(who, &step.entries(), step.flag)),
        Act::Star => said(store.star(who, &step.entries(), step.flag, now)),
        Act::MarkListRead => said(store.mark_list_read(who, &scope(step), step.entry(), now)),
        Act::UndoMarks => said(store.undo_mark_list(who, now)),
        Act::MarkScope => {
            let (published, up_to) = (step.flag.then_some(now), Some(step.entry()));
            said(store.mark_scope_read(who, &scope(step), published, up_to))
        }
        Act::Choose => said(store.choose(who, "zone", step.some_word())),
        Act::AddAccount => said(store.add_account(NAMES[(step.n % 3) as usize], step.word, now)),
        Act::RemoveAccount => said(store.remove_account(who)),
        Act::SetPassword => said(store.set_password(who, step.word)),
        Act::BeginSession => {
            let ends = now + Duration::from_secs(u64::from(step.n % 900_000));
            said(store.begin_session(who, digest, now, ends))
        }
        Act::EndSession => said(store.end_session(digest)),
        Act::UseSession => {
            let origin = SessionOrigin { device: step.word(), address: step.word() };
            said(store.note_session_use(digest, origin, now))
        }
        Act::SetRole => {
            let role = if step.flag { AccountRole::Admin } else { AccountRole::Reader };
            said(store.set_role(who, role))
        }
        Act::LeaveAccount => said(store.remove_account_but_last_admin(who)),
        Act::ConnectIdentity => said(store.connect_identity(who, &identity(step), now)),
        Act::LogInElsewhere => {
            let name = NAMES[(step.n % 3) as usize];
            said(store.account_for_identity(&identity(step), name, now))
        }
        Act::AddToken => {
            let name = step.word();
            let scope = if step.flag { TokenScope::Write } else { TokenScope::Read };
            let digest = [u8::try_from(step.n % 200).unwrap_or(0); 32];
            let new = NewToken { account: who, name, scope, digest, fever_digest: digest };
            said(store.add_token(&new, now))
        }
        Act::UseToken => said(store.note_token_use(step.small(), now)),
        Act::RevokeToken => said(store.revoke_token(who, step.small())),
        Act::LeaveRequest => said(store.leave_request("command", step.word, now)),
        Act::TakeRequests => said(store.take_requests()),
        Act::AnswerRequest => {
            said(store.answer_request(RequestId(step.small()), step.flag, step.word, now))
        }
        Act::RefuseRequests => said(store.refuse_requests(now, ("taken", "old"), now)),
        _ => return None,
    })
}
