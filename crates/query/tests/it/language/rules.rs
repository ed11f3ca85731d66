//! Rules of people: what is read, and what is refused with a reason.

use query::{Condition, QuerySource, RuleAction, Test, parse_rule};

#[test]
fn a_rule_has_sources_a_condition_and_actions() {
    let text = "create or replace rule a-b\non tag \"t\" | \"https://e.org/\" | all feeds\n\
                where title contains \"x\" and not feed tagged \"t\"\n\
                do mark read, star and label \" to read \", hide, notify;";
    let rule = parse_rule(text).unwrap();
    assert_eq!((rule.name.text.as_str(), rule.replace), ("a-b", true));
    assert_eq!(rule.sources.len(), 3);
    let label = RuleAction::Label("to read".to_owned());
    let all = [RuleAction::MarkRead, RuleAction::Star, label, RuleAction::Hide, RuleAction::Notify];
    assert_eq!(rule.actions, all);
    assert_eq!(rule.text, text.trim_end_matches(';'));
    assert_eq!(parse_rule(&rule.text).unwrap().actions, rule.actions);
}

#[test]
fn tags_get_the_names_of_their_owner() {
    let text = "CREATE RULE a ON TAG \"t\" WHERE NOT FEED TAGGED \"u\" DO STAR";
    let query = parse_rule(text).unwrap().query(|tag| format!("7:{tag}"));
    assert_eq!(query.sources, [QuerySource::Tag("7:t".to_owned())]);
    let Some(Condition::Not(inner)) = query.condition else { panic!("{query}") };
    assert_eq!(*inner, Condition::Test(Test::Tagged("7:u".to_owned())));
}

#[test]
fn faults_say_what_to_do() {
    for (text, says) in [
        ("", "a rule begins with CREATE RULE"),
        ("CREATE FEED a AS RETURN ALL FEEDS", "CREATE FEED makes a query"),
        ("CREATE RULE a ON FEED b DO STAR", "a rule cannot read a query; name tags"),
        ("CREATE RULE a ON ALL FEEDS", "expected `|`, WHERE or DO"),
        ("CREATE RULE a ON ALL FEEDS DO STAR, STAR", "STAR is given twice"),
        ("CREATE RULE a ON ALL FEEDS DO LABEL", "expected a text in quotes"),
        ("CREATE RULE a ON ALL FEEDS DO LABEL \" \"", "a label has 1 to 100 letters"),
        ("CREATE RULE a ON ALL FEEDS DO STAR; DROP FEED x", "a second statement follows"),
        ("CREATE RULE a ON ALL FEEDS DO STAR HIDE", "expected `,` or `;`"),
        (
            "CREATE RULE a ON ALL FEEDS WHERE ARTICLE CONTAINS \"x\" DO STAR",
            "test ITEM instead of ARTICLE",
        ),
    ] {
        let fault = parse_rule(text).unwrap_err().to_string();
        assert!(fault.contains(says), "{text}: {fault}");
    }
    let long = format!("CREATE RULE a ON ALL FEEDS DO LABEL \"{}\"", "x".repeat(101));
    assert!(parse_rule(&long).is_err());
    assert!(parse_rule(&" ".repeat(20_000)).unwrap_err().to_string().contains("16384"));
}
