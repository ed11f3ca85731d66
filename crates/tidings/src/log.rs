//! Sets up the destination and the format of log lines. It logs nothing itself. The code that logs
//! a URL masks its secrets first.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use tracing_subscriber::EnvFilter;

use crate::args::CliCommand;
use crate::args::operate::LogFormat;
use crate::output::{escaped, is_control};

/// Starts logging to standard error. `TIDINGS_LOG` takes filters such as `debug` or `engine=debug`.
/// Commands print their results themselves, so only the daemon logs by default.
pub fn start(command: &CliCommand) {
    let (usual, format) = match command {
        // Our own lines say what the client of the bus reports, with the remedy.
        CliCommand::Run(run) if !run.once => ("info,async_nats=off", run.log_format),
        CliCommand::Run(run) => ("warn", run.log_format),
        CliCommand::Record(_) => ("engine=warn,info", LogFormat::Text),
        _ => ("warn", LogFormat::Text),
    };
    let filter = std::env::var("TIDINGS_LOG").unwrap_or_else(|_| usual.to_owned());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|_| EnvFilter::new(usual));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| MaskedOutput);
    match format {
        LogFormat::Text => {
            lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).init();
        }
        // Log collectors expect the fields next to the message, not below it.
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).init();
        }
    }
}

/// Standard error for lines that may quote texts of others. The library escapes control characters
/// in text lines only, and never escapes direction overrides.
struct MaskedOutput;

impl Write for MaskedOutput {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().lock().write_all(shown(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Escapes such characters as in JSON. The library's own colours use C0 characters, which stay.
fn shown(line: &str) -> Cow<'_, str> {
    escaped(line, |c| !c.is_ascii_control() && is_control(c) || c == '\u{7f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_colours_and_controls_nothing_else() {
        let line = "\u{1b}[32mINFO\u{1b}[0m \u{202e}a\u{9b}b\u{7f}\n";
        assert_eq!(shown(line), "\u{1b}[32mINFO\u{1b}[0m \\u202ea\\u009bb\\u007f\n");
    }
}
