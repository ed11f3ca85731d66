//! How a feed posts, as the API shows it: each fact with a sentence that explains it.

use polling::model::behaviour::Behaviour;

use crate::v1::schema::answer;

answer! {
    /// How a feed posts, as known at its last poll.
    FeedBehaviour {
        /// `very low`, `low`, `medium`, `high` or `very high`.
        activity_class: &'static str,
        /// Entries per day, on average.
        entries_per_day: f64,
        /// The days from which activity, variation and shape were calculated.
        days: f64,
        /// The coefficient of variation of the entries in an hour of the day, as the mean over
        /// the hours with entries; null with fewer than seven whole days.
        coefficient_of_variation: Option<f64>,
        /// The same as the paper prints it: divided by all 24 hours.
        coefficient_of_variation_24: Option<f64>,
        /// Whether one day resembles the next; null if the feed posts too little to tell.
        periodic: Option<bool>,
        /// `peaks`, `uniform` or `waves`; null with too few entries.
        shape: Option<&'static str>,
        /// `empty`, `single entry`, `on-the-fly`, `chunked`, `zombie`, `constant`,
        /// `spontaneous` or `sliced`.
        update_pattern: &'static str,
        /// Each fact with its meaning, for people.
        facts: Vec<ExplainedFact>,
    }

    /// A fact and a sentence that says what it means.
    ExplainedFact {
        /// Its name.
        name: &'static str,
        /// Its value in words.
        value: String,
        /// Its meaning.
        meaning: String,
    }
}

impl FeedBehaviour {
    pub fn new(behaviour: &Behaviour) -> FeedBehaviour {
        let facts = behaviour.facts().into_iter();
        FeedBehaviour {
            activity_class: behaviour.activity.word(),
            entries_per_day: behaviour.per_day,
            days: behaviour.days,
            coefficient_of_variation: behaviour.variation.map(|variation| variation.cv_active),
            coefficient_of_variation_24: behaviour.variation.map(|variation| variation.cv),
            periodic: behaviour.is_periodic(),
            shape: behaviour.shape.map(|shape| shape.word()),
            update_pattern: behaviour.pattern.word(),
            facts: facts
                .map(|fact| ExplainedFact {
                    name: fact.name,
                    value: fact.value,
                    meaning: fact.meaning,
                })
                .collect(),
        }
    }
}
