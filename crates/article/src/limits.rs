//! Limits on a page. Real pages stay far below them; see [`guard`](crate::guard).

/// The bytes of a page, before and after decoding.
pub const PAGE_BYTES_MAX: usize = 3_000_000;
/// Nested elements. Browsers stop at 512.
pub const DEPTH_MAX: usize = 256;
/// Elements of a page, including those that the parser opens again.
pub const ELEMENTS_MAX: usize = 50_000;
