//! How a command ends that did not succeed: with 1 it failed, with 2 the call or input was wrong.

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

/// It failed: exit status 1.
pub fn failed(message: String) -> CliError {
    CliError { code: 1, message }
}

/// It failed, and everything has been said already.
pub fn failed_silently() -> CliError {
    CliError { code: 1, message: String::new() }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Anything else that goes wrong is a failure with its whole chain of causes.
impl<E: Into<anyhow::Error>> From<E> for CliError {
    fn from(error: E) -> CliError {
        CliError { code: 1, message: format!("{:#}", error.into()) }
    }
}
