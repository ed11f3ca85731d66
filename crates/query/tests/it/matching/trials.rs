//! Dry runs of a file over stored entries.

use feed::{EntryId, FeedId};
use query::{Statement, Trial};

use crate::sample::{created, samples};

#[test]
fn a_trial_counts_and_names_what_is_kept() {
    let file = r#"
        CREATE FEED ash AS RETURN FEED english WHERE ITEM CONTAINS "ash";
        CREATE OR REPLACE FEED old AS RETURN ALL FEEDS
            WHERE ITEM CONTAINS "again" DISTINCT ON LINK"#;
    let statements = query::parse(file).unwrap();
    let english = created(r#"CREATE FEED english AS RETURN ALL FEEDS WHERE LANGUAGE = "en""#);
    let old = created("CREATE FEED old AS RETURN ALL FEEDS");
    let creates = statements.iter().filter_map(Statement::created);
    let mut trial = Trial::new(&[english, old], creates);
    let kept: Vec<usize> = samples().iter().map(|sample| trial.run(&sample.entry())).collect();
    assert_eq!(kept, [2, 1, 0]);
    assert_eq!(trial.run(&samples()[0].entry()), 1, "a second look: the link is known");
    assert_eq!(trial.n_entries(), 4);
    let results: Vec<(&str, u64, Vec<i64>)> = trial
        .results()
        .map(|t| (t.name.as_str(), t.n_kept, t.newest.iter().map(|(e, _)| e.0).collect()))
        .collect();
    assert_eq!(results, [("ash", 2, vec![1, 1]), ("old", 2, vec![1, 2])]);
    assert_eq!(trial.shares(), [(FeedId(1), 2, 2), (FeedId(2), 1, 1), (FeedId(3), 1, 0)]);
}

#[test]
fn a_trial_names_the_newest_and_counts_the_rest() {
    let mut trial = Trial::new(&[], &[created("CREATE FEED a AS RETURN ALL FEEDS")]);
    let mut sample = samples()[0].clone();
    for id in 1..=1010 {
        sample.id = id;
        trial.run(&sample.entry());
    }
    let tried = trial.results().next().unwrap();
    assert_eq!((tried.n_kept, tried.newest.len()), (1010, 1000));
    assert_eq!(tried.newest[0], (EntryId(11), None));
}
