//! The access with which a store is opened.

/// The access that the caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For the holder of the folder's lock. Creates a missing store and migrates an older one.
    ReadWrite,
    /// For changes to a store that another process has locked. The file must exist in this version.
    Shared,
    ReadOnly,
}
