//! Files of JSON lines below the data folder. Lines are synced before the cursor moves. A line that
//! a crash cut off is removed, because it is written again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::Time;
use store::{QueryEntry, StoreError};

use super::{DeliveryTask, MatchMessages};

/// Lines written before one sync.
const BATCH: u32 = 500;
/// Longer than any line. The end of the last line is searched only this far back.
const LINE_BYTES_MAX: u64 = 32 << 20;

impl DeliveryTask<'_> {
    pub(super) async fn file(
        &self,
        path: &str,
        rolling: Option<Duration>,
    ) -> Result<(), StoreError> {
        let Some(folder) = &self.context.settings.delivery.folder else {
            return self.retry("no folder for files is configured".to_owned()).await;
        };
        let (mut cursor, mut messages) = (self.cursor(), MatchMessages::default());
        loop {
            let found = self.matches(cursor.position, BATCH).await?;
            let Some(last) = found.last().map(|found| found.position) else { return Ok(()) };
            let line = |found: &QueryEntry, messages: &mut MatchMessages| {
                let named = (self.query.id, self.query.name.as_str());
                messages.message(self.store(), named, found).map(|message| message.to_string())
            };
            let mut parts: Vec<(PathBuf, String)> = Vec::new();
            for one in &found {
                let name = folder.join(file_name(path, rolling, one.entry.seen_at));
                if parts.last().is_none_or(|(before, _)| *before != name) {
                    parts.push((name, String::new()));
                }
                if let Some((_, text)) = parts.last_mut() {
                    text.push_str(&line(one, &mut messages)?);
                    text.push('\n');
                }
            }
            let written = tokio::task::spawn_blocking(move || {
                parts.iter().try_for_each(|(name, text)| append(name, text.as_bytes()))
            });
            match written.await.unwrap_or_else(|e| Err(io::Error::other(e))) {
                Ok(()) => {
                    let (id, now) = (self.due.id, self.context.clock.now());
                    self.store().delivered(id, cursor.position, last, None, now).await?;
                    cursor.position = last;
                }
                Err(error) => return self.retry(format!("cannot write {path}: {error}")).await,
            }
        }
    }
}

/// Returns the file of a match: the path itself, or one for each period, named by its beginning.
fn file_name(path: &str, rolling: Option<Duration>, seen_at: Time) -> String {
    let Some(period) = rolling.map(|period| period.as_secs().max(1).cast_signed()) else {
        return path.to_owned();
    };
    let start = Time::from_secs(seen_at.secs().div_euclid(period) * period).to_string();
    let (day, clock) = start.split_at(start.find('T').unwrap_or(start.len()));
    let stem = path.strip_suffix(".jsonl").unwrap_or(path);
    if period % 86_400 == 0 {
        return format!("{stem}.{day}.jsonl");
    }
    format!("{stem}.{day}{}.jsonl", clock.replace(':', ""))
}

/// Several queries may write to one file. Without this lock, two that search for its end at once
/// would overwrite each other.
static WRITING: Mutex<()> = Mutex::new(());

fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let end = end_of_last_line(&mut file)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(text)?;
    file.sync_data()
}

/// Returns the end of the last whole line.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let mut at = length;
    while at > 0 {
        let start = at.saturating_sub(4096);
        let mut piece = vec![0; usize::try_from(at - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut piece)?;
        if let Some(found) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + found as u64 + 1);
        }
        if length - start > LINE_BYTES_MAX {
            return Err(io::Error::other("the file does not consist of JSON lines"));
        }
        at = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_by_a_crash_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.jsonl");
        append(&path, b"{\"n\":1}\n").unwrap();
        std::fs::write(&path, format!("{{\"n\":1}}\n{{\"n\":{}", "2".repeat(9000))).unwrap();
        append(&path, b"{\"n\":2}\n{\"n\":3}\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
        std::fs::write(&path, "cut").unwrap();
        append(&path, b"whole\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole\n");
    }

    #[test]
    fn queries_that_share_a_file_do_not_write_over_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for n in 0..25 {
                        append(path, format!("{writer} {n}\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: std::collections::HashSet<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8 * 25);
    }

    #[test]
    fn rolling_files_are_named_by_the_beginning_of_their_period() {
        let at = Time::from_secs(1_310_803_199); // 2011-07-16T07:59:59Z
        let name = |path, hours: Option<u64>| {
            file_name(path, hours.map(|h| Duration::from_secs(h * 3600)), at)
        };
        assert_eq!(name("x.jsonl", None), "x.jsonl");
        assert_eq!(name("a/x", Some(24)), "a/x.2011-07-16.jsonl");
        assert_eq!(name("x.jsonl", Some(6)), "x.2011-07-16T060000Z.jsonl");
    }
}
