//! Files next to a recording: durations as feeds write them, lists of chapters, and transcripts.
//! It reads bytes that others fetched.

use feed::Chapter;
use serde_json::Value;

use crate::room::shorten;

/// Chapters of one recording. A recording of a whole day has fewer.
pub(crate) const CHAPTERS_MAX: usize = 500;
/// Lines of a transcript: ten hours of speech.
const LINES_MAX: usize = 20_000;
/// Bytes of a file with chapters or a transcript. Ten hours of speech have less than 1 MB.
pub const MEDIA_TEXT_BYTES_MAX: usize = 2_000_000;

/// Reads a duration in whole seconds: seconds, `mm:ss` or `hh:mm:ss`.
pub(crate) fn seconds(text: &str) -> Option<u32> {
    u32::try_from(milliseconds(text)? / 1000).ok()
}

/// Reads a duration or a moment in milliseconds: seconds, `mm:ss` or `hh:mm:ss`, with a fraction or
/// without.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let mut total: u64 = 0;
    for (n, part) in whole.split(':').enumerate() {
        if n > 2 || part.is_empty() || part.len() > 9 || !is_number(part) {
            return None;
        }
        total = total * 60 + part.parse::<u64>().ok()?;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    let thousandths = if is_number(fraction) { thousandths.parse().ok()? } else { return None };
    total.checked_mul(1000)?.checked_add(thousandths)
}

/// Reads the chapters of a JSON file (`podcast:chapters`). Chapters that are not part of the table
/// of contents are left out. `None`: the bytes are something else.
pub fn chapters(bytes: &[u8]) -> Option<Vec<Chapter>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let listed = value.get("chapters")?.as_array()?;
    let shown = listed.iter().filter(|chapter| chapter.get("toc") != Some(&Value::Bool(false)));
    let read = shown.filter_map(|chapter| {
        let start = chapter.get("startTime")?.as_f64().filter(|start| *start >= 0.0)?;
        let text = |name: &str| {
            let text = chapter.get(name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let mut title = text("title")?;
        shorten(&mut title);
        let start_ms = (start * 1000.0) as u64;
        Some(Chapter { start_ms, title, link: text("url"), image: text("img") })
    });
    Some(read.take(CHAPTERS_MAX).collect())
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokenLine {
    pub start_ms: Option<u64>,
    pub text: String,
}

/// Reads a transcript: WebVTT, SubRip or JSON with `segments`. Other texts are lines without
/// times; markup is left as it is. `None`: there is nothing to read.
pub fn transcript(bytes: &[u8]) -> Option<Vec<SpokenLine>> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let lines = match serde_json::from_str::<Value>(text) {
        Ok(value) => segments(&value)?,
        Err(_) => cues(text),
    };
    (!lines.is_empty()).then_some(lines)
}

fn segments(value: &Value) -> Option<Vec<SpokenLine>> {
    let listed = value.get("segments")?.as_array()?;
    let read = listed.iter().filter_map(|segment| {
        let start = segment.get("startTime").and_then(Value::as_f64);
        let body = segment.get("body")?.as_str()?.trim();
        let text = match segment.get("speaker").and_then(Value::as_str) {
            Some(speaker) => format!("{speaker}: {body}"),
            None => body.to_owned(),
        };
        let start_ms = start.filter(|start| *start >= 0.0).map(|start| (start * 1000.0) as u64);
        Some(SpokenLine { start_ms, text })
    });
    Some(read.take(LINES_MAX).collect())
}

/// Reads blocks that are separated by blank lines. A line with an arrow has the times of its block.
fn cues(text: &str) -> Vec<SpokenLine> {
    let mut lines = Vec::new();
    let is_vtt = text.starts_with("WEBVTT");
    let has_times = text.contains("-->");
    let normal = text.replace("\r\n", "\n");
    for block in normal.split("\n\n") {
        let mut start_ms = None;
        let mut said: Vec<&str> = Vec::new();
        for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once("-->") {
                // The lines before the times are the number of the cue.
                Some((start, _)) => {
                    start_ms = milliseconds(start);
                    said.clear();
                }
                None => said.push(line),
            }
        }
        let is_header = has_times && start_ms.is_none();
        if said.is_empty() || is_header || lines.len() >= LINES_MAX {
            continue;
        }
        let text = said.join(" ");
        let text = if is_vtt { without_voices(&text) } else { text };
        lines.push(SpokenLine { start_ms, text });
    }
    lines
}

/// Replaces the tags of WebVTT: `<v Ann>` names a speaker, others only style the text.
fn without_voices(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let Some((tag, after)) = after.split_once('>') else { break };
        if let Some(name) = tag.strip_prefix("v ") {
            plain.push_str(name.trim());
            plain.push_str(": ");
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_their_spellings() {
        for (text, expect) in [
            ("3723", Some(3_723_000)),
            (" 62:03 ", Some(3_723_000)),
            ("1:02:03", Some(3_723_000)),
            ("00:01:02.500", Some(62_500)),
            ("00:01:02,5", Some(62_500)),
            ("61.98765", Some(61_987)),
            ("0", Some(0)),
            ("", None),
            ("1:", None),
            ("1.x", None),
            ("an hour", None),
            ("-5", None),
            ("1:2:3:4", None),
            ("99999999999", None),
        ] {
            assert_eq!(milliseconds(text), expect, "{text}");
        }
        assert_eq!(seconds("999999999:00:00"), None);
    }

    #[test]
    fn chapters_of_a_file() {
        let text = r#"{"version": "1.2.0", "chapters": [
            {"startTime": 0, "title": "Hello", "img": "https://e.org/i.png"},
            {"startTime": 61.5, "title": "More", "url": "https://e.org/more"},
            {"startTime": 70, "title": "hidden", "toc": false},
            {"startTime": -1, "title": "no"}, {"startTime": 5}, 7]}"#;
        let read = chapters(text.as_bytes()).unwrap();
        let seen: Vec<_> = read.iter().map(|c| (c.start_ms, c.title.as_str())).collect();
        assert_eq!(seen, [(0, "Hello"), (61_500, "More")]);
        assert_eq!(read[1].link.as_deref(), Some("https://e.org/more"));
        assert_eq!(chapters(b"<html>"), None);
        assert_eq!(chapters(b"{\"chapters\": 5}"), None);
    }

    #[track_caller]
    fn said(text: &str) -> Vec<(Option<u64>, String)> {
        let lines = transcript(text.as_bytes()).unwrap_or_default();
        lines.into_iter().map(|line| (line.start_ms, line.text)).collect()
    }

    #[test]
    fn transcripts_in_their_formats() {
        let line = |at: u64, text: &str| (Some(at), text.to_owned());
        let vtt = "WEBVTT\n\nNOTE hello\n\n1\n00:01.000 --> 00:02.000 align:start\n\
                   <v Ann>Good <b>morning</b>\nall\n\n00:03.500 --> 00:04.000\nBye\n";
        assert_eq!(said(vtt), [line(1000, "Ann: Good morning all"), line(3500, "Bye")]);
        let srt = "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne\r\ntwo\r\n\r\n2\r\n\
                   00:00:03,000 --> 00:00:04,000\r\nThree\r\n";
        assert_eq!(said(srt), [line(1000, "One two"), line(3000, "Three")]);
        let json = r#"{"segments": [{"speaker": "Ann", "startTime": 0.5, "body": " Hi "}]}"#;
        assert_eq!(said(json), [line(500, "Ann: Hi")]);
        assert_eq!(
            said("Plain\nwords\n\nMore"),
            [(None, "Plain words".to_owned()), (None, "More".to_owned())]
        );
        assert_eq!(transcript(b""), None);
        assert_eq!(transcript(b"{}"), None);
        assert_eq!(transcript(b"\xff\xfe"), transcript("\u{fffd}\u{fffd}".as_bytes()));
    }
}
