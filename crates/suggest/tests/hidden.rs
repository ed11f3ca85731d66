//! Hidden subscriptions of made-up people whose tastes are known.

mod draws;

use std::collections::BTreeSet;

use feed::FeedId;
use suggest::hidden::{HiddenResult, judge};

use draws::Draws;

const TOPICS: usize = 40;
const FEEDS_PER_TOPIC: usize = 25;
const PEOPLE: usize = 600;
const SUBSCRIPTIONS: usize = 30;

/// Returns a feed of a topic. The first ones are drawn more often.
fn feed_of(topic: usize, draws: &mut Draws) -> FeedId {
    let place = draws.below(FEEDS_PER_TOPIC).min(draws.below(FEEDS_PER_TOPIC));
    FeedId(u32::try_from(topic * FEEDS_PER_TOPIC + place).unwrap_or(0))
}

/// Makes people with up to three topics each. One of five subscriptions is of any topic.
fn people(topics: usize, draws: &mut Draws) -> Vec<BTreeSet<FeedId>> {
    let person = |draws: &mut Draws| {
        let own = [(); 3].map(|()| draws.below(topics));
        let mut list = BTreeSet::new();
        while list.len() < SUBSCRIPTIONS {
            let topic = if draws.below(5) == 0 { draws.below(TOPICS) } else { own[draws.below(3)] };
            // A person with one topic only runs out of feeds without the other topics.
            let topic = if list.len() % 7 == 6 { draws.below(TOPICS) } else { topic };
            list.insert(feed_of(topic, draws));
        }
        list
    };
    (0..PEOPLE).map(|_| person(draws)).collect()
}

fn rate(hits: usize, result: HiddenResult) -> f64 {
    hits as f64 / result.hidden as f64
}

#[test]
fn suggestions_find_hidden_feeds_of_known_tastes_better_than_popularity() {
    for seed in 1..=3 {
        let mut draws = Draws(seed);
        let lists = people(TOPICS, &mut draws);
        let result = judge(&lists, |n| draws.below(n));
        assert_eq!((result.lists, result.hidden), (PEOPLE, PEOPLE * SUBSCRIPTIONS / 5));
        let (suggested, popular) = (rate(result.suggested, result), rate(result.popular, result));
        println!("seed {seed}: suggested {suggested:.3}, popular {popular:.3}; {result:?}");
        assert!(suggested > 0.25 && suggested > 3.0 * popular, "seed {seed}: {result:?}");
    }
}

/// The control: a method that sees tastes where there are none would be wrong.
#[test]
fn without_tastes_suggestions_are_not_better_than_popularity() {
    let mut draws = Draws(7);
    let lists: Vec<BTreeSet<FeedId>> = (0..PEOPLE)
        .map(|_| {
            let mut list = BTreeSet::new();
            while list.len() < SUBSCRIPTIONS {
                let topic = draws.below(TOPICS);
                list.insert(feed_of(topic, &mut draws));
            }
            list
        })
        .collect();
    let result = judge(&lists, |n| draws.below(n));
    let (suggested, popular) = (rate(result.suggested, result), rate(result.popular, result));
    println!("without tastes: suggested {suggested:.3}, popular {popular:.3}; {result:?}");
    assert!(suggested < 1.5 * popular + 0.01, "{result:?}");
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let run = || {
        let mut draws = Draws(42);
        let lists = people(TOPICS, &mut draws);
        judge(&lists, |n| draws.below(n))
    };
    assert_eq!(run(), run());
}
