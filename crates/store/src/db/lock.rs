//! The lock on a data folder: who holds it may poll and change. The system lets go of it when the
//! process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::db::{FILE_NAME, file_identity};

const LOCK_NAME: &str = "lock";

/// The folder is ours until this is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Names the store that the holder writes to, so that another process can tell whether the
    /// file in the folder is still that one.
    pub fn name_store(&self, path: &Path) -> std::io::Result<()> {
        let inode = file_identity::inode(path);
        // The process's own number stays the first line.
        inode.map_or(Ok(()), |inode| writeln!(&self.file, "{inode}"))
    }
}

/// Why the folder is not ours.
#[derive(Debug, thiserror::Error)]
pub enum Held {
    #[error("{folder} is in use by process {pid}; end it first, or use another folder (--data)")]
    By { folder: String, pid: u32, store: Option<u64> },
    #[error("{folder} is in use by another process; end it first, or use another folder (--data)")]
    BySomeone { folder: String },
    #[error("cannot lock {folder}; check the owner and the mode of the folder")]
    Cannot { folder: String, source: std::io::Error },
}

impl Held {
    /// The process that holds it, where it said so.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Held::By { pid, .. } => Some(*pid),
            Held::BySomeone { .. } | Held::Cannot { .. } => None,
        }
    }

    /// Whether the file in the folder is the one that the holder writes to; `None` where the holder
    /// has not said which one that is.
    pub fn has_store(&self, folder: &Path) -> Option<bool> {
        let Held::By { store, .. } = self else { return None };
        store.map(|inode| file_identity::inode(&folder.join(FILE_NAME)) == Some(inode))
    }

    /// Whether somebody else holds it, as opposed to: it cannot be locked at all.
    pub fn is_held(&self) -> bool {
        !matches!(self, Held::Cannot { .. })
    }
}

/// Takes the lock, or says who has it. Never waits.
pub fn lock(folder: &Path) -> Result<Lock, Held> {
    let name = folder.display().to_string();
    let cannot = |source| Held::Cannot { folder: name.clone(), source };
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let path = folder.join(LOCK_NAME);
    // Not truncated: until the lock is ours the text in it is another's.
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

fn held_by(file: &mut File, folder: String) -> Held {
    let mut text = String::new();
    // The holder may be between locking and writing: then nobody is named.
    let read = file.read_to_string(&mut text);
    let mut lines = text.lines().map(|line| line.trim().parse::<u64>().ok());
    let pid = lines.next().flatten().and_then(|pid| u32::try_from(pid).ok());
    match pid.filter(|_| read.is_ok()) {
        Some(pid) => Held::By { folder, pid, store: lines.next().flatten() },
        None => Held::BySomeone { folder },
    }
}
