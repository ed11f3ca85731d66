//! HTML of publishers: sanitising, stored attacks on the pages, and the proxy of pictures.

mod attacks;
mod images;
mod sanitise;
