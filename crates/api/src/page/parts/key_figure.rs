//! One figure with its name, as pages show it in a row of figures.

/// A figure in words.
pub struct KeyFigure {
    pub name: &'static str,
    pub value: String,
    /// A few words below the value; empty for none.
    pub note: String,
}
