//! Calls about the pages behind entries, and about icons.

use std::time::Duration;

use feed::{EntryKey, Time};
use store::{
    ArticleAttempt, ArticleFailure, ArticleRecord, ArticleText, ArticleTry, EntryFacts,
    EntryFilter, IconLook, IconRecord, IconRow, NewArticle, PostponedArticle, RobotsRow,
};

use super::step::{Act, Step};
use super::{Side, said};

pub fn take(side: &Side, step: &Step) -> Option<String> {
    let (store, feed, entry, now) = (&side.store, step.feed(), step.entry(), step.now());
    let later = now + Duration::from_secs(u64::from(step.n % 9000));
    Some(match step.act {
        Act::AskArticle => said(store.request_article(entry, now)),
        Act::AskNewArticles => {
            let wait = Duration::from_secs(u64::from(step.n % 90_000));
            side.wait(store.request_new_articles(now, wait, 1 + step.n % 20))
        }
        Act::AskEditedArticles => {
            let filter = EntryFilter { feed: Some(feed), limit: 500 };
            let entries = store.entries(feed::EntryId(0), &filter).unwrap_or_default();
            let keys: Vec<EntryKey> = entries.iter().map(|row| row.key).collect();
            side.wait(store.request_edited_articles(feed, keys, now))
        }
        Act::RecordArticle => {
            let content = match step.bit(6) {
                true => Ok(article(step)),
                false => Err(ArticleFailure { code: "blocked".to_owned(), detail: step.word() }),
            };
            let record = ArticleRecord {
                entry,
                fetched_at: now,
                url: step.url(step.n).as_str().to_owned(),
                extractor: format!("test {}", step.n % 2),
                content,
            };
            side.wait(store.record_article(record))
        }
        Act::KeepArticle => side.wait(store.keep_article(entry, now)),
        Act::FailArticle => side.wait(store.note_article_attempt(ArticleAttempt {
            entry,
            tries: step.n % 4,
            next_at: later,
            error: step.word(),
        })),
        Act::PassDeadlines => side.wait(store.pass_article_deadlines(now, 1 + step.n % 20)),
        Act::RetainArticles => said(store.retain_articles(Duration::from_secs(20 * 86_400), now)),
        Act::BeginArticle => side.wait(store.begin_article(ArticleTry {
            entry,
            tries: step.n % 4,
            at: now,
            next_at: later,
            counted_for: step.flag.then(|| format!("d{}.example", step.n % 3)),
        })),
        Act::PostponeArticles => side.wait(store.postpone_articles(postponed(step, later))),
        Act::PutRobots => side.wait(store.put_robots(RobotsRow {
            origin: format!("https://d{}.example", step.n % 3),
            fetched_at: now,
            expires_at: later,
            rules: step.word(),
        })),
        Act::NoteIconOrigins => {
            let origins = vec![(feed, origin(step)), (feed::FeedId(99), origin(step))];
            let origins = if step.bit(5) { origins } else { origins[..1].to_vec() };
            side.wait(store.note_icon_origins(origins, now))
        }
        Act::RecordIcon => {
            let record =
                IconRecord { origin: origin(step), found: icon(step), at: now, next_at: later };
            side.wait(store.record_icon(record))
        }
        Act::ForgetIcons => said(store.forget_icon_origins()),
        _ => return None,
    })
}

fn postponed(step: &Step, until: Time) -> Vec<PostponedArticle> {
    let page = |entry| PostponedArticle { entry, until, why: step.word() };
    step.entries().into_iter().map(page).collect()
}

fn article(step: &Step) -> NewArticle {
    let text = ArticleText {
        title: step.some_word().map(str::to_owned),
        language: step.flag.then(|| "de-AT".to_owned()),
        published: step.bit(7).then(|| step.now()),
        text: format!("Alpha {} {}", step.n % 9, step.word),
        html: format!("<p>{}</p>", step.word),
        n_words: u64::from(step.n % 99),
        noarchive: step.bit(8),
        ..ArticleText::default()
    };
    let facts = EntryFacts { topic: Some(3), ..EntryFacts::default() };
    NewArticle {
        text,
        page: step.bit(9).then(|| b"<html>\xff".to_vec()),
        facts: step.bit(10).then_some(facts),
        etag: step.bit(11).then(|| step.word.as_bytes().to_vec()),
        last_modified: None,
    }
}

fn origin(step: &Step) -> String {
    format!("https://d{}.example", step.n % 3)
}

fn icon(step: &Step) -> IconLook {
    match step.feed {
        0 => IconLook::Unchanged,
        1 => IconLook::Nothing { error: step.word() },
        n => IconLook::Found {
            icon: IconRow {
                hash: format!("00f{n}"),
                mime_type: "image/png".to_owned(),
                width: 16,
                height: 16,
                bytes: vec![0, 255, 10],
            },
            url: format!("{}/favicon.ico", origin(step)),
            etag: step.flag.then(|| vec![34, 0, 34]),
        },
    }
}
