//! Whole experiments: a small world of known habits, and the expected result of each part.

use std::time::Duration;

use feed::Time;
use lab::experiment::{Definition, ExperimentResult, perform};
use lab::report::ReportSection;
use lab::{World, WorldFeed};

const START: Time = Time::from_secs(1_514_764_800);
const HOUR: i64 = 3600;

/// Six weeks: eight feeds every half hour, eight at nine and ten every morning, eight every third
/// day.
fn world() -> World {
    let every = |n: i64, from: i64, step: i64| -> Vec<Time> {
        (0..n).map(|i| Time::from_secs(START.secs() + from + i * step)).collect()
    };
    let mut feeds = Vec::new();
    for i in 0..8 {
        let name = |kind: &str| format!("{kind}-{i}");
        feeds.push(WorldFeed::new(&name("busy"), every(42 * 48, 60 * i, HOUR / 2)));
        let mut office = every(42, 9 * HOUR + 60 * i, 24 * HOUR);
        office.extend(every(42, 10 * HOUR + 60 * i, 24 * HOUR));
        feeds.push(WorldFeed::new(&name("office"), office));
        feeds.push(WorldFeed::new(&name("slow"), every(14, 600 * i, 72 * HOUR)));
    }
    let domains = (0..feeds.len()).map(|i| vec![i]).collect();
    World { feeds, window: 20, domains }
}

fn performed(parts: &str, expect: &[&str]) -> ExperimentResult {
    let text = format!(
        "title = \"t\"\nsource = \"s\"\nanalysis = \"a\"\nexpect = {expect:?}\n\
         [world]\nstart = \"2018-01-01T00:00:00Z\"\n{parts}"
    );
    let definition = Definition::read(&text).unwrap();
    perform(&definition, &world(), 2).unwrap()
}

#[track_caller]
fn all_hold(performed: &ExperimentResult) {
    for judged in &performed.judged {
        assert!(judged.holds, "{} ({:?}, {:?})", judged.text, judged.left, judged.right);
    }
}

fn figures(performed: &ExperimentResult) -> Vec<&str> {
    let mut names = Vec::new();
    for section in &performed.sections {
        if let ReportSection::Figure(figure) = section {
            names.push(figure.name.as_str());
        }
    }
    names
}

#[test]
fn trajectories_tell_active_from_slow_feeds() {
    let parts = "[[trajectories]]\npolicies = [\"advarss\", \"fix:8m\"]\n\
                 active_from = 24\nslow_until = 1\n";
    let expect = [
        "active/fix:8m polls_per_day > 179",
        "active/fix:8m polls_per_day < 181",
        "slow/advarss polls_per_day < active/advarss polls_per_day",
        "slow/advarss polls_per_day > 0",
    ];
    let performed = performed(parts, &expect);
    all_hold(&performed);
    assert_eq!(figures(&performed), ["trajectory-active", "trajectory-slow"]);
}

#[test]
fn more_looks_and_a_learned_schedule_shorten_delay() {
    let parts = "[[budgets]]\nlabel = \"b\"\nstrategies = [\"uniform\", \"min-delay\"]\n\
                 estimators = [\"offline\"]\nlooks = [1.0, 4.0, 16.0]\n\
                 [[learning]]\nlabel = \"l\"\nstrategies = [\"min-delay\"]\n\
                 estimator = \"offline\"\nlooks = 4.0\ntrain = [\"7d\", \"14d\"]\n";
    let expect = [
        // At four polls per day no window overflows, so delays are comparable.
        "b/uniform delay@16 < 0.5 * b/uniform delay@4",
        "b/min-delay delay@4 < b/uniform delay@4",
        "b/uniform completeness@4 > b/uniform completeness@1",
        // These feeds are the same in every week.
        "l/min-delay delay@7d < 1.1 * l/min-delay delay@14d",
        "l/min-delay delay@7d > 0.9 * l/min-delay delay@14d",
    ];
    all_hold(&performed(parts, &expect));
}

#[test]
fn a_definition_may_say_what_a_lost_entry_costs() {
    let strategies = "strategies = [\"tide\", \"tide:1m\"]\ntest = \"5d\"\n";
    let parts = format!(
        "[[budget]]\n{strategies}estimator = \"tide\"\npolls = 22\ntrain = \"7d\"\n\
         [[budgets]]\nlabel = \"b\"\n{strategies}estimators = [\"tide\"]\nlooks = [0.92]\n\
         train = \"7d\"\n\
         [[learning]]\nlabel = \"l\"\n{strategies}estimator = \"tide\"\nlooks = 0.92\n\
         train = [\"7d\"]\n"
    );
    // At one poll per day the busy windows overflow.
    let expect = [
        "tide missed < tide:1m missed",
        "b/tide completeness@0.92 > b/tide:1m completeness@0.92",
        "l/tide delay@7d > l/tide:1m delay@7d",
    ];
    all_hold(&performed(&parts, &expect));
    let wrong = "title = \"t\"\nsource = \"s\"\nanalysis = \"a\"\n\
                 [[budget]]\nstrategies = [\"uniform:1d\"]\nestimator = \"tide\"\npolls = 1\n";
    assert!(Definition::read(wrong).is_err());
}

#[test]
fn two_parts_that_call_their_figures_the_same_are_refused() {
    let part = |label: &str, hours: u32| {
        format!("[[run]]\n{label}policies = [\"fix:{hours}h\", \"mavsync\"]\ntest = \"2d\"\n")
    };
    let refused = |parts: &str| {
        let text = format!("title = \"t\"\nsource = \"s\"\nanalysis = \"a\"\n{parts}");
        perform(&Definition::read(&text).unwrap(), &world(), 2).err()
    };
    let same = refused(&format!("{}{}", part("", 1), part("", 2))).unwrap();
    assert!(same.contains("`mavsync ") && same.contains("label"), "{same}");
    let labelled = part("label = \"b\"\n", 2);
    assert_eq!(refused(&format!("{}{labelled}", part("", 1))), None);
}

#[test]
fn curves_can_be_of_feeds_of_one_shape() {
    let parts = "[[budgets]]\nstrategies = [\"two-steps\"]\nshape = \"peaks\"\n\
                 estimators = [\"periodic\", \"single-variable\"]\nlooks = [8.0]\n\
                 above_per_day = 1.0\n";
    let expect = ["two-steps/periodic divergence_error@8 < two-steps/single-variable \
                   divergence_error@8"];
    let performed = performed(parts, &expect);
    all_hold(&performed);
    let heading = |section: &ReportSection| match section {
        ReportSection::Heading(text) => text.contains("8 feeds"),
        _ => false,
    };
    assert!(performed.sections.iter().any(heading), "the office feeds alone");
    let nobody = "[[budgets]]\nstrategies = [\"uniform\"]\nestimators = [\"offline\"]\n\
                  looks = [1.0]\nshape = \"waves\"\n";
    let text = format!("title = \"t\"\nsource = \"s\"\nanalysis = \"a\"\n{nobody}");
    let refused = perform(&Definition::read(&text).unwrap(), &world(), 1).unwrap_err();
    assert!(refused.contains("no feed"), "{refused}");
}

#[test]
fn habits_find_lasting_rates_and_shared_days() {
    let parts = "[[habits]]\nlater = [\"14d\", \"28d\"]\n";
    let expect = [
        "rates/14d correlation > 0.99",
        "rates/28d within_twice > 0.99",
        "profile/1 share < 0.5",
        "profiles peak_hours >= 2",
    ];
    let performed = performed(parts, &expect);
    all_hold(&performed);
    assert!(figures(&performed).contains(&"day-of-all"));
}

#[test]
fn a_source_left_unread_shows_what_its_window_holds() {
    let parts = "[[cycles]]\nseeds = 60\n[cycles.divergence]\nrate = 1.0\nselectivity = 0.4\n\
                 cycles = 40\n";
    let expect = [
        // Ten entries are shown, four of them relevant.
        "unread shown.mean > 3.4",
        "unread shown.mean < 4.6",
        "unread published > 2 * unread shown.mean",
        "unread shown.falls > 0",
    ];
    all_hold(&performed(parts, &expect));
}

#[test]
fn bytes_of_the_days_add_up_to_the_whole() {
    let mut builder = lab::WorldBuilder::default();
    let csv: String =
        (0..200).map(|i| format!("a,{},5000\n", START.secs() + i * 2 * HOUR)).collect();
    let csv = format!("feed,published,bytes\n{csv}");
    lab::world::trace::read("t", csv.as_bytes(), &mut builder).unwrap();
    let world = builder.finish(20);
    let (day, test) = (Duration::from_secs(86_400), Duration::from_secs(10 * 86_400));
    let phases = lab::Phases::over(&world, Some(START), day, test, false).unwrap();
    let setting = lab::Setting::new(phases);
    let run = lab::run(&world, &"fix:1h".parse().unwrap(), &setting, &lab::RunProgress::default());
    assert_eq!(run.bytes_by_day.len(), 11);
    assert_eq!(run.bytes_by_day.iter().sum::<u64>(), run.total.bytes);
    // Every hour has a poll, and every other hour an entry. The first poll does not count.
    assert_eq!(run.bytes_by_day[3], 12 * 5000 + 12 * 369);
}

#[test]
fn entries_that_are_shown_by_a_timer_wait_less_where_tide_looks() {
    let parts = "[[showing]]\nseed = 1\nkinds = [\"timer\", \"undated\"]\n\
                 rival = \"mavsync@1m..1d\"\ntest = \"7d\"\n";
    let rival = "mavsync@1m..1d entries.delay";
    let expect = [
        format!("timer/tide entries.delay < 0.7 * timer/{rival}"),
        format!("undated/tide entries.delay < undated/{rival}"),
        "timer/tide polls > 0".to_owned(),
    ];
    let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
    all_hold(&performed(parts, &expect));
}
