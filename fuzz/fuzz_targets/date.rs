//! Reads any text as a date. It must not panic, and a date that is read must survive being written
//! and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(time) = parse::date::parse(text) {
        let whole = time.floor_to_second();
        assert_eq!(parse::date::parse(&whole.to_string()), Some(whole));
    }
});
