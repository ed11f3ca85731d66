//! The password file of PostgreSQL (`~/.pgpass`): lines of host, port, database, user and password.

use std::path::PathBuf;

use tokio_postgres::Config;

use super::address::{host_name, is_default_socket};

/// A longer file is not a password file.
const BYTES_MAX: u64 = 1 << 20;

/// The text of the password file; empty without one.
pub(super) struct PasswordFile(String);

impl PasswordFile {
    /// Reads the file. Like libpq, it ignores one that others may read.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> PasswordFile {
        PasswordFile(text(variable).unwrap_or_default())
    }

    /// Returns the password for a connection, if the file names one.
    pub fn password(&self, host: &Config) -> Option<String> {
        // libpq writes `localhost` for its default socket.
        let name = if is_default_socket(host) { "localhost".to_owned() } else { host_name(host) };
        let port = host.get_ports().first().copied().unwrap_or(5432).to_string();
        let wanted = [&name, &port, host.get_dbname()?, host.get_user()?];
        self.0.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let fields = fields(line);
            let fits =
                wanted.iter().zip(&fields).all(|(want, field)| field == "*" || field == want);
            (fields.len() == 5 && fits).then(|| fields[4].clone())
        })
    }
}

fn text(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let path = variable("PGPASSFILE").map(PathBuf::from);
    let path = path.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")))?;
    let meta = std::fs::metadata(&path).ok()?;
    if meta.permissions().mode() & 0o077 != 0 || meta.len() > BYTES_MAX {
        return None;
    }
    std::fs::read_to_string(path).ok()
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
        let find = |text: &str, config: &Config| PasswordFile(text.to_owned()).password(config);
        assert_eq!(find(text, &config).as_deref(), Some("a:b\\c"));
        let config: Config = "postgres://bob@db.example/news".parse().unwrap();
        assert_eq!(find(text, &config).as_deref(), Some("late"));
        assert_eq!(find("a:b:c", &config), None);
        let config: Config = "postgres://bob@/news?hostaddr=192.0.2.7".parse().unwrap();
        assert_eq!(find("192.0.2.7:*:*:bob:own", &config).as_deref(), Some("own"));
    }
}
