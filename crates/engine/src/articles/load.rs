//! Loads one page: asks for it, extracts and records. A page that fails is tried three times; then
//! the reason is stored.

use std::sync::Arc;
use std::time::Duration;

use article::{ExtractedArticle, NoArticle};
use feed::{ArticleMode, Domain, FeedId, Item};
use store::{
    ArticleAttempt, ArticleFailure, ArticleRecord, ArticleRequest, ArticleState, ArticleText,
    EntryRow, NewArticle, StoreError,
};

use super::asking::{ArrivedPage, AskedPage, PageTrouble, failure, fetch};
use super::extraction::{PageToExtract, extracted};
use super::known::{extractor, selector};
use crate::context::Context;
use crate::facts::{self, PageClaims};
use crate::page_work::{PageUnderWay, PageWait};

const TRIES_MAX: u32 = 3;
/// The wait after the first failure. Each further one is four times as long.
const RETRY_AFTER: Duration = Duration::from_secs(600);
/// A page that has not had its turn so long after it was wanted is not asked for any more.
const WAIT_MAX: Duration = Duration::from_secs(7 * 86_400);

/// How loading a page ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedArticle {
    There {
        n_words: u64,
    },
    /// There is no article, and why.
    Nothing {
        reason: String,
    },
    /// It is tried again later, or under way already.
    Later {
        reason: String,
    },
}

/// Loads a page that was due when its request was read. Somebody else may have loaded it since.
pub async fn load_due(context: &Context, request: &ArticleRequest) -> Result<(), StoreError> {
    let Some(under_way) = context.articles.begin(request.entry) else { return Ok(()) };
    let ArticleState::Waiting(waiting) = context.store.article_state(request.entry)? else {
        return Ok(());
    };
    if waiting.asked_at == request.asked_at && waiting.tries == request.tries {
        load(context, request, &under_way).await?;
    }
    Ok(())
}

/// Loads a page and records the result. Nobody else loads it meanwhile.
pub async fn load(
    context: &Context,
    request: &ArticleRequest,
    _: &PageUnderWay<'_>,
) -> Result<LoadedArticle, StoreError> {
    let Some(entry) = context.store.entry(request.entry)? else {
        return Ok(LoadedArticle::Nothing { reason: "the entry was deleted".to_owned() });
    };
    if request.tries >= TRIES_MAX {
        // Its last try was noted before it was sent, and its end never was.
        return give_up(context, &entry, "no end of the last try was recorded").await;
    }
    if !request.by_person && !is_wanted(context, entry.feed)? {
        let reason = "loading the pages of this feed was switched off before its turn came";
        return end(context, &entry, failure("switched-off", reason)).await;
    }
    let fetched = match facts::web_link(&item(&entry)) {
        Some(url) => {
            let domain = Domain::of(&url);
            let fetched = fetch(context, request, url).await?;
            match &fetched {
                Err(PageTrouble::Passing(_)) => {
                    context.articles.failed(domain, context.clock.now());
                }
                Err(PageTrouble::Wait(_)) => {}
                Ok(_) | Err(PageTrouble::Final(_)) => context.articles.answered(&domain),
            }
            fetched
        }
        None => Err(PageTrouble::Final(failure("no-link", "the entry has no link to a page"))),
    };
    match fetched {
        Ok(AskedPage::Arrived(page)) => keep(context, &entry, page).await,
        Ok(AskedPage::Unchanged { n_words }) => {
            if context.store.keep_article(entry.id, context.clock.now()).await? > 0 {
                context.deliveries.notify_one();
            }
            Ok(LoadedArticle::There { n_words })
        }
        Err(PageTrouble::Final(failure)) => end(context, &entry, failure).await,
        Err(PageTrouble::Passing(error)) => try_again(context, request, &entry, error).await,
        Err(PageTrouble::Wait(wait)) => postpone(context, request, &entry, wait).await,
    }
}

/// Returns whether pages of a feed are still fetched without being asked.
fn is_wanted(context: &Context, feed: FeedId) -> Result<bool, StoreError> {
    let mode = match context.store.poll_input(feed) {
        Ok(input) => facts::mode(&input.settings, &context.settings.articles),
        Err(StoreError::NoFeed(_)) => ArticleMode::Never,
        Err(error) => return Err(error),
    };
    Ok(mode == ArticleMode::Every)
}

/// Records why there is no article.
async fn end(
    context: &Context,
    entry: &EntryRow,
    failure: ArticleFailure,
) -> Result<LoadedArticle, StoreError> {
    let url = entry.link.clone().unwrap_or_default();
    let reason = failure.detail.clone();
    record(context, entry, url, Err(failure)).await?;
    Ok(LoadedArticle::Nothing { reason })
}

async fn give_up(
    context: &Context,
    entry: &EntryRow,
    error: &str,
) -> Result<LoadedArticle, StoreError> {
    let reason = format!("the page did not come in {TRIES_MAX} tries: {error}");
    end(context, entry, failure("unreachable", reason)).await
}

/// Waits without a try. The other pages of the same site wait as well.
async fn postpone(
    context: &Context,
    request: &ArticleRequest,
    entry: &EntryRow,
    wait: PageWait,
) -> Result<LoadedArticle, StoreError> {
    let why = wait.why.clone();
    if wait.at > request.asked_at + WAIT_MAX {
        let reason = format!("the page could not be asked for within a week: {why}");
        return end(context, entry, failure("waited", reason)).await;
    }
    let (entry, tries) = (request.entry, request.tries);
    let attempt = ArticleAttempt { entry, tries, next_at: wait.at, error: why.clone() };
    context.store.note_article_attempt(attempt).await?;
    context.articles.wait(wait, context.clock.now());
    Ok(LoadedArticle::Later { reason: why })
}

/// The parts of an entry that say something about its language and topic.
fn item(entry: &EntryRow) -> Item {
    Item {
        title: entry.title.clone(),
        link: entry.link.clone(),
        language: entry.language.clone(),
        categories: entry.categories.clone(),
        ..Item::default()
    }
}

async fn try_again(
    context: &Context,
    request: &ArticleRequest,
    entry: &EntryRow,
    error: String,
) -> Result<LoadedArticle, StoreError> {
    let tries = request.tries + 1;
    if tries >= TRIES_MAX {
        return give_up(context, entry, &error).await;
    }
    let next_at = context.clock.now() + RETRY_AFTER * 4_u32.pow(request.tries);
    let attempt = ArticleAttempt { entry: request.entry, tries, next_at, error: error.clone() };
    context.store.note_article_attempt(attempt).await?;
    Ok(LoadedArticle::Later { reason: error })
}

async fn keep(
    context: &Context,
    entry: &EntryRow,
    mut page: ArrivedPage,
) -> Result<LoadedArticle, StoreError> {
    // Given back when the article is recorded.
    let _room = page.room.take();
    let selector = selector(context, entry.feed)?;
    let has_rule = selector.is_some();
    let job = PageToExtract {
        bytes: Arc::clone(&page.bytes),
        content_type: page.content_type.clone(),
        url: page.url.clone(),
        selector,
    };
    let url = page.url.to_string();
    let article = match extracted(job).await {
        Ok(article) => article,
        Err(why) => {
            let reason = why.to_string();
            record(context, entry, url, Err(failure(code(&why), reason.clone()))).await?;
            return Ok(LoadedArticle::Nothing { reason });
        }
    };
    let n_words = n_words(&article.text);
    let own = own_words(entry);
    if n_words <= own && !has_rule {
        let reason = format!(
            "the page has {n_words} words and the feed {own}, so the feed's own text stays"
        );
        record(context, entry, url, Err(failure("shorter", reason.clone()))).await?;
        return Ok(LoadedArticle::Nothing { reason });
    }
    let new = new_article(context, entry, page, article, n_words);
    record(context, entry, url, Ok(new)).await?;
    Ok(LoadedArticle::There { n_words })
}

fn code(why: &NoArticle) -> &'static str {
    match why {
        NoArticle::NotHtml => "not-html",
        NoArticle::TooLarge { .. } => "too-large",
        NoArticle::TooDeep | NoArticle::TooManyElements | NoArticle::TooComplex => "too-deep",
        NoArticle::NoMainText => "not-readable",
        NoArticle::BadSelector { .. } | NoArticle::NothingSelected { .. } => "selector",
        NoArticle::Internal => "internal",
    }
}

/// Counts words; in scripts without spaces, two characters count as one.
pub(super) fn n_words(text: &str) -> u64 {
    let is_sign = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    let signs = text.chars().filter(|c| is_sign(*c)).count() as u64;
    text.split_whitespace().count() as u64 + signs / 2
}

/// Returns the number of words of the feed's longer text.
fn own_words(entry: &EntryRow) -> u64 {
    let count = |markup: &String| {
        let mut text = String::new();
        facts::push_text(&mut text, markup, usize::MAX);
        n_words(&text)
    };
    [&entry.summary, &entry.content].into_iter().flatten().map(count).max().unwrap_or(0)
}

fn new_article(
    context: &Context,
    entry: &EntryRow,
    page: ArrivedPage,
    article: ExtractedArticle,
    n_words: u64,
) -> NewArticle {
    let settings = &context.settings.articles;
    let claims = PageClaims {
        language: article.declared_language.as_deref(),
        section: article.section.as_deref(),
        text: &article.text,
    };
    let facts = facts::with_page(&item(entry), &entry.facts, claims, settings);
    let embeds = article.embeds.iter().map(|embed| {
        serde_json::json!({
            "site": embed.site, "kind": embed.kind.word(), "link": embed.link,
            "player": embed.player, "still": embed.still,
        })
    });
    let embeds: Vec<_> = embeds.collect();
    let embeds = (!embeds.is_empty()).then(|| serde_json::Value::from(embeds).to_string());
    let feed::Validators { etag, last_modified } = page.validators;
    NewArticle {
        text: ArticleText {
            title: article.title,
            byline: article.byline,
            site: article.site,
            excerpt: article.excerpt,
            image: article.image,
            section: article.section,
            canonical: article.canonical,
            language: article.language.map(|language| language.tag),
            direction: article.direction.map(|direction| direction.word().to_owned()),
            published: article.published,
            text: article.text,
            html: article.html,
            embeds,
            n_words,
            noarchive: page.noarchive || article.noarchive,
        },
        page: settings.keep_html.then(|| {
            article::self_contained(&page.bytes, page.content_type.as_deref()).into_owned()
        }),
        facts: Some(facts),
        etag,
        last_modified,
    }
}

async fn record(
    context: &Context,
    entry: &EntryRow,
    url: String,
    content: Result<NewArticle, ArticleFailure>,
) -> Result<(), StoreError> {
    let record = ArticleRecord {
        entry: entry.id,
        fetched_at: context.clock.now(),
        url,
        extractor: extractor(selector(context, entry.feed)?.as_deref()),
        content,
    };
    if context.store.record_article(record).await? > 0 {
        context.deliveries.notify_one();
    }
    Ok(())
}
