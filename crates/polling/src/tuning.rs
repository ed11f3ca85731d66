//! The constants of `tide` that an experiment may scale.
//!
//! A constant passes through [`tuned`] at its use. Without the feature `tuning` that is the
//! identity and costs nothing. With it a factor applies, which the caller sets for the whole
//! process. No production build has the feature. State learned under one factor is meaningless
//! under another.

/// A constant of the model or of the policy; its own file explains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    LevelShort,
    LevelLong,
    LevelWeight,
    LevelPrior,
    LevelPriorRate,
    HabitsMemory,
    HoursPrior,
    HoursBlur,
    DaysPrior,
    ShapesWitness,
    MinutesPrior,
    MinutesWitness,
    TimerWeight,
    Outstanding,
    Horizon,
    Miss,
}

#[cfg(not(feature = "tuning"))]
#[inline]
pub(crate) const fn tuned(_: Constant, value: f64) -> f64 {
    value
}

#[cfg(feature = "tuning")]
pub(crate) use scaled::tuned;
#[cfg(feature = "tuning")]
pub use scaled::{reset, scale};

#[cfg(feature = "tuning")]
mod scaled {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Constant;

    /// The bits of the factors, in the order of [`Constant::ALL`].
    static FACTORS: [AtomicU64; Constant::ALL.len()] =
        [const { AtomicU64::new(1.0_f64.to_bits()) }; Constant::ALL.len()];

    impl Constant {
        /// All constants in the order of their numbers.
        pub const ALL: [Constant; 16] = [
            Constant::LevelShort,
            Constant::LevelLong,
            Constant::LevelWeight,
            Constant::LevelPrior,
            Constant::LevelPriorRate,
            Constant::HabitsMemory,
            Constant::HoursPrior,
            Constant::HoursBlur,
            Constant::DaysPrior,
            Constant::ShapesWitness,
            Constant::MinutesPrior,
            Constant::MinutesWitness,
            Constant::TimerWeight,
            Constant::Outstanding,
            Constant::Horizon,
            Constant::Miss,
        ];

        /// Returns the constant's name for a table.
        pub fn name(self) -> &'static str {
            match self {
                Constant::LevelShort => "level: short span, 10 d",
                Constant::LevelLong => "level: long span, 4 months",
                Constant::LevelWeight => "level: weight of the long span, 3",
                Constant::LevelPrior => "level: weight of the prior, 0.5",
                Constant::LevelPriorRate => "level: rate of the prior, 3 a day",
                Constant::HabitsMemory => "habits: memory, 90 d",
                Constant::HoursPrior => "hours: weight of the prior, 10",
                Constant::HoursBlur => "hours: share of each neighbour, 0.25",
                Constant::DaysPrior => "weekdays: weight of the prior, 80",
                Constant::ShapesWitness => "shapes: what an entry says, 1",
                Constant::MinutesPrior => "minutes: weight of the prior, 30",
                Constant::MinutesWitness => "minutes: what an entry says, 0.5",
                Constant::TimerWeight => "minutes: how usual a timer is, 0.3",
                Constant::Outstanding => "minutes: worth waiting for, 3 ×",
                Constant::Horizon => "look ahead: intervals, 6",
                Constant::Miss => "price of a miss, 2 years",
            }
        }
    }

    /// Multiplies the constant by `factor` in all threads of this process.
    pub fn scale(constant: Constant, factor: f64) {
        FACTORS[constant as usize].store(factor.to_bits(), Ordering::Relaxed);
    }

    /// Resets all factors to one.
    pub fn reset() {
        Constant::ALL.into_iter().for_each(|constant| scale(constant, 1.0));
    }

    pub(crate) fn tuned(constant: Constant, value: f64) -> f64 {
        value * f64::from_bits(FACTORS[constant as usize].load(Ordering::Relaxed))
    }
}
