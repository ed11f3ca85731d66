//! The kinds of models that a policy can use, by name.
//!
//! ```
//! use polling::model::ModelKind;
//! assert_eq!("periodic".parse::<ModelKind>().map(ModelKind::word), Ok("periodic"));
//! ```

use std::str::FromStr;

use super::Model;
use super::changes::Changes;
use super::daily_total::DailyTotal;
use super::smoothing::Smoothing;
use crate::spec::SpecError;
use crate::spec::{KnownName, unknown};

/// The model of a policy or strategy that can use any model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// The window's own rate.
    Window,
    SingleVariable,
    Periodic,
    Histogram,
    /// For windows of one entry.
    Changes,
    /// Level, hours and weekdays with a prior.
    Tide,
    /// The total of a day, and the shares of its hours.
    DailyTotal,
    /// A profile of the day that is learned, frozen, and learned again.
    Offline,
}

impl ModelKind {
    /// Returns a model without observations; its smoothing adapts.
    pub fn start(self) -> Model {
        match self {
            ModelKind::Window => Model::homogeneous(),
            ModelKind::SingleVariable => Model::single_variable(Smoothing::adjusting()),
            ModelKind::Periodic => Model::daily(Smoothing::adjusting()),
            ModelKind::Histogram => Model::sliding(),
            ModelKind::Changes => Model::Changes(Changes::default()),
            ModelKind::Tide => Model::Tide(Box::default()),
            ModelKind::DailyTotal => Model::DailyTotal(DailyTotal::default()),
            ModelKind::Offline => Model::Offline(Box::default()),
        }
    }
}

impl ModelKind {
    pub const ALL: [ModelKind; 8] = [
        ModelKind::Window,
        ModelKind::SingleVariable,
        ModelKind::Periodic,
        ModelKind::Histogram,
        ModelKind::Changes,
        ModelKind::Tide,
        ModelKind::DailyTotal,
        ModelKind::Offline,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            ModelKind::Window => "window",
            ModelKind::SingleVariable => "single-variable",
            ModelKind::Periodic => "periodic",
            ModelKind::Histogram => "histogram",
            ModelKind::Changes => "changes",
            ModelKind::Tide => "tide",
            ModelKind::DailyTotal => "daily-total",
            ModelKind::Offline => "offline",
        }
    }
}

impl FromStr for ModelKind {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<ModelKind, SpecError> {
        let known = ModelKind::ALL.map(|kind| KnownName {
            name: kind.word(),
            example: kind.word(),
            needs: "no parameter",
        });
        let found = ModelKind::ALL.into_iter().find(|kind| kind.word() == text);
        found.ok_or_else(|| unknown("model", text, &known))
    }
}
