//! Opens the connections of a store that is a file in a data folder.

use std::path::Path;
use std::sync::Arc;

use crate::db::sql::Connection;
use crate::db::{connection, migrations};
use crate::error::shown;
use crate::{OpenMode, StoreError};

/// Opens the connection that writes. The owner of the folder also creates and migrates the file.
pub(crate) fn writer(
    folder: &Path,
    path: &Path,
    file: &Arc<str>,
    mode: OpenMode,
) -> Result<Connection, StoreError> {
    let say = |e| StoreError::database(file, e);
    if mode == OpenMode::Shared {
        let conn = connection::sharing(path).map_err(say)?;
        migrations::require_current(&conn, file).map_err(|fault| fault.at(file))?;
        return Ok(conn);
    }
    std::fs::create_dir_all(folder).map_err(|e| StoreError::Folder {
        folder: shown(folder),
        detail: Arc::from(e.to_string()),
    })?;
    let conn = connection::writing(path).map_err(say)?;
    migrations::migrate(&conn, file).map_err(|fault| fault.at(file))?;
    Ok(conn)
}

/// Opens the first connection that reads.
pub(crate) fn reader(path: &Path, file: &Arc<str>) -> Result<Connection, StoreError> {
    let say = |e| StoreError::database(file, e);
    let conn = connection::reading(path).map_err(say)?;
    migrations::require_current(&conn, file).map_err(|fault| fault.at(file))?;
    Ok(conn)
}
