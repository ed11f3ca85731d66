//! Every construct of a condition, tested by the samples that it keeps.

use crate::sample::{keeps, samples};

/// Checks that the condition keeps exactly these samples.
#[track_caller]
fn check(condition: &str, expect: &str) {
    let query = format!("ALL FEEDS WHERE {condition}");
    let kept: Vec<&str> =
        samples().iter().filter(|sample| keeps(&query, sample)).map(|sample| sample.name).collect();
    assert_eq!(kept.join(" "), expect, "{condition}");
}

#[test]
fn words_are_whole_and_folded() {
    check(r#"ITEM CONTAINS "iceland""#, "volcano");
    check(r#"ITEM CONTAINS "ICELAND""#, "volcano");
    check(r#"ITEM CONTAINS "ice""#, "");
    check(r#"ITEM CONTAINS "creme""#, "recipe");
    check(r#"ITEM CONTAINS "CRÈME BRULEE""#, "recipe");
    check(r#"ITEM CONTAINS "again""#, "volcano recipe");
    check(r#"item contains "nothing of this""#, "");
}

#[test]
fn each_field_is_searched_by_itself() {
    check(r#"TITLE CONTAINS "ash""#, "");
    check(r#"SUMMARY CONTAINS "ash""#, "volcano recipe");
    check(r#"CONTENT CONTAINS "ash""#, "volcano");
    check(r#"AUTHOR CONTAINS "jane""#, "volcano");
    check(r#"CATEGORY CONTAINS "travel""#, "volcano");
    check(r#"LINK CONTAINS "iceland""#, "volcano");
    check(r#"FEED CONTAINS "food""#, "recipe");
    check(r#"ITEM CONTAINS "science""#, "volcano");
    check(r#"ITEM CONTAINS "neill""#, "volcano");
    check(r#"ITEM CONTAINS "https""#, "");
}

#[test]
fn markup_is_not_text_and_text_is_whole() {
    check(r#"SUMMARY CONTAINS "eyjafjallajokull""#, "volcano");
    check(r#"ITEM CONTAINS "b" OR "br" OR "p""#, "");
    check(r#"CONTENT CONTAINS "ash cloud""#, "volcano");
    check(r#"ITEM CONTAINS "nbsp" OR "amp" OR "script" OR "iceland()""#, "volcano");
    check(r#"CONTENT CONTAINS "iceland""#, "");
    check(r#"SUMMARY CONTAINS "Eyjafjallajökull flights""#, "volcano");
}

#[test]
fn phrases_stand_in_one_field_in_order() {
    check(r#"ITEM CONTAINS "volcano erupts""#, "volcano");
    check(r#"ITEM CONTAINS "erupts volcano""#, "");
    check(r#"ITEM CONTAINS "erupts again ash""#, "");
    check(r#"ITEM CONTAINS "ash cloud reached Scotland""#, "volcano");
    check(r#"ITEM CONTAINS "science travel""#, "");
    check(r#"CATEGORY CONTAINS "travel news""#, "volcano");
}

#[test]
fn prefixes_stand_for_what_begins_so() {
    check(r#"ITEM CONTAINS "volcan*""#, "volcano");
    check(r#"TITLE CONTAINS "volcanic*""#, "");
    check(r#"ITEM CONTAINS "CRÈ*""#, "recipe");
    check(r#"ITEM CONTAINS "ash cl* reach*""#, "volcano");
    check(r#"ITEM CONTAINS "volcano*""#, "volcano");
    check(
        r#"ITEM CONTAINS "v* erupts" OR "ve*""#.replace("v* ", "vo* ").as_str(),
        "volcano release",
    );
}

#[test]
fn near_looks_both_ways_and_not_too_far() {
    check(r#"TITLE CONTAINS "again" NEAR "iceland""#, "volcano");
    check(r#"TITLE CONTAINS "iceland" NEAR/3 "again""#, "volcano");
    check(r#"TITLE CONTAINS "iceland" NEAR/2 "again""#, "");
    check(r#"ITEM CONTAINS "iceland" NEAR/100 "scotland""#, "");
    check(r#"SUMMARY CONTAINS "cloud" NEAR "ash""#, "volcano recipe");
    check(r#"SUMMARY CONTAINS "ash" NEAR/1 "cloud" NEAR "flights grounded""#, "volcano");
    check(r#"TITLE CONTAINS "iceland" NEAR "iceland""#, "");
}

#[test]
fn signs_of_programmers_count() {
    check(r#"ITEM CONTAINS "C++""#, "release");
    check(r#"ITEM CONTAINS "C#""#, "");
    check(r#"ITEM CONTAINS "C""#, "release");
    check(r#"ITEM CONTAINS "R&D""#, "release");
    check(r#"ITEM CONTAINS "1.95""#, "release");
    check(r#"TITLE CONTAINS "amp""#, "");
}

#[test]
fn expressions_see_the_text_as_written() {
    check(r"TITLE MATCHES /volcano/", "volcano");
    check(r"TITLE MATCHES /VOLCANO/", "");
    check(r"TITLE MATCHES /VOLCANO/i", "volcano");
    check(r"TITLE MATCHES /^Cr.me/", "recipe");
    check(r"TITLE MATCHES /\d+\.\d+/", "release");
    check(r"LINK MATCHES /example\.org\/world/", "volcano");
    check(r"ITEM MATCHES /fn main\(\)/", "release");
    check(r"CONTENT MATCHES /<p>|script/", "");
    check(r"TITLE MATCHES /& R/", "release");
    check(r"CATEGORY MATCHES /^Travel/", "volcano");
    check(r"FEED MATCHES /^https:/", "recipe release");
    check(r"AUTHOR MATCHES /./", "volcano recipe");
}

#[test]
fn values_are_compared_whole() {
    check(r#"AUTHOR = "jane o'neill""#, "volcano");
    check(r#"AUTHOR = "jane""#, "");
    check(r#"AUTHOR = "PIERRE MULLER""#, "recipe");
    check(r#"CATEGORY = "travel news""#, "volcano");
    check(r#"CATEGORY = "travel""#, "");
    check(r#"TITLE = "creme brulee""#, "recipe");
    check(r#"LINK = "http://example.org/world/iceland-volcano""#, "volcano");
    check(r#"FEED = "https://food.example.net/feed.xml""#, "recipe");
    check(r#"FEED = "FOOD.example.net/feed.xml""#, "recipe");
    check(r#"AUTHOR != "jane o'neill""#, "recipe release");
    check(r#"CATEGORY = "food" OR "science""#, "volcano recipe");
}

#[test]
fn languages_belong_to_their_wider_ones() {
    check(r#"LANGUAGE = "en""#, "volcano");
    check(r#"LANGUAGE = "EN_gb""#, "volcano");
    check(r#"LANGUAGE = "en-US""#, "");
    check(r#"LANGUAGE = "fr" OR "en""#, "volcano recipe");
    check(r#"LANGUAGE != "fr""#, "volcano release");
}

#[test]
fn feeds_are_known_by_their_tags() {
    check(r#"FEED TAGGED "news""#, "volcano");
    check(r#"FEED TAGGED "food" OR "world""#, "volcano recipe");
    check(r#"NOT FEED TAGGED "food""#, "volcano release");
    check(r#"FEED TAGGED "News""#, "");
}

#[test]
fn dates_are_compared_by_what_they_name() {
    check(r#"PUBLISHED > "2010-04-10""#, "volcano");
    check(r#"PUBLISHED >= "2010-04-10""#, "volcano recipe");
    check(r#"PUBLISHED < "2010-04-14""#, "recipe");
    check(r#"PUBLISHED <= "2010-04-14""#, "volcano recipe");
    check(r#"PUBLISHED = "2010-04-14""#, "volcano");
    check(r#"PUBLISHED != "2010-04-14""#, "recipe release");
    check(r#"PUBLISHED = "2010-04""#, "volcano recipe");
    check(r#"PUBLISHED > "2010""#, "");
    check(r#"PUBLISHED < "2011""#, "volcano recipe");
    check(r#"PUBLISHED >= "2010-04-14T10:00:00Z""#, "volcano");
    check(r#"PUBLISHED > "2010-04-14T10:00:00Z""#, "");
    check(r#"PUBLISHED ≥ "2010-04-11" AND PUBLISHED ≤ "2010-12""#, "volcano");
}

#[test]
fn recent_is_counted_from_when_it_was_seen() {
    check("PUBLISHED WITHIN 2 HOURS", "volcano");
    check("PUBLISHED WITHIN 1 HOUR", "");
    check("PUBLISHED WITHIN 1 WEEK", "volcano recipe");
    check("NOT PUBLISHED WITHIN 1 WEEK", "release");
}

#[test]
fn conditions_are_joined_as_in_logic() {
    check(r#"ITEM CONTAINS "iceland" OR ITEM CONTAINS "sugar""#, "volcano recipe");
    check(r#"ITEM CONTAINS "ash" AND ITEM CONTAINS "sugar""#, "recipe");
    check(r#"NOT ITEM CONTAINS "ash""#, "release");
    check(r#"NOT NOT ITEM CONTAINS "ash""#, "volcano recipe");
    check(r#"ITEM NOT CONTAINS "ash""#, "release");
    check(r#"ITEM NOT CONTAINS "sugar" OR "volcano""#, "release");
    check(r#"TITLE NOT MATCHES /[0-9]/"#, "volcano recipe");
    check(r#"NOT (ITEM CONTAINS "sugar" OR ITEM CONTAINS "volcano")"#, "release");
    check(
        r#"ITEM CONTAINS "sugar" OR ITEM CONTAINS "ash" AND ITEM CONTAINS "iceland""#,
        "volcano recipe",
    );
    check(
        r#"(ITEM CONTAINS "sugar" OR ITEM CONTAINS "ash") AND ITEM CONTAINS "iceland""#,
        "volcano",
    );
}

#[test]
fn texts_behind_one_operator_belong_to_it() {
    check(r#"ITEM CONTAINS "iceland" OR "sugar""#, "volcano recipe");
    check(r#"ITEM CONTAINS "iceland" OR "sugar" AND AUTHOR CONTAINS "pierre""#, "recipe");
    check(r#"ITEM CONTAINS "ash" AND NOT "sugar""#, "volcano");
    check(r#"ITEM CONTAINS NOT "ash""#, "release");
    check(r#"ITEM CONTAINS ("sugar" OR "erupts") AND "again""#, "volcano recipe");
    check(r#"ITEM CONTAINS "nothing" OR ("ash" AND NOT "sugar")"#, "volcano");
    check(r#"ITEM CONTAINS "nothing" OR (TITLE CONTAINS "iceland")"#, "volcano");
    check(r#"ITEM CONTAINS "ash" AND NOT TITLE CONTAINS "iceland""#, "recipe");
    check(r#"TITLE CONTAINS "iceland" OR "ash""#, "volcano");
}
