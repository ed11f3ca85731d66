//! The slider between more polls and less delay, in a real browser. A test cannot wait for days of
//! history, so it writes the result of a replay into the store.

#[path = "../../../tidings/tests/it/browser/chromium.rs"]
#[expect(dead_code, reason = "the program's own tests use the rest")]
mod chromium;

use api::what_if::{ReplayResult, RuleResult};
use chromium::Browser;

use crate::fixture::Fixture;

fn rule(budget: &str, polls_per_day: f64, delay: f64, current: bool) -> RuleResult {
    RuleResult {
        name: "two-steps".to_owned(),
        budget: budget.to_owned(),
        polls_per_day,
        delay_secs: Some(delay),
        found: 9,
        missed: 0,
        current,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moving_the_slider_says_what_it_costs_and_fills_the_form() {
    let shelf = Fixture::new(true);
    shelf.see("https://a.org/f", &["one"], 10);
    let steps = vec![
        rule("50/1d", 50.0, 7200.0, false),
        rule("100/1d", 100.0, 1800.0, true),
        rule("200/1d", 200.0, 600.0, false),
    ];
    let outlook = ReplayResult { steps, ..ReplayResult::default() };
    api::what_if::save(&shelf.store, &outlook).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = listener.local_addr().unwrap();
    let serving = tokio::spawn(api::serve(listener, shelf.router, std::future::pending()));
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start(site);
        browser.open("/budget");
        browser.sees("100 polls per day: average delay 30 min, nothing missed");
        browser.eval("document.querySelector('#step').focus()");
        browser.press("ArrowRight");
        browser.sees("200 polls per day: average delay 10 min, nothing missed");
        browser.wait("document.querySelector('input[name=budget]').value === '200/1d'");
        browser.wait("document.querySelector('#steps tr.here').dataset.rule === '200/1d'");
        // Without scripts the table shows all values.
        browser.scripts(false);
        browser.open("/budget");
        browser.wait("document.querySelector('#step').closest('[hidden]')");
        browser.sees("50/1d");
        browser.was_clean();
    });
    looking.await.unwrap();
    serving.abort();
}
