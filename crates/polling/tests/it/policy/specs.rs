//! Policies as text.

use std::time::Duration;

use polling::{Bounds, Policy, PolicySpec};

#[test]
fn every_known_example_is_a_policy_and_is_echoed() {
    for example in Policy::examples() {
        let policy: Policy = example.parse().unwrap();
        assert_eq!(policy.to_string(), example);
    }
}

#[test]
fn a_specification_is_echoed_as_given() {
    let texts = ["fix:60m", "mavsync@1m..1d", "lihz:1.0", "mavsync:kappa=5s", "lru-2@..1d"];
    for text in texts {
        assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), text);
    }
    assert_eq!("fix:60m".parse::<Policy>().unwrap().to_string(), "fix:1h");
    for text in ["indhist:0.7,week", "window-share:0.8,periodic", "entry-frequency:2"] {
        assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
    }
}

#[test]
fn an_error_names_the_text_what_is_wrong_and_the_nearest_name() {
    let error = |text: &str| text.parse::<PolicySpec>().unwrap_err().to_string();
    assert!(error("mavsnyc").contains("did you mean `mavsync`"), "{}", error("mavsnyc"));
    assert!(error("fix").contains("write it as `fix:1h`"));
    assert!(error("fix:1w").contains("`1w` is not a duration"));
    assert!(error("fix:0s").contains("at least 1 s"));
    assert!(error("lru-2:3").contains("no parameter"));
    assert!(error("mavsync@1d..1m").contains("the shorter first"));
    assert!(error("mavsync@").contains("@1m..1d"));
    assert!(error("adaptive-ttl:0").contains("above 0"));
    assert!(error("indhist:0.7,month").contains("optionally `week`"));
    assert!(error("indhist-ttl:0.7,0.1,1h").contains("burst ratio"));
    assert!(error("window-left:-1").contains("whole number"));
    assert!(error(&"ü".repeat(5000)).len() < 2000);
}

#[test]
fn written_bounds_hold_over_the_default() {
    let spec: PolicySpec = "mavsync@2h..1d".parse().unwrap();
    let bounds = spec.bounds(Bounds::EVALUATION);
    assert_eq!(bounds.eta, Duration::from_secs(7200));
    assert_eq!(bounds.beta, Duration::from_secs(86_400));
}
