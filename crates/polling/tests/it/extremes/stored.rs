//! Stored state that was cut, altered or invented. State that can be read is used, and every wish
//! stays within its bounds.

use feed::Time;
use polling::model::{Model, ModelKind};
use polling::{Learned, Policy};
use proptest::prelude::*;

use crate::extremes::polls::{Odd, check, odd, show, starts};
use crate::properties::policies::{POLICIES, bounds};

/// A value that overwrites a number somewhere in the stored bytes.
#[derive(Clone, Debug)]
pub struct Wound {
    /// The position, as a share of the length.
    at: f64,
    bytes: Vec<u8>,
}

pub fn wounds() -> impl Strategy<Value = Vec<Wound>> {
    let wide = prop_oneof![
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            1e-300,
            5e-324,
            4e10,
            1e15,
            1e300,
            f64::MAX,
            f64::MIN,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ])
        .prop_map(|x: f64| x.to_le_bytes().to_vec()),
        prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX])
            .prop_map(|x: i64| x.to_le_bytes().to_vec()),
    ];
    let narrow = prop_oneof![
        prop::sample::select(vec![0.0, -1.0, 1e-40, 4e10, 3e38, f32::NAN, f32::INFINITY])
            .prop_map(|x: f32| x.to_le_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..5),
        Just(vec![0xff_u8; 4]),
    ];
    let wound = (0.0..1.0_f64, prop_oneof![wide, narrow]);
    prop::collection::vec(wound.prop_map(|(at, bytes)| Wound { at, bytes }), 1..8)
}

/// Damages the bytes after the first `whole` ones, mostly at the start of a number.
pub fn wounded(stored: &[u8], whole: usize, wounds: &[Wound]) -> Vec<u8> {
    let mut bytes = stored.to_vec();
    let room = bytes.len().saturating_sub(whole);
    for (i, wound) in wounds.iter().enumerate() {
        let place = (wound.at * room as f64) as usize;
        let aligned = if i % 4 == 3 { place } else { place / 4 * 4 };
        let place = whole.min(bytes.len()) + aligned;
        for (byte, new) in bytes.iter_mut().skip(place).zip(&wound.bytes) {
            *byte = *new;
        }
    }
    bytes
}

fn history() -> impl Strategy<Value = Vec<Odd>> {
    prop::collection::vec(odd(), 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_policy_learns_on_from_whatever_can_be_read(
        start in starts(),
        before in history(),
        wounds in wounds(),
        after in prop::collection::vec(odd(), 1..6),
        bounds in bounds(),
    ) {
        for spec in POLICIES {
            let policy: Policy = spec.parse().expect("known");
            let mut learned = policy.start();
            show(start, &before, |o| policy.learn(&mut learned, o));
            // Version, kind, flags and the first poll; a model has a version and a kind of its own.
            for whole in [3, 11, 13] {
                let bytes = wounded(&learned.encode(), whole, &wounds);
                let mut wounded = Learned::decode(&policy, &bytes);
                show(start, &after, |o| {
                    policy.learn(&mut wounded, o);
                    check(spec, &policy, &wounded, o, &bounds);
                });
            }
        }
    }

    #[test]
    fn a_model_expects_a_number_whatever_it_was_read_from(
        start in starts(),
        before in history(),
        wounds in wounds(),
        after in prop::collection::vec(odd(), 1..6),
        gap_ms in prop_oneof![0..1_000_000_000_i64, Just(i64::MAX / 4)],
        amount in -10.0..300.0_f64,
    ) {
        for kind in ModelKind::ALL {
            let mut model = kind.start();
            show(start, &before, |o| model.learn(o));
            let Some(mut model) = Model::decode(&wounded(&model.encode(), 2, &wounds)) else {
                continue;
            };
            show(start, &after, |o| {
                model.learn(o);
                let to = o.at.shifted(gap_ms);
                let (expected, utility) = (model.expect(o.at, to), model.utility(o.at, to));
                assert!(expected >= 0.0 && utility >= 0.0, "{kind:?} {expected} {utility}");
                let amount = 10.0_f64.powf(amount);
                for until in [model.until_expected(o.at, amount), model.until_utility(o.at, amount)]
                {
                    assert!(until.is_none_or(|secs| secs >= 0.0), "{kind:?} {until:?}");
                }
            });
        }
    }
}

/// The memory of 32 intervals does not grow if more were read.
#[test]
fn no_more_intervals_are_kept_than_there_is_room_for() {
    let mut bytes = ModelKind::Changes.start().encode();
    let n = bytes.len() - 1;
    bytes[n] = 200;
    bytes.extend((0..200).flat_map(|i| f64::from(i + 1).to_le_bytes()));
    let Some(mut model) = Model::decode(&bytes) else { return };
    let polls = |i: i64| Time::from_secs(1_000_000 + i * 600);
    for i in 0..100 {
        model.learn(&crate::support::vectors::seen(polls(i), &[polls(i)]));
    }
    assert!(model.encode().len() <= 1024, "{}", model.encode().len());
}
