//! Names and cycles: a file applies as a whole or is refused with the reason.

use query::{Catalog, Effect};

#[track_caller]
fn catalog(file: &str) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.apply(&query::parse(file).unwrap()).unwrap();
    catalog
}

const KNOWN: &str = "CREATE FEED Volcano AS RETURN ALL FEEDS;
CREATE FEED Ash AS RETURN FEED Volcano;
CREATE FEED Cloud AS RETURN FEED Ash;";

#[track_caller]
fn check(file: &str, expect: &[&str]) {
    let mut catalog = catalog(KNOWN);
    let before = catalog.clone();
    let faults = catalog.apply(&query::parse(file).unwrap()).unwrap_err();
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expect, "{file}");
    assert_eq!(catalog, before, "a refused file changes nothing");
}

#[test]
fn files_that_fit_are_taken() {
    let mut catalog = catalog(KNOWN);
    let file = "CREATE FEED b AS RETURN FEED a; CREATE FEED a AS RETURN FEED Cloud;
        CREATE OR REPLACE FEED Ash AS RETURN ALL FEEDS;
        DROP FEED IF EXISTS none; DROP FEED Volcano";
    let statements = query::parse(file).unwrap();
    let before = catalog.clone();
    let effects = [
        Effect::Created(0),
        Effect::Created(1),
        Effect::Replaced(2),
        Effect::Nothing(3),
        Effect::Dropped(4),
    ];
    assert_eq!(catalog.check(&statements).unwrap(), effects);
    assert_eq!(catalog, before, "a check changes nothing");
    assert_eq!(catalog.apply(&statements).unwrap(), effects);
    assert!(catalog.contains("a") && !catalog.contains("Volcano"));
}

#[test]
fn names_must_exist_and_be_free() {
    check(
        "CREATE FEED Volcano AS RETURN ALL FEEDS",
        &["1:13: a query named `Volcano` exists already; write CREATE OR REPLACE FEED, or choose \
           another name"],
    );
    check(
        "CREATE FEED x AS RETURN FEED volcano\n| FEED nothing",
        &[
            "1:30: there is no query named `volcano`; did you mean `Volcano`?",
            "2:8: there is no query named `nothing`; `tidings query list` shows all queries",
        ],
    );
    check("DROP FEED Clod", &["1:11: there is no query named `Clod`; did you mean `Cloud`?"]);
    check(
        "CREATE FEED x AS RETURN ALL FEEDS;\nCREATE FEED x AS RETURN ALL FEEDS",
        &["2:13: a query named `x` exists already; write CREATE OR REPLACE FEED, or choose \
             another name"],
    );
}

#[test]
fn what_others_read_cannot_go() {
    check("DROP FEED Ash", &["1:11: `Ash` is read by Cloud; drop those as well"]);
    let many = "CREATE FEED p AS RETURN FEED Ash; CREATE FEED q AS RETURN FEED Ash;
        CREATE FEED r AS RETURN FEED Ash; CREATE FEED s AS RETURN FEED Cloud; DROP FEED Ash";
    let faults = catalog(KNOWN).apply(&query::parse(many).unwrap()).unwrap_err();
    let last = faults.last().unwrap().to_string();
    assert!(
        last.ends_with("`Ash` is read by Cloud, p, q and 1 more; drop those as well"),
        "{last}"
    );
    let mut both = catalog(KNOWN);
    both.apply(&query::parse("DROP FEED Ash; DROP FEED Cloud").unwrap()).unwrap();
}

#[test]
fn cycles_are_refused_with_their_path() {
    check(
        "CREATE FEED x AS RETURN FEED x",
        &["1:30: the query reads itself: x → x; read the feeds instead"],
    );
    check(
        "CREATE OR REPLACE FEED Volcano AS RETURN TAG \"x\" | FEED Cloud",
        &["1:57: the query reads itself: Volcano → Cloud → Ash → Volcano; read the feeds instead"],
    );
    check(
        "CREATE FEED a AS RETURN FEED b;\nCREATE FEED b AS RETURN ALL FEEDS JOIN FEED a ON LINK",
        &[
            "1:30: the query reads itself: a → b → a; read the feeds instead",
            "2:45: the query reads itself: b → a → b; read the feeds instead",
        ],
    );
}

#[test]
fn chains_have_an_end_and_webs_no_price() {
    // Each query reads the two before it: 2³⁰ paths, but one walk.
    let mut file =
        String::from("CREATE FEED q0 AS RETURN ALL FEEDS; CREATE FEED q1 AS RETURN FEED q0;");
    for n in 2..31 {
        file += &format!("CREATE FEED q{n} AS RETURN FEED q{} | FEED q{};", n - 1, n - 2);
    }
    catalog(&file);
    let chain: String =
        (1..40).map(|n| format!("CREATE FEED q{n} AS RETURN FEED q{};", n - 1)).collect();
    let statements = query::parse(&format!("CREATE FEED q0 AS RETURN ALL FEEDS;{chain}")).unwrap();
    let faults = Catalog::new().apply(&statements).unwrap_err();
    assert!(faults[0].message.contains("longer than 32"), "{}", faults[0]);
}

/// Queries `name0` to `name<n-1>`; each reads the one before, and the first reads `first`.
fn chain(name: &str, n: usize, first: &str) -> String {
    let before = |n: usize| match n {
        0 => first.to_owned(),
        _ => format!("FEED {name}{}", n - 1),
    };
    (0..n).map(|n| format!("CREATE FEED {name}{n} AS RETURN {};", before(n))).collect()
}

#[test]
fn no_chain_grows_too_long_from_below_from_inside_or_by_a_way_around() {
    let refused = |known: &str, file: &str| {
        let mut known = catalog(known);
        let faults = known.check(&query::parse(file).unwrap()).unwrap_err();
        assert!(faults[0].message.contains("longer than 32"), "{}", faults[0]);
    };
    let (thirty, two) = (chain("q", 30, "ALL FEEDS"), chain("r", 2, "ALL FEEDS"));
    let below = "CREATE OR REPLACE FEED q0 AS RETURN FEED r";
    // A chain of 32 is allowed; one more is not, at any end.
    catalog(&format!("{thirty}{two}{below}1"));
    let three = chain("r", 3, "ALL FEEDS");
    refused(&format!("{thirty}{three}"), &format!("{below}2"));
    let inside = "CREATE OR REPLACE FEED q15 AS RETURN FEED q14 | FEED s17";
    refused(&format!("{thirty}{}", chain("s", 18, "ALL FEEDS")), inside);
    // A path that was measured from its far end must not make a longer path seem short.
    let around: String =
        (1..5).map(|n| format!("CREATE FEED t{n} AS RETURN FEED q29 | FEED t{};", n - 1)).collect();
    refused(&thirty, &format!("CREATE FEED t0 AS RETURN FEED q29;{around}"));
}

#[test]
fn stored_queries_are_taken_in() {
    let mut catalog = Catalog::new();
    let create = crate::sample::created("CREATE FEED b AS RETURN FEED a");
    catalog.insert("b", &create.query);
    let faults = catalog.check(&query::parse("CREATE FEED a AS RETURN FEED b").unwrap());
    assert!(faults.unwrap_err()[0].message.contains("a → b → a"));
}
