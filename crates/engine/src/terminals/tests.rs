//! Which terminal gets a request.

use dispatch::machine::Here;
use dispatch::wire::{WIRE_OLDEST, WIRE_VERSION};

use super::heard::{ROOM_MAX, TERMINALS_MAX};
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
        round_trip: Some(Duration::from_millis(1)),
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
    let picked = terminals.pick(GrantId(grant), FeedId(7), &domain, region, NOW, clock);
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
    assert_eq!(terminals.ended(GrantId(1), RequestEnd::Polled), Some(1));
    assert_eq!(terminals.ended(GrantId(1), RequestEnd::Polled), None, "a grant ends once");
    assert_eq!(pick(&terminals, 4, None, secs(7)), None, "it is silent");
    let draining = Here { draining: true, ..here("a", None) };
    assert!(terminals.heard(&draining, 2, NOW, secs(8)).is_ok());
    assert_eq!(pick(&terminals, 5, None, secs(8)), None, "it ends soon");
}

#[test]
fn a_terminal_that_hears_no_answers_gets_no_jobs() {
    let terminals = Terminals::new(None, NOW);
    let deaf = Here { round_trip: None, ..here("a", None) };
    assert_eq!(terminals.heard(&deaf, 2, NOW, secs(0)), Ok(2));
    assert_eq!((terminals.room(NOW, secs(0)), pick(&terminals, 1, None, secs(0))), (0, None));
    assert!(!terminals.views(secs(0))[0].network_up, "an operator sees it");
    assert_eq!(terminals.heard(&here("a", None), 2, NOW, secs(0)), Ok(2));
    assert_eq!(pick(&terminals, 1, None, secs(0)).as_deref(), Some("a"));
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
    assert!(heard("older", WIRE_OLDEST - 1).is_err());
    assert!(heard("newer", WIRE_VERSION + 2).is_err(), "it does not know our messages");
    let other_rule = Here { identity_rule: 77, ..here("a", None) };
    assert!(terminals.heard(&other_rule, 2, NOW, secs(0)).is_err());
    assert!(terminals.heard(&here("a", None), 2, NOW, secs(0)).is_ok());
    let again = Here { life: "2".to_owned(), ..here("a", None) };
    assert!(terminals.heard(&again, 2, NOW, secs(3)).is_err(), "the name is taken");
    assert!(terminals.heard(&again, 2, NOW, secs(7)).is_ok(), "the other one is silent");
}

#[test]
fn nobody_else_has_the_name_of_the_controller() {
    let local = LocalTerminal { name: "box".to_owned(), ..LocalTerminal::default() };
    let terminals = Terminals::new(Some(local), NOW);
    assert!(terminals.heard(&here("box", None), 2, NOW, secs(0)).is_err());
    assert!(terminals.heard(&here("box-2", None), 2, NOW, secs(0)).is_ok());
    assert_eq!(pick(&terminals, 1, None, secs(0)).as_deref(), Some("box-2"));
    assert!(terminals.views(secs(0)).iter().all(|view| view.name == "box-2"), "it makes no polls");
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

#[test]
fn texts_and_numbers_of_a_terminal_are_held_to_limits() {
    let terminals = Terminals::new(None, NOW);
    let heard = |here: Here| terminals.heard(&here, 2, NOW, secs(0));
    let long = "x".repeat(65);
    for bad in ["", "a b", "a\"} 1", "a.b", "a\n", &long] {
        assert!(heard(here(bad, None)).is_err(), "{bad:?}");
        assert!(heard(here("a", Some(bad))).is_err(), "{bad:?}");
        assert!(heard(Here { life: bad.to_owned(), ..here("a", None) }).is_err(), "{bad:?}");
    }
    for bad in ["a b", "a\n", &long] {
        assert!(heard(Here { version: bad.to_owned(), ..here("a", None) }).is_err(), "{bad:?}");
    }
    let round_trip = Some(Duration::MAX);
    for name in ["a", "b"] {
        assert!(heard(Here { room: usize::MAX, round_trip, ..here(name, None) }).is_ok());
    }
    assert_eq!(terminals.room(NOW, secs(0)), 2 * ROOM_MAX);
    let views = terminals.views(secs(0));
    assert!(views.iter().all(|view| view.round_trip < round_trip), "{views:?}");
}

#[test]
fn the_place_of_a_terminal_that_has_ended_is_used_again() {
    let terminals = Terminals::new(None, NOW);
    for n in 1..TERMINALS_MAX {
        assert!(terminals.heard(&here(&format!("t{n}"), None), 2, NOW, secs(0)).is_ok());
    }
    assert!(terminals.heard(&here("more", None), 2, NOW, secs(1)).is_err(), "all are there");
    let first = pick(&terminals, 1, None, secs(1)).expect("there is room");
    let busy = terminals.place_of(&first, "1").expect("it is there");
    for n in 1..TERMINALS_MAX {
        let name = format!("u{n}");
        let heard = terminals.heard(&here(&name, None), 2, NOW, secs(7));
        assert_eq!(heard.is_ok(), n < TERMINALS_MAX - 1, "{n}");
        assert_ne!(terminals.place_of(&name, "1"), Some(busy), "a request is open there");
    }
    assert_eq!(terminals.ended(GrantId(1), RequestEnd::Polled), Some(busy));
    assert!(terminals.heard(&here("v", None), 2, NOW, secs(8)).is_ok());
    assert_eq!(terminals.place_of("v", "1"), Some(busy));
}

#[test]
fn only_the_terminal_that_got_a_request_may_answer_it() {
    let terminals = Terminals::new(None, NOW);
    for name in ["a", "b"] {
        assert!(terminals.heard(&here(name, None), 2, NOW, secs(0)).is_ok());
    }
    let place = |name: &str| terminals.place_of(name, "1").expect("it is there");
    let picked = pick(&terminals, 1, None, secs(0)).expect("there is room");
    let other = if picked == "a" { "b" } else { "a" };
    let right = |grant, feed, name: &str| {
        terminals.right_to_answer(GrantId(grant), Some(FeedId(feed)), place(name))
    };
    assert_eq!(right(1, 7, &picked), AnswerRight::Own);
    assert_eq!(right(1, 8, &picked), AnswerRight::Others, "another feed was granted");
    assert_eq!(right(1, 7, other), AnswerRight::Others);
    assert!(terminals.ended(GrantId(1), RequestEnd::Expired).is_some());
    assert_eq!(right(1, 7, &picked), AnswerRight::Own, "its result comes late");
    assert_eq!(right(1, 7, other), AnswerRight::Others);
    let domain = Domain::from_stored("site.example");
    let earlier = GrantedRequest { terminal: "a".into(), domain, feed: None };
    terminals.note_earlier([(GrantId(9), earlier)].into_iter());
    assert_eq!(right(9, 7, "a"), AnswerRight::Own);
    assert_eq!(right(9, 7, "b"), AnswerRight::Others);
    assert_eq!(right(77, 7, "b"), AnswerRight::Unknown, "nobody got it");
    assert_eq!(terminals.place_of("a", "2"), None, "only the terminal knows its life");
    assert_eq!(terminals.place_of("c", "1"), None);
}

#[test]
fn a_terminal_that_never_answers_gets_probes_only() {
    let terminals = Terminals::new(None, NOW);
    assert!(terminals.heard(&here("a", None), 2, NOW, secs(0)).is_ok());
    let expires = |grant| {
        let picked = pick(&terminals, grant, None, secs(0)).is_some();
        terminals.ended(GrantId(grant), RequestEnd::Expired);
        picked
    };
    assert!(expires(1) && expires(2));
    assert!(pick(&terminals, 3, None, secs(0)).is_some());
    terminals.ended(GrantId(3), RequestEnd::Polled);
    assert!(expires(4) && expires(5) && expires(6), "a result came in between");
    assert!(expires(7), "a probe");
    assert!(!expires(8), "one in five seconds");
    assert!(terminals.is_down(1) && !terminals.views(secs(0))[0].network_up);
    assert!(terminals.heard(&here("b", None), 2, NOW, secs(0)).is_ok());
    assert_eq!(pick(&terminals, 9, None, secs(0)).as_deref(), Some("b"), "others do its work");
    // The probe was answered after all.
    let domain = Domain::from_stored("site.example");
    let later = NOW + secs(5);
    let probes = |grant| {
        let picked = terminals.pick(GrantId(grant), FeedId(7), &domain, None, later, secs(0));
        picked.expect("there is room").name.to_string()
    };
    let at_a = (10..12).map(probes).position(|name| name == "a");
    let probe = GrantId(10 + at_a.expect("b has room for one more only") as u64);
    terminals.ended(probe, RequestEnd::Polled);
    assert!(!terminals.is_down(1));
}

#[test]
fn a_drained_terminal_gets_no_job_before_it_says_so_itself() {
    let terminals = Terminals::new(None, NOW);
    assert!(terminals.heard(&here("a", None), 2, NOW, secs(0)).is_ok());
    terminals.set_drained(["1".to_owned()].into());
    assert_eq!((terminals.room(NOW, secs(0)), pick(&terminals, 1, None, secs(0))), (0, None));
    assert!(terminals.views(secs(0))[0].draining);
    assert!(terminals.heard(&here("b", None), 2, NOW, secs(0)).is_ok());
    assert_eq!(pick(&terminals, 2, None, secs(0)), None, "it has the same life");
    terminals.set_drained(HashSet::new());
    assert!(pick(&terminals, 3, None, secs(0)).is_some());
}
