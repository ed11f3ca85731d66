//! Which terminal gets a request.

use dispatch::wire::WIRE_VERSION;

use super::*;

const NOW: Time = Time::from_secs(1_700_000_000);

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn here(name: &str, region: Option<&str>) -> Here {
    Here {
        wire: 2,
        terminal: name.to_owned(),
        life: "1".to_owned(),
        version: "0".to_owned(),
        identity_rule: feed::IDENTITY_RULE,
        region: region.map(str::to_owned),
        room: 2,
        in_flight: Vec::new(),
        held: 0,
        draining: false,
        round_trip: None,
        window_questions: 0,
        takes_errands: false,
    }
}

fn pick(
    terminals: &Terminals,
    grant: u64,
    region: Option<&str>,
    clock: Duration,
) -> Option<String> {
    let domain = Domain::from_stored("site.example");
    let picked = terminals.pick(GrantId(grant), &domain, region, NOW, clock);
    picked.map(|picked| picked.name.to_string())
}

#[test]
fn a_terminal_gets_work_while_it_is_heard_and_has_room() {
    let terminals = Terminals::new(None, NOW);
    assert_eq!(terminals.room(NOW, secs(0)), 0);
    assert_eq!(terminals.heard(&here("a", None), 2, NOW, secs(0)), Ok(2));
    assert_eq!(terminals.room(NOW, secs(5)), 2);
    assert_eq!(pick(&terminals, 1, None, secs(1)).as_deref(), Some("a"));
    assert_eq!(pick(&terminals, 2, None, secs(1)).as_deref(), Some("a"));
    assert_eq!(pick(&terminals, 3, None, secs(1)), None, "it is full");
    assert_eq!(terminals.ended(GrantId(1), true), Some(1));
    assert_eq!(terminals.ended(GrantId(1), true), None, "a grant ends once");
    assert_eq!(pick(&terminals, 4, None, secs(7)), None, "it is silent");
    let draining = Here { draining: true, ..here("a", None) };
    assert!(terminals.heard(&draining, 2, NOW, secs(8)).is_ok());
    assert_eq!(pick(&terminals, 5, None, secs(8)), None, "it ends soon");
}

#[test]
fn a_region_is_served_only_by_its_own_terminals() {
    let terminals = Terminals::new(None, NOW);
    for (name, region) in [("a", None), ("b", Some("de"))] {
        assert!(terminals.heard(&here(name, region), 2, NOW, secs(0)).is_ok());
    }
    assert_eq!(pick(&terminals, 1, Some("de"), secs(0)).as_deref(), Some("b"));
    assert_eq!(pick(&terminals, 2, Some("fr"), secs(0)), None);
}

#[test]
fn another_version_rule_or_life_is_refused() {
    let terminals = Terminals::new(None, NOW);
    let heard = |name, wire| {
        terminals.heard(&Here { wire, ..here(name, None) }, WIRE_VERSION, NOW, secs(0))
    };
    assert_eq!(heard("old", WIRE_OLDEST), Ok(WIRE_OLDEST));
    assert_eq!(heard("new", WIRE_VERSION + 1), Ok(WIRE_VERSION));
    assert!(terminals.heard(&Here { wire: 0, ..here("a", None) }, 2, NOW, secs(0)).is_err());
    let other_rule = Here { identity_rule: 77, ..here("a", None) };
    assert!(terminals.heard(&other_rule, 2, NOW, secs(0)).is_err());
    assert!(terminals.heard(&here("a", None), 2, NOW, secs(0)).is_ok());
    let again = Here { life: "2".to_owned(), ..here("a", None) };
    assert!(terminals.heard(&again, 2, NOW, secs(3)).is_err(), "the name is taken");
    assert!(terminals.heard(&again, 2, NOW, secs(7)).is_ok(), "the other one is silent");
}

#[test]
fn a_terminal_whose_network_is_down_gets_a_probe_and_others_do_its_work() {
    let terminals = Terminals::new(None, NOW);
    assert!(terminals.heard(&here("a", None), 2, NOW, secs(0)).is_ok());
    for domain in 0..20 {
        terminals.exchanged(1, domain, NOW, Some((FeedId(domain), Reach::Unreachable)));
    }
    assert!(terminals.is_down(1) && terminals.are_all_down());
    assert!(pick(&terminals, 1, None, secs(0)).is_some(), "a probe");
    assert_eq!(pick(&terminals, 2, None, secs(0)), None, "one in five seconds");
    assert!(terminals.heard(&here("b", None), 2, NOW, secs(0)).is_ok());
    assert_eq!(pick(&terminals, 3, None, secs(0)).as_deref(), Some("b"));
    assert!(!terminals.are_all_down());
}
