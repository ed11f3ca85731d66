//! The page and its guards over HTTP; the folder `browser` tests the page itself.

mod attacks;
mod images;
mod probes;
mod provider;
mod secrets;
