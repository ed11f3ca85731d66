//! Detects that the files of an open store were removed, moved or replaced. SQLite keeps writing
//! into a file that has lost its name, and everything written there is lost after a restart.
//!
//! It compares the files behind the names with the open ones. It does not read or repair them.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::error::shown;

/// The write-ahead log and its index. Without them other processes see another state of the
/// database.
const LOG_ENDINGS: [&str; 2] = ["-wal", "-shm"];

/// The files of a store as they were when it was opened.
#[derive(Debug)]
pub(crate) struct FileIdentity(Vec<(PathBuf, FileId)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Notes the files. Call it after the first statement, which creates the log.
    pub fn of(path: &Path) -> FileIdentity {
        let logs = LOG_ENDINGS.iter().map(|ending| with_ending(path, ending));
        let all = std::iter::once(path.to_owned()).chain(logs);
        FileIdentity(all.filter_map(|path| file_id(&path).ok().map(|id| (path, id))).collect())
    }

    /// Notes the database file alone. Another process may remove the log while this one only reads.
    pub fn of_database(path: &Path) -> FileIdentity {
        FileIdentity(file_id(path).ok().map(|id| (path.to_owned(), id)).into_iter().collect())
    }

    /// A database without files of its own: nothing can be moved.
    pub fn none() -> FileIdentity {
        FileIdentity(Vec::new())
    }

    /// Fails if a name no longer leads to the open file.
    pub fn check(&self) -> Result<(), StoreError> {
        for (path, id) in &self.0 {
            match file_id(path) {
                Ok(found) if found == *id => {}
                Ok(_) => return Err(StoreError::Replaced { file: shown(path) }),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    return Err(StoreError::Removed { file: shown(path) });
                }
                // If the folder cannot be read at the moment, the file is still there.
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Returns the inode, by which two processes can tell that they mean the same file.
pub(crate) fn inode(path: &Path) -> Option<u64> {
    file_id(path).ok().map(|id| id.inode)
}

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn file_id(path: &Path) -> io::Result<FileId> {
    let meta = std::fs::metadata(path)?;
    Ok(FileId { device: meta.dev(), inode: meta.ino() })
}
