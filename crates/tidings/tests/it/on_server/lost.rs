//! The database goes away while the daemon runs, and comes back.

use store::testing::Relay;

use super::{FREELY, comes, database, event_lines};
use crate::documents::rss;
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::{get, get_with};

fn status(daemon: &Daemon, path: &str) -> u16 {
    get(daemon.listen, path).unwrap().0
}

#[test]
fn while_the_database_is_away_pages_say_so_and_then_everything_resumes() {
    let mut instance = Instance::in_folder();
    // The feed is due again every second.
    instance.configure("[defaults]\npolicy = \"fix:1s\"\nalpha = \"1s\"\n");
    let Some(url) = database(&instance) else { return };
    let relay = Relay::start(&url);
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 2));
    let args = ["--database", relay.url(), FREELY[0], FREELY[1], FREELY[2]];
    let daemon = instance.daemon(&args).ready();
    let add = ["feed", "add", &publisher.url("/f"), "--database", relay.url()];
    instance.run(&add).ok();
    let (_, feeds) = get(daemon.listen, "/feeds").unwrap();
    assert!(feeds.contains("Feed f"), "{feeds}");
    let events = event_lines(daemon.listen, "/api/v1/entries/stream");
    comes(&events, "Item 1 of f");

    relay.cut();
    eventually("it is not ready", || (status(&daemon, "/readyz") == 503).then_some(()));
    eventually("it stops polling", || {
        daemon.log().contains("this process no longer records").then_some(())
    });
    assert_eq!(status(&daemon, "/healthz"), 200);
    assert_eq!(status(&daemon, "/style.css"), 200);
    let (code, page) = get(daemon.listen, "/feeds?q=a").unwrap();
    assert_eq!(code, 503);
    for part in ["The database does not answer", "Polling waits", "No entry is lost"] {
        assert!(page.contains(part), "{page}");
    }
    let again = "<meta http-equiv=\"refresh\" content=\"5; url=/feeds?q=a\">";
    assert!(page.contains(again), "the page loads again by itself: {page}");
    assert!(page.contains("running for"), "{page}");
    let (code, answer) = get(daemon.listen, "/api/v1/feeds").unwrap();
    assert!(code == 503 && answer.contains("polling waits for it"), "{code} {answer}");
    for path in ["/v1/feeds", "/feeds/x.atom", "/reader/api/0/user-info", "/websub/callback/x"] {
        assert_eq!(status(&daemon, path), 503, "{path}");
    }
    let head = "X-Auth-Token: x\r\n";
    assert_eq!(get_with(daemon.listen, "/v1/me", head).unwrap().0, 503);
    // Nothing is fetched that could not be stored.
    publisher.set("/f", rss("f", 3));
    publisher.take_asked();
    let poll = instance.run(&["feed", "poll", "1", "--database", relay.url()]);
    poll.says(1, &["does not answer"]);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(publisher.n_asked(), 0);

    relay.mend();
    eventually("it is ready again", || (status(&daemon, "/readyz") == 200).then_some(()));
    eventually("pages are there again", || (status(&daemon, "/feeds") == 200).then_some(()));
    eventually("it polls again", || {
        let args = ["feed", "poll", "1", "--database", relay.url(), FREELY[0]];
        (instance.run(&args).code == Some(0)).then_some(())
    });
    // The stream that was open all the time goes on where it was.
    comes(&events, "Item 2 of f");
    let entries = instance.run(&["entries", "--database", relay.url()]).ok().lines();
    assert_eq!(entries.len(), 3, "every entry once: {entries:?}");
}
