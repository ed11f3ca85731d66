//! Rules: they act once on each entry, for their own account only, and recording a poll writes
//! nothing for them.

use std::sync::Arc;
use std::time::Duration;

use feed::EntryId;
use store::{
    AccountId, FeedAudience, NewFeed, NewPushDevice, NewRule, ReadingFilter, Retention, RuleAct,
    RuleEffect, RuleError, RuleId, RuleStep, Scope, Store,
};

use crate::sample::{T0, add, at, fresh, new_feed, poll};

const ME: AccountId = AccountId::LOCAL;

fn rule(name: &str) -> NewRule {
    let text = format!("CREATE RULE {name} ON ALL FEEDS DO STAR");
    NewRule { name: name.to_owned(), text, is_on: true, replaces: None }
}

fn act(id: RuleId, account: AccountId, entry: i64, effects: &[RuleEffect]) -> RuleAct {
    RuleAct { rule: id, account, entry: EntryId(entry), effects: Arc::from(effects) }
}

fn step(store: &Store, to: i64, acts: Vec<RuleAct>) -> RuleStep {
    let (from, version) = store.rule_progress().unwrap();
    RuleStep { version, from, to: EntryId(to), acts }
}

fn listed(store: &Store, change: impl FnOnce(&mut ReadingFilter)) -> Vec<i64> {
    let mut filter = ReadingFilter::newest(ME, Scope::All, 100);
    change(&mut filter);
    let mut found: Vec<i64> =
        store.reading_places(&filter).unwrap().iter().map(|place| place.entry.0).collect();
    found.sort_unstable();
    found
}

#[tokio::test]
async fn a_step_acts_once_and_not_under_rules_that_have_changed() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/a");
    let row = f.store.put_rule(ME, &rule("a"), T0).unwrap().unwrap();
    poll(&f.store, feed, &["3", "2", "1"], at(10));
    assert_eq!(f.store.rule_progress().unwrap().0, EntryId(0), "a poll moves no mark");
    let effects =
        [RuleEffect::Hide, RuleEffect::Star, RuleEffect::Label("x".to_owned()), RuleEffect::Notify];
    let first = step(&f.store, 2, vec![act(row.id, ME, 1, &effects), act(row.id, ME, 2, &[])]);
    assert!(f.store.act_by_rules(first.clone(), at(11)).await.unwrap());
    assert!(!f.store.act_by_rules(first.clone(), at(12)).await.unwrap(), "once");
    assert_eq!(f.store.rule_progress().unwrap().0, EntryId(2));
    // A change of rules in between: the step is refused and the mark stays.
    let late = step(&f.store, 3, vec![act(row.id, ME, 3, &[RuleEffect::Star])]);
    f.store.switch_rule(ME, "a", false, at(13)).unwrap();
    assert!(!f.store.act_by_rules(late, at(14)).await.unwrap());
    assert_eq!(f.store.rule_progress().unwrap().0, EntryId(2));

    let row = f.store.rule(ME, "a").unwrap().unwrap();
    assert_eq!((row.n_acted, row.acted_at, row.is_on), (2, Some(at(11)), false));
    assert_eq!(f.store.stars(ME).unwrap().len(), 1);
    assert_eq!(listed(&f.store, |_| ()), [2, 3], "a hidden entry is in no list");
    assert_eq!(listed(&f.store, |filter| filter.hidden = true), [1]);
    assert!(f.store.read_marks(ME).unwrap().is_read(EntryId(1)));
    assert_eq!(f.store.unread_by_feed(ME).unwrap()[&feed], 2);
    let labelled = f.store.label(ME, "x").unwrap().unwrap();
    f.store.show_hidden(ME).unwrap();
    assert_eq!(listed(&f.store, |filter| filter.scope = Scope::Label(labelled)), [1]);
    assert_eq!(f.store.notifications(ME, 0, 9).unwrap(), [], "there is no device");
    assert_eq!(f.store.check().unwrap(), []);
}

#[tokio::test]
async fn the_past_is_done_step_by_step_and_notifies_nobody() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/a");
    poll(&f.store, feed, &["3", "2", "1"], at(10));
    let row = f.store.put_rule(ME, &rule("a"), T0).unwrap().unwrap();
    assert_eq!(row.since, EntryId(3), "entries from before are left alone");
    device(&f.store, ME, "https://push.example/1");
    assert!(f.store.rule_with_past().unwrap().is_none());
    assert!(f.store.apply_rule_to_past(ME, "a").unwrap());
    for (to, is_end) in [(2, false), (3, true)] {
        let (found, version) = f.store.rule_with_past().unwrap().unwrap();
        let from = found.past_next.unwrap();
        let effects = [RuleEffect::Star, RuleEffect::Notify];
        let acts = (from.0 + 1..=to).map(|n| act(found.id, ME, n, &effects)).collect();
        let step = RuleStep { version, from, to: EntryId(to), acts };
        assert!(f.store.act_on_past(found.id, step.clone(), is_end, at(20)).await.unwrap());
        assert!(!f.store.act_on_past(found.id, step, is_end, at(20)).await.unwrap(), "once");
    }
    assert!(f.store.rule_with_past().unwrap().is_none());
    assert_eq!(f.store.rule(ME, "a").unwrap().unwrap().n_acted, 3);
    assert_eq!(f.store.notifications(ME, 0, 9).unwrap(), []);
}

#[test]
fn names_are_taken_once_and_a_new_text_keeps_the_counts() {
    let f = fresh();
    let first = f.store.put_rule(ME, &rule("a"), T0).unwrap().unwrap();
    assert_eq!(f.store.put_rule(ME, &rule("a"), T0).unwrap(), Err(RuleError::Taken));
    f.store.put_rule(ME, &rule("b"), T0).unwrap().unwrap();
    let renamed = NewRule { replaces: Some("a".to_owned()), ..rule("c") };
    assert_eq!(f.store.put_rule(ME, &renamed, T0).unwrap().unwrap().id, first.id);
    let onto = NewRule { replaces: Some("c".to_owned()), ..rule("b") };
    assert_eq!(f.store.put_rule(ME, &onto, T0).unwrap(), Err(RuleError::Taken));
    let names: Vec<String> = f.store.rules(ME).unwrap().into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["b", "c"]);
    assert!(f.store.delete_rule(ME, "b").unwrap() && !f.store.delete_rule(ME, "b").unwrap());
    for n in 1..200 {
        f.store.put_rule(ME, &rule(&format!("r{n}")), T0).unwrap().unwrap();
    }
    assert_eq!(f.store.put_rule(ME, &rule("more"), T0).unwrap(), Err(RuleError::TooMany));
}

fn device(store: &Store, account: AccountId, endpoint: &str) {
    let new = NewPushDevice {
        session: None,
        endpoint: endpoint.to_owned(),
        p256dh: vec![4; 65],
        auth: vec![1; 16],
        name: "Firefox on Linux".to_owned(),
    };
    assert!(store.put_push_device(account, &new, T0).unwrap());
}

#[tokio::test]
async fn notifications_wait_for_each_device_and_end_with_its_session() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/a");
    let row = f.store.put_rule(ME, &rule("a"), T0).unwrap().unwrap();
    device(&f.store, ME, "https://push.example/1");
    poll(&f.store, feed, &["2", "1"], at(10));
    let acts = [1, 2].map(|n| act(row.id, ME, n, &[RuleEffect::Notify])).to_vec();
    assert!(f.store.act_by_rules(step(&f.store, 2, acts), at(11)).await.unwrap());
    device(&f.store, ME, "https://push.example/2");
    let due = f.store.push_devices_due(at(12), 9).unwrap();
    assert_eq!(due.len(), 1, "a new device hears of later entries only");
    let waiting = f.store.notifications(ME, due[0].sent_to, 9).unwrap();
    assert_eq!(waiting.len(), 2);
    let until = at(100);
    let host = Some("https://push.example/".to_owned());
    f.store.postpone_push(due[0].id, host, until, "it answered 429".to_owned()).await.unwrap();
    assert_eq!(f.store.push_devices_due(at(99), 9).unwrap(), []);
    let all = f.store.push_devices(ME).unwrap();
    assert!(all.iter().all(|device| device.next_at == Some(until)), "the whole service waits");
    assert_eq!((all[0].attempts, all[1].attempts), (1, 0));
    f.store.note_pushed(due[0].id, waiting[1].id, at(101), at(131)).await.unwrap();
    assert_eq!(f.store.push_devices_due(at(200), 9).unwrap(), []);
    assert_eq!(f.store.drop_old_notifications(at(86_412)).unwrap(), 2);

    let anna = f.store.add_account("anna", "$hash", T0).unwrap().unwrap();
    assert_eq!(f.store.rules(anna).unwrap().len(), 1, "the first account takes them over");
    f.store.begin_session(anna, [7; 32], T0, at(9999)).unwrap();
    let new = NewPushDevice {
        session: Some([7; 32]),
        endpoint: "https://push.example/2".to_owned(),
        p256dh: vec![4; 65],
        auth: vec![1; 16],
        name: "x".to_owned(),
    };
    assert!(f.store.put_push_device(anna, &new, T0).unwrap());
    assert_eq!(f.store.push_devices(anna).unwrap().len(), 2, "the same browser is one device");
    f.store.end_session([7; 32]).unwrap();
    assert_eq!(f.store.push_devices(anna).unwrap().len(), 1);
    f.store.remove_account(anna).unwrap();
    assert_eq!(f.store.rules(anna).unwrap(), []);
    assert_eq!(f.store.push_devices(anna).unwrap(), []);
}

#[test]
fn labels_belong_to_a_person_and_keep_an_entry() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/a");
    poll(&f.store, feed, &["3", "2", "1"], at(10));
    poll(&f.store, feed, &["4"], at(11));
    let (store, other) = (&f.store, AccountId(7));
    let ids = [EntryId(1), EntryId(2)];
    assert!(store.label_entries(ME, "later", &ids, true, T0).unwrap());
    assert!(store.label_entries(ME, "later", &ids[1..], false, T0).unwrap());
    assert!(store.label_entries(other, "later", &ids[1..], true, T0).unwrap());
    assert!(store.label_entries(ME, "more", &ids, true, T0).unwrap());
    assert_eq!(store.labels_of(ME, &ids).unwrap()[&EntryId(1)], ["later", "more"]);
    assert_eq!(store.labels_of(ME, &ids).unwrap()[&EntryId(2)], ["more"]);
    let mine = store.label(ME, "later").unwrap().unwrap();
    assert_ne!(store.label(other, "later").unwrap(), Some(mine));
    assert_eq!(listed(store, |filter| filter.scope = Scope::Label(mine)), [1]);
    let theirs = store.label(other, "later").unwrap().unwrap();
    assert_eq!(listed(store, |filter| filter.scope = Scope::Label(theirs)), Vec::<i64>::new());
    assert!(store.rename_label(ME, "more", "later").unwrap(), "the two become one");
    assert_eq!(listed(store, |filter| filter.scope = Scope::Label(mine)), [1, 2]);
    assert!(store.delete_label(other, "later").unwrap());
    assert!(store.label_entries(other, "later", &ids[..1], true, T0).unwrap());
    let rule = Retention { entries_age_max: Some(Duration::from_secs(5)), ..Retention::off() };
    store.retain(&rule, at(1000)).unwrap();
    assert_eq!(listed(store, |_| ()), [1, 2], "a label keeps an entry as a star does");
    assert_eq!(store.labels(ME).unwrap()[0].n_entries, 2);
}

#[test]
fn the_audience_of_a_feed_is_its_readers_with_rules_that_are_on() {
    let fresh = fresh();
    let store = &fresh.store;
    let accounts = ["anna", "bert", "carl", "dora"];
    let accounts = accounts.map(|name| store.add_account(name, "hash", T0).unwrap().unwrap());
    let [anna, bert, carl, dora] = accounts;
    let subscribe = |account, url: &str, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let new = NewFeed { tags, ..new_feed(url) };
        store.subscribe(account, &[new], T0).unwrap()[0].id
    };
    let common = subscribe(anna, "https://common.org/", &["a"]);
    let other = subscribe(bert, "https://other.org/", &[]);
    for (account, tags) in [(bert, &["c", "b"][..]), (carl, &[]), (dora, &["d"])] {
        assert_eq!(subscribe(account, "https://common.org/", tags), common);
    }
    // Dora has no rule, and that of carl is off.
    for (account, is_on) in [(anna, true), (bert, true), (carl, false)] {
        let text = "CREATE RULE r ON ALL FEEDS DO HIDE".to_owned();
        let rule = NewRule { name: "r".to_owned(), text, is_on, replaces: None };
        store.put_rule(account, &rule, T0).unwrap().unwrap();
    }
    let audiences = store.feed_audiences(&[common, other]).unwrap();
    let expect: FeedAudience = [(anna, vec!["a"]), (bert, vec!["b", "c"])]
        .map(|(account, tags)| (account, tags.into_iter().map(str::to_owned).collect()))
        .into();
    assert_eq!(audiences[&common], expect);
    assert_eq!(audiences[&other], [(bert, Vec::new())].into());
}
