//! The sentences that explain a feed's behaviour to a person. They name the fact and what it means.
//!
//! ```
//! use feed::Time;
//! use polling::model::behaviour::Behaviour;
//!
//! let facts = Behaviour::of(&[], Time::from_secs(0)).facts();
//! assert_eq!((facts[4].name, &*facts[4].value), ("Update pattern", "empty"));
//! assert_eq!(facts[4].meaning, "The feed has not shown any entry.");
//! ```

use super::behaviour::{ActivityLevel, Behaviour};
use super::pattern::UpdatePattern;
use super::shape::ActivityShape;

/// One fact about a feed's behaviour, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviourFact {
    pub name: &'static str,
    pub value: String,
    pub meaning: String,
}

impl Behaviour {
    /// Returns the facts in the order: activity class, coefficient of variation, periodicity,
    /// shape, update pattern.
    pub fn facts(&self) -> [BehaviourFact; 5] {
        let fact = |name, value: String, meaning| BehaviourFact { name, value, meaning };
        let unknown = || "unknown".to_owned();
        let cv = self.variation.map(|v| format!("{:.2}", v.cv_active));
        let periodic = self.is_periodic().map(|is| if is { "periodic" } else { "not periodic" });
        [
            fact("Activity class", self.activity.word().to_owned(), self.activity_meaning()),
            fact("Coefficient of variation", cv.unwrap_or_else(unknown), self.variation_meaning()),
            fact(
                "Periodicity",
                periodic.map_or_else(unknown, str::to_owned),
                self.periodicity_meaning().to_owned(),
            ),
            fact(
                "Shape of the day",
                self.shape.map_or_else(unknown, |shape| shape.word().to_owned()),
                shape_meaning(self.shape).to_owned(),
            ),
            fact(
                "Update pattern",
                self.pattern.word().to_owned(),
                pattern_meaning(self.pattern).to_owned(),
            ),
        ]
    }

    fn activity_meaning(&self) -> String {
        let range = match self.activity {
            ActivityLevel::VeryLow => "less than one entry a day",
            ActivityLevel::Low => "1 to 10 entries a day",
            ActivityLevel::Medium => "more than 10 entries a day, up to one an hour",
            ActivityLevel::High => "more than one entry an hour, up to 48 a day",
            ActivityLevel::VeryHigh => "more than 48 entries a day",
        };
        let (rate, days) = (self.per_day, self.days);
        let unit = if days.round() == 1.0 { "day" } else { "days" };
        format!("The feed posts {range}: {rate:.1} on average over {days:.0} {unit}.")
    }

    fn variation_meaning(&self) -> String {
        match self.variation {
            None => "Fewer than seven whole days with entries are known.".to_owned(),
            Some(v) => format!(
                "The number of entries in an active hour of the day deviates from its mean by \
                 {:.0} %. Over all 24 hours the coefficient is {:.2}.",
                v.cv_active * 100.0,
                v.cv
            ),
        }
    }

    fn periodicity_meaning(&self) -> &'static str {
        match self.is_periodic() {
            Some(true) => "One day resembles the next, so the hours of past days predict new ones.",
            Some(false) => {
                "The days differ too much for the hours of past days to predict new ones."
            }
            None => "The test needs more than 10 entries a day over at least a week.",
        }
    }
}

impl ActivityShape {
    pub const fn word(self) -> &'static str {
        match self {
            ActivityShape::Peaks => "peaks",
            ActivityShape::Uniform => "uniform",
            ActivityShape::Waves => "waves",
        }
    }
}

const fn shape_meaning(shape: Option<ActivityShape>) -> &'static str {
    match shape {
        Some(ActivityShape::Peaks) => {
            "Most entries come in a few short bursts, as from a program that runs at set hours."
        }
        Some(ActivityShape::Uniform) => {
            "Entries come at all hours alike, as from an aggregator of many sources."
        }
        Some(ActivityShape::Waves) => {
            "Entries follow the working day of people, with busy and quiet hours."
        }
        None => "Too few entries are known to tell the shape of a day.",
    }
}

const fn pattern_meaning(pattern: UpdatePattern) -> &'static str {
    match pattern {
        UpdatePattern::Empty => "The feed has not shown any entry.",
        UpdatePattern::SingleEntry => "Only one entry is known, so there is no pattern to see.",
        UpdatePattern::OnTheFly => {
            "The server dates all entries at the moment of the request, so the dates say nothing."
        }
        UpdatePattern::Chunked => "All entries of a document bear the same time.",
        UpdatePattern::Zombie => {
            "The feed still answers, but its last entry is at least eight weeks old and much older \
             than its usual gap."
        }
        UpdatePattern::Constant => "Entries come day and night, never more than two hours apart.",
        UpdatePattern::Spontaneous => {
            "Gaps vary and are usually a day or longer, as on a blog with one author."
        }
        UpdatePattern::Sliced => {
            "Entries come at certain times of the day, with few or none at other times."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feed::Time;

    #[test]
    fn every_fact_has_a_value_and_a_sentence() {
        let hourly: Vec<Time> = (0..30 * 24).map(|h| Time::from_secs(h * 3600)).collect();
        for (times, at) in [(&hourly[..], 30), (&hourly[..48], 2), (&hourly[..], 300), (&[], 1)] {
            let facts = Behaviour::of(times, Time::from_secs(at * 86_400)).facts();
            for fact in &facts {
                assert!(!fact.value.is_empty() && fact.meaning.ends_with('.'), "{fact:?}");
            }
        }
        let facts = Behaviour::of(&hourly, Time::from_secs(30 * 86_400)).facts();
        let values = facts.each_ref().map(|fact| fact.value.as_str());
        assert_eq!(values, ["medium", "0.00", "periodic", "uniform", "constant"]);
        assert!(facts[0].meaning.contains("24.0 on average over 28 days"), "{:?}", facts[0]);
    }
}
