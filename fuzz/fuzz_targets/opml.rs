//! Reads any bytes as a subscription list. It must not panic, and the list must survive being
//! written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parse::opml;

fuzz_target!(|bytes: &[u8]| {
    let Ok(list) = opml::read(bytes) else { return };
    let again = opml::read(opml::write("fuzz", &list.outlines).as_bytes()).unwrap();
    assert_eq!(again.outlines.len(), list.outlines.len());
});
