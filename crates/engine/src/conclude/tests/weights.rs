//! The weight of a feed from its readers: under a budget, and in the price of a poll.

use polling::Policy;

use super::*;

fn weight_and_price(readers: Option<u64>, own: Option<f64>) -> (f64, u64) {
    let mut input = input();
    (input.readers, input.settings.own.weight) = (readers, own);
    let rule: BudgetRule = "60/1h tide".parse().expect("a budget");
    let Policy::Tide { price, .. } = policy(&input, &Settings::new()) else {
        panic!("the default policy has a price")
    };
    (rule.tracked(&input).weight, price.as_secs())
}

#[test]
fn more_readers_make_a_poll_cheaper_and_a_setting_is_stronger() {
    let (weight, price) = weight_and_price(None, None);
    assert_eq!(weight, 1.0);
    assert_eq!(weight_and_price(Some(1), None), (1.0, price));
    assert_eq!(weight_and_price(Some(12), None), (12.0, (price as f64 / 12.0).round() as u64));
    assert_eq!(weight_and_price(Some(0), None), (1.0, price), "somebody may read it again");
    assert_eq!(weight_and_price(Some(12), Some(2.0)), (2.0, price / 2));
    let (weight, dear) = weight_and_price(Some(12), Some(0.0));
    assert!(weight == 0.0 && dear == price * 100);
}
