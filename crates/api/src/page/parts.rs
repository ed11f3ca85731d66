//! Parts that several pages show: rows of feeds, advice on failures, key figures, bar charts and
//! the results of replays.

pub mod advice;
pub mod bars;
pub mod feed_row;
pub mod health_summary;
pub mod key_figure;
pub mod replay;
