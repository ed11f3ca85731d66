//! The output of commands: tables for a terminal, JSON for programs. Also reads their input.

use std::borrow::Cow;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use feed::Time;
use serde::Serialize;

use crate::error::{CliError, failed, input_error};

/// Larger than any subscription list or feed document. The limit prevents a wrong file name from
/// filling the memory.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Reads a file, or standard input for `-`.
pub fn read_input(file: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let from_stdin = file == Path::new("-");
    let read = if from_stdin {
        std::io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| input_error(format!("cannot read {}: {e}", file.display())))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        let mb = INPUT_BYTES_MAX / 1_048_576;
        return Err(input_error(format!("{} is larger than {mb} MB", file.display())));
    }
    Ok(bytes)
}

/// Prints one JSON document on standard output, and nothing else there.
pub fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)?;
    print_line(&escaped_json(&text))
}

/// Prints one line of JSON on standard output.
pub fn print_json_line(value: &impl Serialize) -> Result<(), CliError> {
    print_line(&escaped_json(&serde_json::to_string(value)?))
}

/// Prints one line on standard output. On a terminal, control characters are escaped.
pub fn print_line(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { visible(text) } else { Cow::Borrowed(text) };
    written(writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// Ignores the error of a reader that closed standard output (`| head`).
fn written(result: std::io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => Err(failed(format!("cannot write to standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// Buffered standard output, for output that is written row by row.
pub struct OutputRows {
    out: std::io::BufWriter<std::io::Stdout>,
    n: u64,
}

impl OutputRows {
    pub fn new() -> OutputRows {
        OutputRows { out: std::io::BufWriter::new(std::io::stdout()), n: 0 }
    }

    /// Returns the number of rows written.
    pub fn n(&self) -> u64 {
        self.n
    }

    pub fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.n += 1;
        let is_terminal = self.out.get_ref().is_terminal();
        let text = if is_terminal { visible(text) } else { Cow::Borrowed(text) };
        written(writeln!(self.out, "{text}"))
    }

    /// Writes a row of a JSON array, which [`OutputRows::end_json`] closes.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let before = if self.n == 0 { "[" } else { "," };
        self.n += 1;
        let text = serde_json::to_string_pretty(value)?.replace('\n', "\n  ");
        let is_terminal = self.out.get_ref().is_terminal();
        let text = if is_terminal { visible(&text) } else { Cow::Borrowed(text.as_str()) };
        written(write!(self.out, "{before}\n  {text}"))
    }

    pub fn end_json(mut self) -> Result<(), CliError> {
        let end = if self.n == 0 { "[]" } else { "\n]" };
        written(writeln!(self.out, "{end}").and_then(|()| self.out.flush()))
    }

    /// Writes the buffer, because somebody may be watching.
    pub fn flush(&mut self) -> Result<(), CliError> {
        written(self.out.flush())
    }
}

/// [`print_line`] with the arguments of `println!`.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::output::print_line(&format!($($text)*))
    };
}

pub(crate) use say;

pub fn table<'a>(header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    if std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header(header);
    table
}

/// Prints a line for people on standard error. On a terminal, control characters are escaped.
pub fn complain(text: &str) {
    let text = if std::io::stderr().is_terminal() { visible(text) } else { Cow::Borrowed(text) };
    eprintln!("{text}");
}

/// Whether a character could control a terminal or change how its line is displayed: C0, DEL, C1
/// and direction overrides. Line breaks and tabs are allowed.
pub fn is_control(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || is_direction(c)
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text with its control characters escaped, such as `\u{9b}`.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Returns JSON without characters that could control a terminal or that some readers take for the
/// end of a line. They become `\u` and four digits. Outside of strings JSON has only ASCII.
fn escaped_json(json: &str) -> Cow<'_, str> {
    escaped(json, |c| is_control(c) || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Returns a text with the `odd` characters escaped as in JSON. All of them are in the basic plane.
pub fn escaped(text: &str, odd: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&odd) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if odd(c) { written.push_str(&format!("\\u{:04x}", u32::from(c))) } else { written.push(c) }
    }
    Cow::Owned(written)
}

/// Puts a text of others on one line. Control characters become spaces, because they could move a
/// terminal's cursor or rename its window.
pub fn tamed(text: &str) -> String {
    let control = |c: char| c.is_control() || is_direction(c);
    let clean: String = text.chars().map(|c| if control(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ")
}

/// Returns the same, cut after `chars_max` characters.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let line = tamed(text);
    if line.chars().count() <= chars_max {
        return line;
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Writes a time relative to `now`, for people: `in 5 min`, `3 h ago`.
pub fn relative(at: Time, now: Time) -> String {
    if at > now {
        format!("in {}", polling::spoken(rounded(at.since(now))))
    } else {
        format!("{} ago", polling::spoken(rounded(now.since(at))))
    }
}

/// Writes the time of something that is still to be done. A time in the past is "due now".
pub fn ahead(at: Time, now: Time) -> String {
    if at > now { relative(at, now) } else { "due now".to_owned() }
}

fn rounded(d: std::time::Duration) -> std::time::Duration {
    std::time::Duration::from_secs(d.as_secs())
}

/// Returns a URL with its secrets masked, even if the text is not a valid URL.
pub fn shown_url(url: &str) -> String {
    feed::FeedUrl::parse(url).map_or_else(|_| one_line(&feed::mask_text(url), 200), |u| u.masked())
}

/// Shows a spinner while we wait; on a terminal only.
pub fn spinner(message: &str) -> indicatif::ProgressBar {
    let spinner = indicatif::ProgressBar::new_spinner().with_message(message.to_owned());
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}

/// Shows a progress bar; on a terminal only.
pub fn bar(message: &str, length: u64) -> indicatif::ProgressBar {
    styled_bar(message, length, "{msg} {wide_bar} {pos}/{len} {eta}")
}

/// Shows a progress bar that counts bytes.
pub fn bytes_bar(message: &str, length: u64) -> indicatif::ProgressBar {
    styled_bar(message, length, "{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
}

fn styled_bar(message: &str, length: u64, template: &str) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template(template);
    let bar = indicatif::ProgressBar::new(length).with_message(message.to_owned());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{85}\u{2028}\r\u{7}ü";

    #[test]
    fn what_could_control_a_terminal_is_shown() {
        let shown = visible(HOSTILE);
        assert!(!shown.contains(is_control), "{shown:?}");
        assert!(shown.contains("\\u{9b}31m") && shown.contains("\\u{7f}"), "{shown}");
        assert!(shown.contains('ü') && shown.contains("\\u{202e}b"), "{shown}");
        assert!(matches!(visible("two\nlines\tü"), Cow::Borrowed("two\nlines\tü")));
        assert!(!tamed(HOSTILE).contains(is_control));
    }

    #[test]
    fn json_holds_no_raw_control_and_says_the_same() {
        let json = serde_json::to_string(&serde_json::json!({ HOSTILE: [HOSTILE] })).unwrap();
        let written = escaped_json(&json);
        assert!(written.contains("\\u009b31m") && written.contains("\\u007f"), "{written}");
        assert!(!written.contains(|c: char| is_control(c) || c == '\u{2028}'), "{written:?}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&written), read(&json));
    }
}
