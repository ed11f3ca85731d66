//! Digests by e-mail: the matches since the last digest, at its hour, as plain text. Without new
//! matches no mail is sent. The Message-ID names query and positions, so that a repeat can be
//! recognised.

use std::fmt::Write as _;
use std::time::Duration;

use feed::Time;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use store::{QueryEntry, StoreError};

use super::DeliveryTask;
use crate::settings::{Mail, MailSecurity};

/// Matches in one mail; the next mail brings the others.
const MATCHES_MAX: u32 = 500;
/// The wait for an answer of the mail server.
const TIMEOUT: Duration = Duration::from_secs(60);
const DAY: i64 = 86_400;
/// From the first day of 1970, a Thursday, to the first Monday.
const TO_MONDAY: i64 = 4 * DAY;

impl DeliveryTask<'_> {
    pub(super) async fn digest(
        &self,
        to: &str,
        every: Duration,
        at_minute: Option<u16>,
    ) -> Result<(), StoreError> {
        let now = self.context.clock.now();
        let next = next_after(now, every, at_minute);
        if self.due.next_at.is_none() {
            // The first match: the digest is sent at its hour.
            return self.store().postpone_delivery(self.due.id, 0, next, None).await;
        }
        let Some(mail) = &self.context.settings.delivery.mail else {
            return self.retry("no mail server is configured any more".to_owned()).await;
        };
        let found = self.matches(self.due.position, MATCHES_MAX).await?;
        let Some(last) = found.last().map(|found| found.position) else { return Ok(()) };
        match send(mail, to, &self.query.name, self.query.id.0, &found).await {
            Ok(()) => {
                let (id, from) = (self.due.id, self.due.position);
                let full = store::is_full(found.iter().map(|one| &one.entry), MATCHES_MAX);
                let next = if full { now } else { next };
                self.store().delivered(id, from, last, Some(next), now).await
            }
            Err(why) => self.retry(why).await,
        }
    }
}

/// Returns the next hour at which a digest is sent: aligned to midnight UTC, weeks to Monday.
fn next_after(now: Time, every: Duration, at_minute: Option<u16>) -> Time {
    let every = i64::try_from(every.as_secs()).unwrap_or(DAY).max(1);
    let weekly = if every % (7 * DAY) == 0 { TO_MONDAY } else { 0 };
    let offset = weekly + i64::from(at_minute.unwrap_or(0)) * 60;
    let periods = (now.secs() - offset).div_euclid(every) + 1;
    Time::from_secs(offset + periods * every)
}

async fn send(
    mail: &Mail,
    to: &str,
    name: &str,
    query: u32,
    found: &[QueryEntry],
) -> Result<(), String> {
    let positions = found.iter().map(|found| found.position);
    let (first, last) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
    let host = mail.from.rsplit_once('@').map_or("tidings", |(_, host)| host.trim_end_matches('>'));
    let message = Message::builder()
        .from(mail.from.parse().map_err(|e| format!("[mail] from: {e}"))?)
        .to(to.parse().map_err(|e| format!("{to}: {e}"))?)
        .subject(format!("{name}: {} new", found.len()))
        .message_id(Some(format!("<tidings.q{query}.{first}-{last}@{host}>")))
        .header(ContentType::TEXT_PLAIN)
        .body(text(found))
        .map_err(|e| e.to_string())?;
    transport(mail)?.send(message).await.map(|_| ()).map_err(|e| format!("the mail server: {e}"))
}

fn transport(mail: &Mail) -> Result<AsyncSmtpTransport<Tokio1Executor>, String> {
    let parameters = || TlsParameters::new(mail.server.clone()).map_err(|e| e.to_string());
    let tls = match mail.security {
        MailSecurity::Tls => Tls::Wrapper(parameters()?),
        MailSecurity::StartTls => Tls::Required(parameters()?),
        MailSecurity::None => Tls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&mail.server)
        .port(mail.port)
        .tls(tls)
        .timeout(Some(TIMEOUT));
    if let (Some(user), Some(password)) = (&mail.user, &mail.password) {
        builder = builder.credentials(Credentials::new(user.clone(), password.clone()));
    }
    Ok(builder.build())
}

/// Titles and links, oldest first.
fn text(found: &[QueryEntry]) -> String {
    let mut text = String::new();
    for QueryEntry { entry, .. } in found {
        let title = entry.title.as_deref().unwrap_or("(without a title)");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", one_line(title));
        if let Some(author) = &entry.author {
            let _ = writeln!(text, "  {}", one_line(author));
        }
        let _ = writeln!(text, "  {}", entry.published_at);
        let _ = writeln!(text, "  {}\n", one_line(entry.link.as_deref().unwrap_or("")));
    }
    text
}

fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 300;
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_come_at_their_hour() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let next = |now: &str, hours: u64, minute| {
            let every = Duration::from_secs(hours * 3600);
            next_after(at(now), every, minute).to_string()
        };
        let daily = next("2011-07-16T07:00:00Z", 24, Some(450));
        assert_eq!(daily, "2011-07-16T07:30:00Z");
        let tomorrow = next("2011-07-16T07:30:00Z", 24, Some(450));
        assert_eq!(tomorrow, "2011-07-17T07:30:00Z");
        assert_eq!(next("2011-07-16T07:30:00Z", 6, None), "2011-07-16T12:00:00Z");
        // 2011-07-16 was a Saturday.
        assert_eq!(next("2011-07-16T07:30:00Z", 168, None), "2011-07-18T00:00:00Z");
    }
}
