//! The journal of a long discovery: one JSON line for each line of the list. A killed run leaves at
//! most one incomplete line at its end, which the next run cuts off.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use dataset::discovery::JournalLine;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::command::lab::files;
use crate::error::{CliError, failed, input_error};

/// The list that a journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ListFacts {
    /// Lines, without empty ones and comments; 0 for standard input, which cannot be read twice.
    pub lines: u64,
    pub sha256: String,
}

/// A journal that is open.
pub struct Journal {
    file: File,
    /// Its path; `None`: a temporary file.
    path: Option<PathBuf>,
    is_continued: bool,
}

impl Journal {
    /// Reads a list once, to count its lines and to recognise it.
    pub fn describe(file: &Path) -> Result<ListFacts, CliError> {
        if file == Path::new("-") {
            return Ok(ListFacts { lines: 0, sha256: String::new() });
        }
        let wrong = |e: std::io::Error| failed(format!("{}: cannot be read: {e}", file.display()));
        let mut reader = BufReader::with_capacity(files::BUFFER_BYTES, files::open(file)?);
        let (mut sha, mut lines) = (Sha256::new(), 0);
        while let Some(line) = super::listed::next_line(&mut reader).map_err(wrong)? {
            sha.update(line.as_bytes());
            sha.update(b"\n");
            let text = line.trim();
            lines += u64::from(!text.is_empty() && !text.starts_with('#'));
        }
        let sha256 = sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(ListFacts { lines, sha256 })
    }

    /// Opens the journal next to the output. Without an output it is temporary, and the run cannot
    /// continue.
    pub fn open(out: Option<&Path>, list: &ListFacts) -> Result<Journal, CliError> {
        let Some(out) = out.filter(|out| *out != Path::new("-")) else {
            return Journal { file: tempfile::tempfile()?, path: None, is_continued: false }
                .begun(list);
        };
        let mut path = out.as_os_str().to_owned();
        path.push(".journal");
        let path = PathBuf::from(path);
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let file = opened
            .map_err(|e| input_error(format!("{}: cannot be written: {e}", path.display())))?;
        Journal { file, path: Some(path), is_continued: false }.begun(list)
    }

    /// Checks that the journal belongs to the list, or begins it.
    fn begun(mut self, list: &ListFacts) -> Result<Journal, CliError> {
        self.cut_incomplete()?;
        let mut reader = BufReader::new(&self.file);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        if first.is_empty() {
            let line = serde_json::to_string(list)?;
            writeln!(self.file, "{line}")?;
            return Ok(self);
        }
        let found: Option<ListFacts> = serde_json::from_str(&first).ok();
        if found.as_ref() != Some(list) {
            let shown = self.path.as_deref().map_or(String::new(), |p| p.display().to_string());
            return Err(input_error(format!(
                "{shown} belongs to another list or to an older state of this one; remove it to \
                 begin again, or choose another --out"
            )));
        }
        self.is_continued = true;
        Ok(self)
    }

    /// Cuts off a line that a killed run did not complete.
    fn cut_incomplete(&mut self) -> Result<(), CliError> {
        let mut end = self.file.seek(SeekFrom::End(0))?;
        let mut last = [0_u8];
        while end > 0 {
            self.file.seek(SeekFrom::Start(end - 1))?;
            self.file.read_exact(&mut last)?;
            if last == *b"\n" {
                break;
            }
            end -= 1;
        }
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(0))?;
        Ok(())
    }

    /// Returns whether a later run can continue it.
    pub fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    /// Returns whether an earlier run began the journal.
    pub fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// Hands out the lines of the journal.
    pub fn each(
        &mut self,
        mut each: impl FnMut(JournalLine) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::new(&self.file);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                break;
            }
            each(serde_json::from_str(&line)?)?;
        }
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Adds a line, with one call to the system: a killed run leaves whole lines.
    pub fn write(&mut self, line: &JournalLine) -> Result<(), CliError> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Removes the journal after the result was written.
    pub fn remove(self) -> Result<(), CliError> {
        match self.path {
            Some(path) => Ok(std::fs::remove_file(path)?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_continues_after_an_incomplete_line_and_refuses_another_list() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("feeds.txt");
        let list = ListFacts { lines: 2, sha256: "a".to_owned() };
        let mut journal = Journal::open(Some(&out), &list).unwrap();
        journal.write(&JournalLine { line: 1, ..JournalLine::default() }).unwrap();
        drop(journal);
        let path = folder.path().join("feeds.txt.journal");
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"{\"line\":2,\"addr");
        std::fs::write(&path, text).unwrap();
        let mut journal = Journal::open(Some(&out), &list).unwrap();
        let mut lines = Vec::new();
        let mut read = |journal: &mut Journal| {
            let each = |line: JournalLine| {
                lines.push(line.line);
                Ok(())
            };
            journal.each(each).unwrap();
            lines.clone()
        };
        assert_eq!(read(&mut journal), [1]);
        journal.write(&JournalLine { line: 2, ..JournalLine::default() }).unwrap();
        assert_eq!(read(&mut journal), [1, 1, 2]);
        let other = ListFacts { lines: 3, ..list };
        assert_eq!(Journal::open(Some(&out), &other).err().map(|e| e.code), Some(2));
        journal.remove().unwrap();
        assert!(!path.exists());
    }
}
