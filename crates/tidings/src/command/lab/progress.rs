//! A progress bar while policies run: finished feeds, polls per second, time left. On a terminal
//! only.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lab::RunProgress;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Does `work` and shows its progress through `n_feeds` feeds.
pub fn watched<T>(name: &str, n_feeds: u64, work: impl FnOnce(&RunProgress) -> T) -> T {
    let progress = RunProgress::default();
    if !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    let template = "{prefix} {wide_bar} {pos}/{len} feeds, {msg}, {eta} left";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(n_feeds).with_style(style).with_prefix(name.to_owned());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                show(&bar, &progress);
                std::thread::sleep(LOOK_EVERY);
            }
            bar.finish_and_clear();
        });
        let result = work(&progress);
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn show(bar: &ProgressBar, progress: &RunProgress) {
    bar.set_position(progress.feeds.load(Ordering::Relaxed));
    let secs = bar.elapsed().as_secs_f64().max(0.001);
    let per_second = progress.polls.load(Ordering::Relaxed) as f64 / secs / 1e6;
    bar.set_message(format!("{per_second:.1} million polls/s"));
}
