//! The page in a real browser, with scripts and without. The tests cover every page and every
//! action. Pages have no serious accessibility fault, load nothing from other sites, and run
//! nothing from a feed.
//!
//! This table lists every action with its test. A `b` before a test means that it makes the same
//! clicks twice, with scripts and without. A test below checks that the named tests exist.
//!
//! | place | act | with scripts | without |
//! |---|---|---|---|
//! | Read | everything, a tag, a feed, a query, a search | b `every_scope_is_read` | b |
//! | | unread, star, all above read | `marks_are_made_by_clicks` | `feeds_are_added_by_a_page` |
//! | | all read but what came meanwhile | `what_comes_meanwhile` | `feeds_are_added_by_a_page` |
//! | | full content, both dates | b `every_scope_is_read` | b |
//! | | search, what is not understood | `a_search_finds_by_words` | b `every_scope_is_read` |
//! | | a note inside the text, a still of a video | b `a_video_is_asked_for` | b |
//! | | load the whole text, switch | b `the_whole_text_is_loaded` | b |
//! | | print, pictures far below | `a_printed_entry_is_its_text` | – |
//! | | a loaded article, a player of another site | `loaded_articles_and_players_fit` | – |
//! | | play, position | `a_podcast_is_played` | – |
//! | | steps of 30 seconds, resume | `a_recording_continues` | – |
//! | | undo of all read | b `mark_all_read_is_undone` | b |
//! | | mute a word, hidden entries | b `a_word_is_muted_by_two_clicks` | b |
//! | | labels | b `entries_get_labels` | b |
//! | | swipe | `a_swipe_marks_or_stars` | – |
//! | | without a network | `entries_are_read_and_marked` | – |
//! | | marks that wait: server fails, browser ends | `marks_wait_while` | – |
//! | | marks that wait: session ends, first account | `marks_from_before_the_first` | – |
//! | | keys `j k o m s u / ? g` | `every_key_does` | – |
//! | | keys `A z`, `n`, `v` | `mark_all_read_and_its_undo` | – |
//! | | new entries by themselves | `new_entries_appear` | – |
//! | | order, size of the text | b `order_and_size` | b |
//! | | time zone of browser and account | `times_are_in_the_zone` | – |
//! | | light or dark, kept when logged out | b `somebody_logs_in` | b |
//! | Feeds | add by any address, with a choice | b `a_page_that_names_several` | b |
//! | | a first feed on the keyboard alone | `a_new_user_reads` | `feeds_are_added_by_a_page` |
//! | | OPML: a file, pasted, out again | b `lists_come_as_a_file` | b |
//! | | states in words, trouble first, search | b `trouble_is_said_in_words` | b |
//! | | change many, undo | b `many_feeds_are_tagged` | b |
//! | Tags | order, rename, merge, remove, undo | b `tags_are_moved_renamed` | b |
//! | | drag, keys | `tags_are_dragged` | – |
//! | a feed | rhythm, time line, why, misses, bytes, 304 | b `a_feed_tells_what` | b |
//! | | errors with advice | b `trouble_is_said_in_words` | b |
//! | | try a selector | `a_selector_is_tried` | – |
//! | | title, tags, policy, bounds, pause, poll, remove | b `a_feed_is_named_tagged` | b |
//! | Queries | faults marked, preview, save, drop | `a_query_is_previewed` | `a_query_is_tried` |
//! | | deliveries, dead letters, replay | b `dead_letters_are_shown` | b |
//! | Rules | faults, trial, save | b `a_rule_with_a_fault` | b |
//! | Budget | set, lift, what if | b `the_budget_is_set` | b |
//! | | the slider | `moving_the_slider` (crate `api`) | `moving_the_slider` |
//! | Lab | reports | b `reports_of_the_lab` | b |
//! | Health | what fails | b `trouble_is_said_in_words` | b |
//! | Feeds | find feeds, dismiss, restore | b `accounts_services_queries` | b |
//! | a feed | how it is fetched | b `accounts_services_queries` | b |
//! | Queries | share | b `accounts_services_queries` | b |
//! | Account | services, send, other devices, delete | b `accounts_services_queries` | b |
//! | People | role, remove | b `accounts_services_queries` | b |
//! | Account | log in, token, password, log out | b `somebody_logs_in` | b |

mod bulk;
mod chromium;
mod live;
mod media;
mod offline;
mod offline_marks;
mod people;
mod places;
mod reading;
mod ruled;
mod scripted;
mod stored;
mod subscriptions;
mod unscripted;
mod viewed;
mod whole;

use std::process::Stdio;

use chromium::Browser;

use crate::documents::{opml, rss};
use crate::program::{Daemon, Instance, finish, path_text};
use crate::publisher::Publisher;
use crate::turns::turn;
use crate::wire::Response;

/// A site with feeds, an instance that may poll it, and somebody who looks at its page.
struct Stage {
    publisher: Publisher,
    instance: Instance,
    daemon: Daemon,
    browser: Browser,
}

/// Runs the same steps twice: with scripts, and on a fresh stage without.
fn with_scripts_and_without(set: impl Fn() -> Stage, play: impl Fn(&mut Stage)) {
    let _turn = turn();
    for scripts in [true, false] {
        let mut stage = set();
        stage.browser.scripts(scripts);
        play(&mut stage);
        stage.browser.was_clean();
    }
}

fn stage() -> Stage {
    stage_after(|_, _| ())
}

/// Returns a stage whose daemon starts after `set`.
fn stage_after(set: impl FnOnce(&Publisher, &Instance)) -> Stage {
    let publisher = Publisher::start(1);
    publisher.set("/a.xml", rss("a", 4));
    publisher.set("/b.xml", rss("b", 2));
    let links = "<html><head><title>A site</title>\
        <link rel=alternate type='application/rss+xml' title=A href=/a.xml>\
        <link rel=alternate type='application/rss+xml' title=B href=/b.xml></head>\
        <body>Hello</body></html>";
    let page = Response::new(200).with("content-type", "text/html").body(links);
    publisher.set_answer("/site", page);
    let instance = Instance::new();
    set(&publisher, &instance);
    // The test does not need the gaps between requests.
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    let browser = Browser::start(daemon.listen);
    Stage { publisher, instance, daemon, browser }
}

impl Stage {
    /// Returns a stage with a feed of four entries.
    fn with_feed() -> Stage {
        let stage = stage();
        let url = stage.publisher.url("/a.xml");
        stage.instance.run(&["feed", "add", &url, "--tag", "news"]).ok();
        stage
    }

    /// Subscribes to more of the publisher's paths and polls them once.
    fn with_paths(self, paths: &[&str]) -> Stage {
        let urls: Vec<String> = paths.iter().map(|path| self.publisher.url(path)).collect();
        self.instance.import(&opml(&urls)).ok();
        self.instance.run(&["feed", "poll", "--all", "--json"]);
        self
    }

    fn query(&self, text: &str) {
        let file = self.instance.write("q.query", text);
        self.instance.run(&["query", "apply", path_text(&file)]).ok();
    }

    fn account(&self, name: &str, password: &str) {
        account(&self.instance, name, password);
    }

    fn log_in(&mut self, name: &str) {
        self.browser.open("/login");
        self.browser.fill("input[name=name]", name);
        self.browser.fill("input[name=password]", PASSWORD);
        self.browser.follow("main button");
    }

    fn log_out(&mut self) {
        self.browser.open("/account");
        self.browser.follow("form[action='/logout'] button");
        self.browser.wait("location.pathname === '/login'");
    }
}

/// The password of accounts that `log_in` uses.
const PASSWORD: &str = "correct horse";

fn account(instance: &Instance, name: &str, password: &str) {
    let file = instance.write("password", format!("{password}\n"));
    let mut command = instance.command(&["user", "add", name, "--password-stdin"]);
    command.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    finish(command, "tidings user add").ok();
}

/// Prints the log of the program if the test failed.
impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.daemon.log());
        }
    }
}

/// Returns the script expression that finds the line of an entry by its title.
fn line(title: &str) -> String {
    let title = serde_json::json!(title);
    format!(
        "[...document.querySelectorAll('#lines > li')].find(l => l.innerText.includes({title}))"
    )
}

#[test]
fn the_list_of_acts_names_tests_that_exist() {
    let tests = [
        include_str!("browser/bulk.rs"),
        include_str!("browser/live.rs"),
        include_str!("browser/media.rs"),
        include_str!("browser/offline.rs"),
        include_str!("browser/offline_marks.rs"),
        include_str!("browser/people.rs"),
        include_str!("browser/places.rs"),
        include_str!("browser/reading.rs"),
        include_str!("browser/ruled.rs"),
        include_str!("browser/scripted.rs"),
        include_str!("browser/subscriptions.rs"),
        include_str!("browser/unscripted.rs"),
        include_str!("browser/whole.rs"),
        include_str!("../../../api/tests/it/slider.rs"),
    ]
    .concat();
    let list = include_str!("browser.rs").lines().filter(|line| line.starts_with("//! | "));
    let mut n_named = 0;
    for line in list.skip(1) {
        let cells: Vec<&str> = line.split(" | ").collect();
        for cell in &cells[2..] {
            let name = cell.split('`').nth(1).unwrap_or("");
            assert!(name.is_empty() || tests.contains(&format!("fn {name}")), "{line}");
            n_named += usize::from(!name.is_empty());
        }
    }
    assert!(n_named > 20, "{n_named}");
}
