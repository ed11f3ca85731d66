//! Rules of people: their rows, how far they have followed the stream, their effects, and the
//! devices that get notifications. The engine matches; nothing here does.

pub(crate) mod acting;
pub(crate) mod audience;
pub(crate) mod change;
pub(crate) mod devices;
pub(crate) mod notifications;
