//! Tags keep their numbers.

use store::{NumberedTag, Store};

use crate::sample::{T0, fresh, new_feed};

fn listed(store: &Store) -> Vec<(i64, String, u64)> {
    let one = |tag: NumberedTag| (tag.number, tag.tag, tag.n_feeds);
    store.numbered_tags().unwrap().into_iter().map(one).collect()
}

#[test]
fn a_tag_keeps_its_number_under_another_name_and_none_is_given_twice() {
    let fresh = fresh();
    let store = &fresh.store;
    assert_eq!(listed(store), [(1, String::new(), 0)]);
    for (url, tags) in [("https://a.example/", &["b", "a"][..]), ("https://b.example/", &[])] {
        let mut new = new_feed(url);
        new.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        store.add_feed(&new, T0).unwrap();
    }
    let own = |text: &str| text.to_owned();
    assert_eq!(listed(store), [(1, own(""), 1), (2, own("a"), 1), (3, own("b"), 1)]);
    store.rename_tag("a", Some("z")).unwrap();
    assert_eq!(listed(store), [(1, own(""), 1), (2, own("z"), 1), (3, own("b"), 1)]);
    // The name is in use: the two tags become one, with the number of the existing tag.
    store.rename_tag("z", Some("b")).unwrap();
    assert_eq!(listed(store), [(1, own(""), 1), (3, own("b"), 1)]);
    assert_eq!(store.tag_numbered(2).unwrap(), None);
    store.rename_tag("b", None).unwrap();
    assert_eq!(listed(store), [(1, own(""), 2)]);
    assert_eq!(store.make_tag("c").unwrap(), 4);
    assert_eq!(store.make_tag("c").unwrap(), 4);
    assert_eq!(listed(store), [(1, own(""), 2), (4, own("c"), 0)]);
    assert_eq!(store.tag_numbered(4).unwrap().as_deref(), Some("c"));
    // A tag without feeds that no app created is not listed.
    let id = store.find_feed("https://a.example/").unwrap().unwrap();
    store.tag_feed(id, &[own("d")], &[]).unwrap();
    let last = listed(store).pop().unwrap();
    assert!(last.0 > 4 && (last.1.as_str(), last.2) == ("d", 1), "{last:?}");
    store.tag_feed(id, &[], &[own("d")]).unwrap();
    assert_eq!(listed(store), [(1, own(""), 2), (4, own("c"), 0)]);
}
