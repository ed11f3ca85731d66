//! Any text as a feed's address and as an item's link: no panic, normal forms are stable, secrets
//! stay masked, keys are deterministic.
#![no_main]

use feed::{FeedUrl, Item, Window, identify};
use libfuzzer_sys::fuzz_target;
use parse::discover::deduplicate;

fuzz_target!(|text: &str| {
    let item = Item { id: Some(text.to_owned()), link: Some(text.to_owned()), ..Item::default() };
    let items = vec![item.clone(), Item { id: None, ..item }];
    let window = Window::default();
    assert_eq!(identify(items.clone(), &window), identify(items, &window));
    let urls: Vec<url::Url> = text.lines().filter_map(|l| url::Url::parse(l).ok()).collect();
    assert_eq!(deduplicate(&urls).len(), urls.len());
    let Ok(url) = FeedUrl::parse(text) else { return };
    let again = FeedUrl::parse(url.as_str()).unwrap();
    assert_eq!(again, url);
    let _ = (url.domain(), url.twin(), url.masked());
});
