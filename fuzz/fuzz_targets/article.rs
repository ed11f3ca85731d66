//! Any bytes as a web page: no panic in the guard, the extraction and the cleaning, and an article
//! always has a text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|bytes: &[u8]| {
    let url = Url::parse("https://example.org/a/b").unwrap();
    let _ = article::icon::declared_icons(bytes, None, &url);
    let _ = article::icon::check_icon(bytes);
    match article::extract(bytes, None, Some(&url), None) {
        Ok(found) => assert!(!found.text.trim().is_empty()),
        Err(why) => assert_ne!(why, article::NoArticle::Internal, "a library panicked"),
    }
});
