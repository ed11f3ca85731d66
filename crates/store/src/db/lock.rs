//! The lock on a data folder. Its holder may poll and change the store. The operating system
//! releases it when the process ends, even after a crash.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::db::{FILE_NAME, file_identity};

const LOCK_NAME: &str = "lock";

/// A lock that this process holds until the value is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Writes the inode of the store into the lock file. Another process can then tell whether the
    /// file in the folder is still the one that the holder writes to.
    pub fn name_store(&self, path: &Path) -> std::io::Result<()> {
        let inode = file_identity::inode(path);
        // The process id stays on the first line.
        inode.map_or(Ok(()), |inode| writeln!(&self.file, "{inode}"))
    }
}

/// The reason why the folder could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{folder} is in use by process {pid}; stop it first, or use another folder (--data)")]
    By { folder: String, pid: u32, store: Option<u64> },
    #[error("{folder} is in use by another process; stop it first, or use another folder (--data)")]
    BySomeone { folder: String },
    #[error("cannot lock {folder}; check the owner and the mode of the folder")]
    Cannot { folder: String, source: std::io::Error },
}

impl LockError {
    /// Returns the process that holds the lock, if it has written its id.
    pub fn pid(&self) -> Option<u32> {
        match self {
            LockError::By { pid, .. } => Some(*pid),
            LockError::BySomeone { .. } | LockError::Cannot { .. } => None,
        }
    }

    /// Returns whether the file in the folder is the one that the holder writes to; `None` if the
    /// holder has not named its file.
    pub fn has_store(&self, folder: &Path) -> Option<bool> {
        let LockError::By { store, .. } = self else { return None };
        store.map(|inode| file_identity::inode(&folder.join(FILE_NAME)) == Some(inode))
    }

    /// Returns whether another process holds the lock. `false` means that the folder cannot be
    /// locked at all.
    pub fn is_held(&self) -> bool {
        !matches!(self, LockError::Cannot { .. })
    }
}

/// Takes the lock, or returns its holder. Never waits.
pub fn lock(folder: &Path) -> Result<Lock, LockError> {
    let name = folder.display().to_string();
    let cannot = |source| LockError::Cannot { folder: name.clone(), source };
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let path = folder.join(LOCK_NAME);
    // Not truncated: until this process has the lock, the text belongs to another one.
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = options.map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(held_by(&mut file, name)),
        Err(TryLockError::Error(source)) => return Err(cannot(source)),
    }
    file.set_len(0).map_err(cannot)?;
    writeln!(file, "{}", std::process::id()).map_err(cannot)?;
    Ok(Lock { file })
}

fn held_by(file: &mut File, folder: String) -> LockError {
    let mut text = String::new();
    // The holder may have locked the file and not written its id yet.
    let read = file.read_to_string(&mut text);
    let mut lines = text.lines().map(|line| line.trim().parse::<u64>().ok());
    let pid = lines.next().flatten().and_then(|pid| u32::try_from(pid).ok());
    match pid.filter(|_| read.is_ok()) {
        Some(pid) => LockError::By { folder, pid, store: lines.next().flatten() },
        None => LockError::BySomeone { folder },
    }
}
