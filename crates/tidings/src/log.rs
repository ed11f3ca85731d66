//! Where log lines go and how they are written. It logs nothing itself: whoever does masks the
//! secrets of a URL first.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::Command;
use crate::args::operate::LogFormat;

/// Logs go to standard error; `TIDINGS_LOG` takes filters such as `debug` or `engine=debug`. A
/// command says what it has to say itself, so only the daemon logs by default.
pub fn start(command: &Command) {
    let (usual, format) = match command {
        Command::Run(run) if !run.once => ("info", run.log_format),
        Command::Run(run) => ("warn", run.log_format),
        _ => ("warn", LogFormat::Text),
    };
    let filter = std::env::var("TIDINGS_LOG").unwrap_or_else(|_| usual.to_owned());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|_| EnvFilter::new(usual));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => {
            lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).init();
        }
        // Fields beside the message, not below it: what programs that collect logs expect.
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).init();
        }
    }
}
