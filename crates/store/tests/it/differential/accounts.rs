//! Calls about logins, share targets, positions of players, and marks that somebody brings along.

use store::{
    AccountRole, Identity, PendingMark, PlaybackPosition, SessionOrigin, ShareKind, ShareTarget,
};

use super::people::account;
use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, who, now) = (&side.store, account(step), step.now());
    let except = step.flag.then(|| step.digest());
    Some(match step.act {
        Act::AddAccountAs => {
            let role = [None, Some(AccountRole::Admin), Some(AccountRole::Reader)];
            let role = role[(step.feed % 3) as usize];
            said(store.add_account_as(&step.name(), step.word, role, now))
        }
        Act::ChangePassword => said(store.change_password(who, step.word, except)),
        Act::BeginSessionAt => {
            let origin = SessionOrigin { device: step.word(), address: "::1".to_owned() };
            let digest = [u8::try_from(step.n % 250).unwrap_or(0); 32];
            let ends = now + std::time::Duration::from_secs(u64::from(step.n % 900_000));
            said(store.begin_session_at(who, digest, origin, now, ends))
        }
        Act::EndSessionNumbered => {
            let sessions = store.sessions(who, feed::Time::from_secs(0)).unwrap_or_default();
            let chosen = sessions.get(step.feed as usize % sessions.len().max(1));
            chosen.map_or_else(String::new, |row| said(store.end_session_numbered(who, row.number)))
        }
        Act::EndOtherSessions => said(store.end_other_sessions(who, except)),
        Act::DisconnectIdentity => {
            let issuer = format!("https://{}.example", step.feed % 2);
            said(store.disconnect_identity(who, &Identity { issuer, subject: step.word() }))
        }
        Act::AddShareTarget => {
            let target = ShareTarget {
                position: i64::from(step.n % 4),
                name: step.word(),
                kind: if step.flag { ShareKind::Link } else { ShareKind::Webhook },
                template: "https://example.org/?u={url}".to_owned(),
                signing_key: step.name(),
            };
            said(store.add_share_target(who, &target))
        }
        Act::RemoveShareTarget => said(store.remove_share_target(who, i64::from(step.n % 4))),
        Act::PutPosition => said(store.put_playback_position(who, &position(step))),
        Act::CountAccount => said(store.count_account(who, step.flag)),
        Act::BringMarks => {
            let state = ("other", step.word);
            said(store.add_pending_marks(who, state, marks(step), now))
        }
        Act::ApplyMarks => said(store.apply_pending_marks(who, step.feed(), now)),
        _ => return None,
    })
}

fn position(step: &Step) -> PlaybackPosition {
    PlaybackPosition {
        entry: step.entry(),
        url: format!("https://d1.example/{}.mp3", step.n % 2),
        seconds: f64::from(step.n % 1000) / 8.0,
        duration: step.flag.then_some(77.5),
        changed_at: step.now(),
    }
}

/// Marks for entries by their id, by their link, or by their title. Some entries do not exist.
fn marks(step: &Step) -> Vec<PendingMark> {
    let feed = step.feed();
    let mark = |n: u32| PendingMark {
        feed,
        guid: step.bit(n).then(|| format!("{feed}-{n}")),
        link: step.bit(n + 9).then(|| format!("https://d{}.example/e{n}", feed.0 % 3)),
        title: step.bit(n + 18).then(|| format!("Alpha {n} ")),
        is_read: step.bit(n + 1),
        starred_at: step.bit(n + 2).then(|| step.now()),
    };
    (0..9).map(mark).collect()
}
