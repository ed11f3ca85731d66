//! Calls about rules, labels, hidden entries and the devices that get notifications.

use std::time::Duration;

use feed::EntryId;
use store::{
    AccountId, NewPushDevice, NewRule, PushDeviceId, RuleAct, RuleEffect, RuleRow, RuleStep, Store,
};

use super::people::account;
use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, who, now) = (&side.store, account(step), step.now());
    let later = now + Duration::from_secs(u64::from(step.n % 9000));
    let device = PushDeviceId(step.small());
    Some(match step.act {
        Act::PutRule => {
            let replaces = step.bit(6).then(|| step.name());
            let (name, text) = (if step.bit(7) { step.word() } else { step.name() }, step.word());
            let new = NewRule { name, text, is_on: step.flag, replaces };
            said(store.put_rule(who, &new, now))
        }
        Act::SwitchRule => said(store.switch_rule(who, &step.name(), step.flag, now)),
        Act::RuleOnPast => said(store.apply_rule_to_past(who, &step.name())),
        Act::DeleteRule => said(store.delete_rule(who, &step.name())),
        Act::ApplyRules => act_by_rules(side, step),
        Act::ApplyToPast => act_on_past(side, step),
        Act::LabelEntries => {
            said(store.label_entries(who, &step.name(), &step.entries(), step.flag, now))
        }
        Act::SetLabels => {
            let names = [step.name(), step.word()];
            said(store.set_labels(who, step.entry(), &names, now))
        }
        Act::RenameLabel => said(store.rename_label(who, &step.name(), step.word)),
        Act::DeleteLabel => said(store.delete_label(who, &step.name())),
        Act::ShowHidden => said(store.show_hidden(who)),
        Act::PutDevice => {
            let device = NewPushDevice {
                session: step.flag.then(|| step.digest()),
                endpoint: format!("https://push{}.example/{}", step.feed % 2, step.n % 3),
                p256dh: vec![4; 65],
                auth: vec![0, 255],
                name: step.word(),
            };
            said(store.put_push_device(who, &device, now))
        }
        Act::RemoveDevice => said(store.remove_push_device(who, device)),
        Act::NotePushed => side.wait(store.note_pushed(device, i64::from(step.n % 7), now, later)),
        Act::PostponeDevice => {
            let host = step.flag.then(|| format!("push{}.example", step.feed % 2));
            side.wait(store.postpone_push(device, host, later, step.word()))
        }
        Act::DropDevice => side.wait(store.drop_push_device(device)),
        Act::DropNotifications => {
            said(store.drop_old_notifications(now + Duration::from_secs(9 * 86_400)))
        }
        _ => return None,
    })
}

fn effects(step: &Step, label: &str) -> Vec<RuleEffect> {
    let all = [
        RuleEffect::MarkRead,
        RuleEffect::Star,
        RuleEffect::Hide,
        RuleEffect::Label(label.to_owned()),
        RuleEffect::Notify,
    ];
    all.into_iter().enumerate().filter(|(n, _)| step.bit(*n as u32)).map(|(_, one)| one).collect()
}

/// The acts of a rule on every second entry after one.
fn acts(step: &Step, rule: &RuleRow, from: EntryId, to: EntryId) -> Vec<RuleAct> {
    let effects = effects(step, &step.name()).into();
    let act = |n| RuleAct {
        rule: rule.id,
        account: rule.account,
        entry: EntryId(n),
        effects: std::sync::Arc::clone(&effects),
    };
    (from.0 + 1..=to.0).step_by(2).map(act).collect()
}

/// The rules act on some of the entries that follow their mark. Sometimes the mark is wrong.
fn act_by_rules(side: &Side, step: &Step) -> String {
    let store = &side.store;
    let (Ok((from, version)), Ok(last)) = (store.rule_progress(), store.last_entry_id()) else {
        return String::new();
    };
    let to = EntryId(last.0.min(from.0 + i64::from(step.n % 9)));
    let rules = (0..3).flat_map(|who| store.rules(AccountId(who)).unwrap_or_default());
    let acts = rules.filter(|rule| exists(store, rule.account)).flat_map(|rule| {
        let from = if rule.is_on { from } else { to };
        acts(step, &rule, from, to)
    });
    let acts = acts.filter(|act| store.entry(act.entry).is_ok_and(|entry| entry.is_some()));
    let version = if step.bit(9) { version } else { version - i64::from(step.n % 2) };
    let step_of = RuleStep { version, from, to, acts: acts.collect() };
    side.wait(store.act_by_rules(step_of, step.now()))
}

/// Labels and stars need the account.
fn exists(store: &Store, account: AccountId) -> bool {
    let known = store.accounts().unwrap_or_default();
    account == AccountId::LOCAL || known.iter().any(|row| row.id == account)
}

fn act_on_past(side: &Side, step: &Step) -> String {
    let store = &side.store;
    let waiting = store.rule_with_past();
    let Ok(Some((rule, version))) = &waiting else { return said(waiting) };
    let from = rule.past_next.unwrap_or(EntryId(0));
    let to = EntryId(rule.since.0.min(from.0 + i64::from(step.n % 9)));
    let acts = acts(step, rule, from, to);
    let acts = acts.into_iter().filter(|act| store.entry(act.entry).is_ok_and(|e| e.is_some()));
    let of_rule = RuleStep { version: *version, from, to, acts: acts.collect() };
    side.wait(store.act_on_past(rule.id, of_rule, to == rule.since, step.now()))
}
