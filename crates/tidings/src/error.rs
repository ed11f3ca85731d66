//! The errors of commands: exit status 1 if the command failed, 2 if the call or the input is
//! wrong.

use std::fmt;

#[derive(Debug)]
pub struct CliError {
    pub code: u8,
    message: String,
}

/// The call or the input is wrong: exit status 2.
pub fn input_error(message: String) -> CliError {
    CliError { code: 2, message }
}

/// The command failed: exit status 1.
pub fn failed(message: String) -> CliError {
    CliError { code: 1, message }
}

/// The command failed, and the reason was printed already.
pub fn failed_silently() -> CliError {
    CliError { code: 1, message: String::new() }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Any other error is a failure, with its whole chain of causes.
impl<E: Into<anyhow::Error>> From<E> for CliError {
    fn from(error: E) -> CliError {
        CliError { code: 1, message: format!("{:#}", error.into()) }
    }
}
