//! Adaptive smoothing: a model's own errors decide how fast it forgets.
//!
//! Horincar, Amann and Artières 2012 (source 000) leave the smoothing a to the operator and name
//! its adaptation as future work. Here a follows the tracking signal of Trigg and Leach (1967): E ←
//! g·e + (1 − g)·E, A ← g·|e| + (1 − g)·A, a = |E|/A, within the range that the paper found useful,
//! 0.01 … 0.2. Errors that cancel each other keep a small. A feed that changed its behaviour errs
//! in one direction, and a rises.
//!
//! ```
//! use polling::model::smoothing::Smoothing;
//!
//! let mut a = Smoothing::adjusting();
//! for _ in 0..50 { a.note(5.0); }
//! assert_eq!(a.value(), 0.2);
//! for i in 0..200 { a.note(if i % 2 == 0 { 1.0 } else { -1.0 }); }
//! assert!(a.value() < 0.1);
//! ```

/// The paper's range: below it nothing is learned within weeks, above it noise is.
pub const SMOOTHING_RANGE: (f64, f64) = (0.01, 0.2);
/// The weight of the newest error; the usual choice of the method.
const ERROR_WEIGHT: f64 = 0.1;
/// The value before any error is known: the middle of the paper's experiments.
const START: f64 = 0.1;

/// The smoothing a of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    Fixed(f64),
    Adjusting { error: f64, error_abs: f64 },
}

impl Smoothing {
    pub const fn adjusting() -> Smoothing {
        Smoothing::Adjusting { error: 0.0, error_abs: 0.0 }
    }

    /// Returns the weight of the newest poll in the model.
    pub fn value(self) -> f64 {
        self.value_within(SMOOTHING_RANGE)
    }

    /// Returns the same within another range.
    pub fn value_within(self, (low, high): (f64, f64)) -> f64 {
        match self {
            Smoothing::Fixed(a) => a.clamp(0.0, 1.0),
            Smoothing::Adjusting { error_abs, .. } if error_abs <= 0.0 => START,
            Smoothing::Adjusting { error, error_abs } => (error.abs() / error_abs).clamp(low, high),
        }
    }

    /// Adds an error of the model, in entries.
    pub fn note(&mut self, erred: f64) {
        if let Smoothing::Adjusting { error, error_abs } = self {
            *error += ERROR_WEIGHT * (erred - *error);
            *error_abs += ERROR_WEIGHT * (erred.abs() - *error_abs);
        }
    }
}
