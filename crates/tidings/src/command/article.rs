//! `tidings article`: the main text of one page, as the extraction sees it. A page comes from a
//! file, or from its address by one request (plus redirects), with the gap between polls. The
//! command does not know when a running daemon sent requests to the same domain.

use std::path::Path;

use ::article::{ExtractedArticle, ExtractionRule, NoArticle};
use api::sanitise;
use engine::Errands;
use fetch::Fetcher;
use serde_json::{Value, json};
use url::Url;

use crate::args::page::PageArgs;
use crate::args::{InstanceArgs, NetworkArgs};
use crate::command::discover::fetched_page;
use crate::config;
use crate::error::{CliError, failed, input_error};
use crate::output::{self, one_line, print_json, print_line, shown_url, tamed};

/// The stack of the thread that extracts. Deep pages are refused; this is twice what the worst page
/// within the limits needs.
const STACK_BYTES: usize = 8 << 20;

/// A page and where it came from.
struct FetchedPage {
    /// The name for messages.
    name: String,
    bytes: Vec<u8>,
    content_type: Option<String>,
    url: Option<Url>,
}

pub async fn run(args: PageArgs) -> Result<(), CliError> {
    let page = page(&args).await?;
    let name = page.name.clone();
    let url = page.url.clone();
    let json = args.json;
    let article = extracted(page, args)?.map_err(|why| match why {
        NoArticle::BadSelector { .. } => input_error(why.to_string()),
        _ => failed(format!("{name}: {why}")),
    })?;
    // The extraction does not sanitise. Everything that leaves the program does.
    let html = sanitise::html(&article.html, url.as_ref(), url.as_ref().map(Url::as_str));
    if json {
        return print_json(&article_json(&article, &html));
    }
    print_human(&article)
}

async fn page(args: &PageArgs) -> Result<FetchedPage, CliError> {
    let base = args.url.as_deref().map(|text| {
        Url::parse(text).map_err(|error| input_error(format!("--url {text}: {error}")))
    });
    let base = base.transpose()?;
    let is_address = ["http://", "https://"].iter().any(|scheme| args.page.starts_with(scheme));
    if !is_address {
        let bytes = output::read_input(Path::new(&args.page))?;
        let content_type = args.content_type.clone();
        return Ok(FetchedPage { name: args.page.clone(), bytes, content_type, url: base });
    }
    let url = feed::FeedUrl::parse(&args.page).map_err(|error| input_error(error.to_string()))?;
    let place = InstanceArgs { data: None, database: None, config: args.config.clone() };
    let network = NetworkArgs { allow_private: args.allow_private, ..NetworkArgs::default() };
    let config = config::read(&place, &network)?;
    let errands = Errands::alone(Fetcher::new(config.fetch)?, config.engine.gaps);
    let name = url.masked();
    let fetched = fetched_page(&errands, url.url().clone()).await;
    let (address, bytes, content_type) = fetched.map_err(|why| failed(format!("{name}: {why}")))?;
    let content_type = args.content_type.clone().or(content_type);
    Ok(FetchedPage { name, bytes, content_type, url: base.or(Some(address)) })
}

/// Extracts on a thread of its own, with a known stack.
fn extracted(
    page: FetchedPage,
    args: PageArgs,
) -> Result<Result<ExtractedArticle, NoArticle>, CliError> {
    let work = move || {
        let remove = args.remove.as_deref();
        let rule = args.keep.as_deref().map(|keep| ExtractionRule { keep, remove });
        let content_type = page.content_type.as_deref();
        ::article::extract(&page.bytes, content_type, page.url.as_ref(), rule.as_ref())
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work)?;
    Ok(thread.join().unwrap_or(Err(NoArticle::Internal)))
}

/// The contract's shape. Absent values are null, never invented.
fn article_json(article: &ExtractedArticle, html: &str) -> Value {
    json!({
        "title": article.title,
        "byline": article.byline,
        "language": article.language.as_ref().map(|language| &language.tag),
        "direction": article.direction.map(::article::TextDirection::word),
        "published": article.published.map(|time| time.to_string()),
        "site": article.site,
        "excerpt": article.excerpt,
        "image": article.image,
        "text": article.text,
        "html": html,
    })
}

fn print_human(article: &ExtractedArticle) -> Result<(), CliError> {
    let facts = [
        article.title.clone(),
        article.byline.clone(),
        article.published.map(|time| time.to_string()),
        article.site.clone(),
        article.language.as_ref().map(|language| language.tag.clone()),
    ];
    for fact in facts.into_iter().flatten() {
        print_line(&one_line(&fact, 200))?;
    }
    if let Some(image) = &article.image {
        print_line(&shown_url(image))?;
    }
    print_line("")?;
    for line in article.text.lines() {
        print_line(&tamed(line))?;
    }
    Ok(())
}
