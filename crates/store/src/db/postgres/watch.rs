//! The wait for an answer of a server that may hang. A long statement and a stopped server look the
//! same on a connection. So after a while this asks on another connection: a server that answers
//! there works on the statement, and the wait goes on.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::{PgAddress, PgConnection, connect, reach, runtime};
use crate::ErrorKind;
use crate::db::sql::{Result, SqlError};

/// Most answers come within milliseconds.
const ASK_AFTER: Duration = Duration::from_secs(5);
impl PgConnection {
    /// Waits for the server. Gives the connection up if the server hangs.
    pub(super) fn wait<T>(&self, answer: impl Future<Output = T>) -> Result<T> {
        let Some(address) = &self.watched else { return Ok(runtime::wait(answer)) };
        wait_for(address, answer).ok_or_else(|| {
            self.driver.give_up();
            hangs()
        })
    }

    /// Returns the error of a server that hangs, if the connection was given up for that.
    pub fn gave_up(&self) -> Option<SqlError> {
        self.driver.gave_up.load(Ordering::Relaxed).then(hangs)
    }
}

fn hangs() -> SqlError {
    let text = format!("no answer for {} s", (ASK_AFTER + reach::LAST_HOST_LIMIT).as_secs());
    SqlError::of_kind(ErrorKind::Unreachable, text)
}

/// Waits for an answer as long as the server answers others; `None` if it does not.
fn wait_for<T>(address: &PgAddress, answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    loop {
        if let Some(answer) = runtime::wait_at_most(ASK_AFTER, answer.as_mut()) {
            return Some(answer);
        }
        let address = address.clone();
        let asked = runtime::spawn(async move {
            let opened = connect::connect(&address).await;
            opened.map_or_else(|error| error.is_answer(), |_| true)
        })?;
        match runtime::wait(select(answer.as_mut(), asked)) {
            Either::Left((answer, _)) => return Some(answer),
            Either::Right((Ok(true), _)) => {}
            Either::Right(_) => return None,
        }
    }
}
