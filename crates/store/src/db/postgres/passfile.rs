//! The password file of PostgreSQL (`~/.pgpass`): lines of host, port, database, user and password.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A longer file is not a password file.
const BYTES_MAX: u64 = 1 << 20;

/// Returns the password for a database, if the file names one. Like libpq, it ignores a file that
/// others may read.
pub(super) fn password(
    config: &Config,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let path = variable("PGPASSFILE").map(PathBuf::from);
    let path = path.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")))?;
    let meta = std::fs::metadata(&path).ok()?;
    if meta.permissions().mode() & 0o077 != 0 || meta.len() > BYTES_MAX {
        return None;
    }
    find(&std::fs::read_to_string(path).ok()?, config)
}

fn find(text: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        // libpq writes `localhost` for its default socket.
        Host::Unix(path) if path.as_os_str() == "/var/run/postgresql" => "localhost".to_owned(),
        Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [&host, &port, config.get_dbname()?, config.get_user()?];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let fits = wanted.iter().zip(&fields).all(|(want, field)| field == "*" || field == want);
        (fields.len() == 5 && fits).then(|| fields[4].clone())
    })
}

/// Splits a line at colons. A backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => field.extend(characters.next()),
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        let config: Config = "postgres://ann@db.example:6432/news".parse().unwrap();
        let text = "# comment\nother:*:*:ann:no\n*:6432:news:ann:a\\:b\\\\c\n*:*:*:*:late";
        assert_eq!(find(text, &config).as_deref(), Some("a:b\\c"));
        let config: Config = "postgres://bob@db.example/news".parse().unwrap();
        assert_eq!(find(text, &config).as_deref(), Some("late"));
        assert_eq!(find("a:b:c", &config), None);
    }
}
