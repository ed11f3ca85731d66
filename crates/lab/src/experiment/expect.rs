//! Expectations, and whether they hold.

use std::collections::HashSet;

use serde::Deserialize;

/// Figures by name: a subject and a measure, as in `mavsync entries.delay`.
#[derive(Clone, Debug, Default)]
pub struct Values {
    all: Vec<(String, f64)>,
}

impl Values {
    pub(super) fn add(&mut self, subject: &str, measure: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.all.push((format!("{subject} {measure}"), value));
        }
    }

    fn find(&self, name: &str) -> Option<f64> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Returns a name that two figures share, because an expectation could not tell them apart.
    pub(super) fn twice(&self) -> Option<&str> {
        let mut names = HashSet::new();
        self.iter().map(|(name, _)| name).find(|name| !names.insert(*name))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.all.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

/// One comparison that must hold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Expectation {
    text: String,
    left: ExpectationTerm,
    relation: Relation,
    right: ExpectationTerm,
}

#[derive(Clone, Debug, PartialEq)]
struct ExpectationTerm {
    factor: f64,
    /// `None` for a plain number, which is the factor.
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    More,
    AtLeast,
}

/// An expectation with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedExpectation {
    pub text: String,
    /// Both sides; `None` if the figure does not exist.
    pub left: Option<f64>,
    pub right: Option<f64>,
    pub holds: bool,
}

impl TryFrom<String> for Expectation {
    type Error = String;

    fn try_from(text: String) -> Result<Expectation, String> {
        let refuse = || {
            format!(
                "`{text}` is not an expectation; write it as \
                 `mavsync entries.delay < 0.5 * fix:1d entries.delay`"
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let relation = |word: &str| match word {
            "<" => Some(Relation::Less),
            "<=" => Some(Relation::AtMost),
            ">" => Some(Relation::More),
            ">=" => Some(Relation::AtLeast),
            _ => None,
        };
        let place = words.iter().position(|word| relation(word).is_some()).ok_or_else(refuse)?;
        let left = ExpectationTerm::read(&words[..place]).ok_or_else(refuse)?;
        let right = ExpectationTerm::read(&words[place + 1..]).ok_or_else(refuse)?;
        let relation = relation(words[place]).ok_or_else(refuse)?;
        Ok(Expectation { left, relation, right, text })
    }
}

impl ExpectationTerm {
    fn read(words: &[&str]) -> Option<ExpectationTerm> {
        let name = |subject: &str, measure: &str| Some(format!("{subject} {measure}"));
        match words {
            [number] => Some(ExpectationTerm { factor: number.parse().ok()?, name: None }),
            [subject, measure] => {
                Some(ExpectationTerm { factor: 1.0, name: name(subject, measure) })
            }
            [factor, "*", subject, measure] => {
                Some(ExpectationTerm { factor: factor.parse().ok()?, name: name(subject, measure) })
            }
            _ => None,
        }
    }

    fn value(&self, values: &Values) -> Option<f64> {
        match &self.name {
            None => Some(self.factor),
            Some(name) => values.find(name).map(|value| value * self.factor),
        }
    }
}

impl Expectation {
    /// Judges the expectation. It does not hold if a figure does not exist.
    pub(super) fn judge(&self, values: &Values) -> JudgedExpectation {
        let (left, right) = (self.left.value(values), self.right.value(values));
        let holds = left.zip(right).is_some_and(|(left, right)| match self.relation {
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::More => left > right,
            Relation::AtLeast => left >= right,
        });
        JudgedExpectation { text: self.text.clone(), left, right, holds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_compare_figures_and_numbers() {
        let mut values = Values::default();
        values.add("fix:1h", "entries.delay", Some(1800.0));
        values.add("cold/mavsync", "entries.delay", Some(900.0));
        values.add("fix:1h", "undefined", None);
        let holds =
            |text: &str| Expectation::try_from(text.to_owned()).unwrap().judge(&values).holds;
        assert!(holds("cold/mavsync entries.delay < fix:1h entries.delay"));
        assert!(holds("cold/mavsync entries.delay <= 0.5 * fix:1h entries.delay"));
        assert!(!holds("fix:1h entries.delay > 1800"));
        assert!(holds("fix:1h entries.delay >= 1800"));
        assert!(!holds("fix:1h undefined >= 0"));
        for wrong in ["", "a b", "a b < ", "a < b c d", "a b == 3"] {
            assert!(Expectation::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
