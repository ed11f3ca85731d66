//! Three instances in a ring that push to each other over WebSub: each story arrives once at each
//! instance, names its first feed, and does not circulate.

use serde_json::Value;

use super::websub::n_subscribers;
use crate::documents::rss_of;
use crate::hub::{FREELY, Reachable};
use crate::program::{eventually, path_text};
use crate::publisher::Publisher;

/// One instance of the ring. Its first feed is its own, its second one is that of its neighbour.
struct Member {
    program: Reachable,
    own: String,
}

impl Member {
    fn start(own: String) -> Member {
        // The rhythm is slow: what arrives within the test was pushed.
        let program = Reachable::start("[defaults]\npolicy = \"fix:1h\"\n");
        let query = "CREATE FEED Everything AS RETURN ALL FEEDS PUBLISH";
        let file = program.instance.write("all.query", query);
        program.instance.run(&["query", "apply", path_text(&file)]).ok();
        program.add(&own);
        Member { program, own }
    }

    fn published(&self) -> String {
        format!("http://{}/feeds/Everything.atom", self.program.listen)
    }

    fn neighbour(&self) -> Value {
        self.program.instance.run(&["feed", "show", "2", "--json"]).ok().json()
    }

    /// Returns the entries after a cursor of this instance.
    fn after(&self, cursor: &str) -> Vec<Value> {
        let more = ["entries", "--after", cursor];
        let args = if cursor.is_empty() { &more[..1] } else { &more[..] };
        self.program.instance.run(args).ok().lines()
    }

    fn cursor(&self) -> String {
        let last = self.after("").pop().expect("an entry");
        last["cursor"].as_str().unwrap().to_owned()
    }

    fn sorted_titles(&self) -> Vec<String> {
        let mut titles = self.program.titles();
        titles.sort();
        titles
    }

    /// The number of positions that the published query has given.
    fn n_published(&self) -> usize {
        self.program.instance.run(&["entries", "--query", "Everything"]).ok().lines().len()
    }
}

/// Three members. Each reads the next one and is subscribed to its hub.
fn ring(publisher: &Publisher) -> [Member; 3] {
    let members = [0, 1, 2].map(|n| {
        publisher.set(&format!("/feed{n}"), rss_of(&format!("f{n}"), 0..1));
        Member::start(publisher.server.url(publisher.addresses[n], &format!("/feed{n}")))
    });
    for (n, member) in members.iter().enumerate() {
        member.program.add(&members[(n + 1) % 3].published());
    }
    for member in &members {
        eventually("the hub of the next member has confirmed", || {
            let why = member.program.instance.run(&["feed", "why", "2"]).ok().stdout;
            (why.contains("promised to push it") || why.contains("pushes it")).then_some(())
        });
        // A hub keeps a subscription after the subscriber has confirmed it.
        eventually("the hub of this member keeps its subscriber", || {
            (n_subscribers(member.program.listen) == 1).then_some(())
        });
    }
    members
}

#[track_caller]
fn await_titles(members: &[Member; 3], expected: &[String]) {
    for (n, member) in members.iter().enumerate() {
        eventually(&format!("member {n} has {expected:?}"), || {
            (member.sorted_titles().len() >= expected.len()).then_some(())
        });
    }
    for member in members {
        assert_eq!(member.sorted_titles(), expected);
    }
}

fn titles_of(counts: [usize; 3]) -> Vec<String> {
    let all = counts.iter().enumerate();
    let mut titles: Vec<String> =
        all.flat_map(|(n, count)| (0..*count).map(move |i| format!("Item {i} of f{n}"))).collect();
    titles.sort();
    titles
}

/// Gives the feed of a member so many items and polls it.
fn publish(publisher: &Publisher, members: &[Member; 3], n: usize, count: usize) {
    publisher.set(&format!("/feed{n}"), rss_of(&format!("f{n}"), 0..count));
    members[n].program.instance.poll("1");
}

/// Waits until the pushes of all stories have come back to where they began.
#[track_caller]
fn await_echoes(members: &[Member; 3], before: [u64; 3]) {
    for (member, before) in members.iter().zip(before) {
        eventually("the neighbour has pushed the story on", || {
            (member.neighbour()["pushes"].as_u64()? > before).then_some(())
        });
    }
}

fn pushes(members: &[Member; 3]) -> [u64; 3] {
    members.each_ref().map(|member| member.neighbour()["pushes"].as_u64().unwrap())
}

/// Every entry that came through another member names its first feed and the way that it took.
#[track_caller]
fn check_origins(members: &[Member; 3]) {
    for (n, member) in members.iter().enumerate() {
        for entry in member.after("") {
            let title = entry["title"].as_str().unwrap();
            let first: usize = title.rsplit('f').next().unwrap().parse().unwrap();
            if first == n {
                assert_eq!(entry["feed"], member.own, "{entry}");
                assert_eq!(entry["source"], Value::Null, "{entry}");
                continue;
            }
            // The ring is read against the direction in which stories travel.
            let steps = (first + 3 - n) % 3;
            assert_eq!(entry["source"]["feed"], members[first].own, "{entry}");
            assert_eq!(entry["source"]["via"].as_array().unwrap().len(), steps, "{entry}");
        }
    }
}

#[test]
fn stories_are_pushed_around_a_ring_once_and_do_not_circulate() {
    let publisher = Publisher::start(3);
    let mut members = ring(&publisher);
    // The first story of each member is older than the subscriptions. Later pushes bring it along.
    let before = pushes(&members);
    for n in 0..3 {
        publish(&publisher, &members, n, 2);
    }
    await_titles(&members, &titles_of([2, 2, 2]));
    await_echoes(&members, before);
    check_origins(&members);

    // Each instance has its own cursors: all stories after one of them come once.
    let cursors = members.each_ref().map(Member::cursor);
    let before = pushes(&members);
    publish(&publisher, &members, 0, 4);
    await_titles(&members, &titles_of([4, 2, 2]));
    await_echoes(&members, before);
    for (member, cursor) in members.iter().zip(&cursors) {
        let mut new: Vec<String> =
            member.after(cursor).iter().map(|e| e["title"].as_str().unwrap().to_owned()).collect();
        new.sort();
        assert_eq!(new, ["Item 2 of f0", "Item 3 of f0"]);
    }
    // A story that comes back gets no new position, so no member pushes it again.
    assert_eq!(members.each_ref().map(Member::n_published), [8; 3]);

    // A member that was away misses nothing, and what it says after its return is new to nobody.
    members[2].program.daemon.kill();
    publish(&publisher, &members, 0, 5);
    publish(&publisher, &members, 1, 3);
    let listen = members[2].program.listen;
    members[2].program.daemon = members[2].program.instance.daemon_at(listen, &FREELY).ready();
    // Its hub may wait some minutes before it tries again; a poll is the safety net.
    members[2].program.instance.poll("2");
    await_titles(&members, &titles_of([5, 3, 2]));
    check_origins(&members);
    for member in &members {
        member.program.instance.poll("2");
    }
    await_titles(&members, &titles_of([5, 3, 2]));
    assert_eq!(members.each_ref().map(Member::n_published), [10; 3]);
}
