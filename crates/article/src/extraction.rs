//! From the bytes of a page to its article: decode, build the tree within limits, read the facts,
//! find the main text, clean it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_query::{Document, Matcher, NodeRef};
use dom_smoothie::{Config, Metadata, Readability, ReadabilityError};
use url::Url;

use crate::base::PageBase;
use crate::icon::{self, DeclaredIcon};
use crate::language::{self, LanguageClaims};
use crate::metadata::PageFacts;
use crate::{
    ExtractedArticle, NoArticle, TextDirection, cleaning, decoding, embed, guard, metadata, places,
    text,
};

/// A rule of the operator for a stubborn site: the place of its main text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionRule<'a> {
    /// A CSS selector for the elements that hold the text.
    pub keep: &'a str,
    /// A CSS selector for elements inside of them that do not belong to it.
    pub remove: Option<&'a str>,
}

/// Bytes of a selector. Longer ones are mistakes; the parser of selectors works by recursion.
const SELECTOR_BYTES_MAX: usize = 300;
/// Elements that a rule may select. A page of comments has hundreds.
const SELECTED_MAX: usize = 1000;
/// Bytes of a title, byline and the like. The longest real title in our test pages has 180.
const FACT_BYTES_MAX: usize = 2000;

/// Returns the article of a page. `content_type` is the HTTP header, `url` the address that the
/// page came from: the base of its links. A rule replaces the search for the main text.
///
/// Run it on a thread with at least 2 MB of stack that may work for some seconds: the worst page
/// within the limits takes seconds.
pub fn extract(
    bytes: &[u8],
    content_type: Option<&str>,
    url: Option<&Url>,
    rule: Option<&ExtractionRule<'_>>,
) -> Result<ExtractedArticle, NoArticle> {
    // A fault of a library costs one article and not the process.
    catch_unwind(AssertUnwindSafe(|| extracted(bytes, content_type, url, rule)))
        .unwrap_or(Err(NoArticle::Internal))
}

fn extracted(
    bytes: &[u8],
    content_type: Option<&str>,
    url: Option<&Url>,
    rule: Option<&ExtractionRule<'_>>,
) -> Result<ExtractedArticle, NoArticle> {
    let page = decoding::decode(bytes, content_type)?;
    if !has_tag(&page) {
        return Err(NoArticle::NotHtml);
    }
    let document = guard::tree(&page)?;
    let base = PageBase::of(&document, url);
    let facts = metadata::read(&document, &base);
    let icons = icon::icons_of(&document, &base);
    embed::mark(&document.root());
    let page = PageParts { base, facts, icons };
    match rule {
        Some(rule) => by_rule(document, url, page, rule),
        None => by_score(document, url, page),
    }
}

/// Parts of the whole page, read before the main text is cut out.
struct PageParts {
    base: PageBase,
    facts: PageFacts,
    icons: Vec<DeclaredIcon>,
}

/// Finds the main text by the rules of Mozilla's Readability.
fn by_score(
    document: Document,
    url: Option<&Url>,
    parts: PageParts,
) -> Result<ExtractedArticle, NoArticle> {
    unname_headings(&document);
    places::hide_section_ids(&document.root());
    places::note(&document);
    let mut page = readability(document, url)?;
    let mut found = page.parse().map_err(|_| NoArticle::NoMainText)?;
    let declared = Metadata {
        title: std::mem::take(&mut found.title),
        byline: found.byline.take(),
        excerpt: found.excerpt.take(),
        site_name: found.site_name.take(),
        published_time: found.published_time.take(),
        image: found.image.take(),
        lang: found.lang.take(),
        dir: found.dir.take(),
        ..Metadata::default()
    };
    drop(found);
    let selected = page.doc.select_single("#readability-page-1");
    let root = selected.nodes().first().ok_or(NoArticle::NoMainText)?;
    article(root, declared, parts)
}

/// Removes classes such as `subheader` from headings inside the text. The library takes their
/// bearers for the header of the page.
fn unname_headings(document: &Document) {
    for heading in document.select("h2[class], h3[class], h4[class]").nodes() {
        if heading.class().is_some_and(|class| class.to_ascii_lowercase().contains("head")) {
            heading.remove_attr("class");
        }
    }
}

/// Takes the elements that a rule selects, in the order of the page.
fn by_rule(
    document: Document,
    url: Option<&Url>,
    parts: PageParts,
    rule: &ExtractionRule<'_>,
) -> Result<ExtractedArticle, NoArticle> {
    let keep = matcher(rule.keep)?;
    let remove = rule.remove.map(matcher).transpose()?;
    let page = readability(document, url)?;
    let declared = page.get_article_metadata(page.parse_json_ld());
    let selected = page.doc.select_matcher(&keep);
    let is_kept = |node: &&NodeRef<'_>| !node.ancestors_it(None).any(|a| a.is_match(&keep));
    let nodes: Vec<NodeRef<'_>> =
        selected.nodes().iter().filter(is_kept).take(SELECTED_MAX).copied().collect();
    let Some(first) = nodes.first() else {
        return Err(NoArticle::NothingSelected { selector: rule.keep.to_owned() });
    };
    let root = first.tree.new_element("div");
    for node in &nodes {
        if let Some(remove) = &remove {
            dom_query::Selection::from(*node).select_matcher(remove).remove();
        }
        root.append_child(node);
    }
    cleaning::make_absolute(&root, &parts.base);
    places::hide_section_ids(&root);
    article(&root, declared, parts)
}

fn readability(document: Document, url: Option<&Url>) -> Result<Readability, NoArticle> {
    // Names of classes tell newsletters from text later; the sanitiser removes them.
    let config = Config { keep_classes: true, ..Config::default() };
    let url = url.filter(|url| url.has_host()).map(Url::as_str);
    Readability::with_document(document, url, Some(config)).map_err(|error| match error {
        ReadabilityError::TooManyElements(..) => NoArticle::TooManyElements,
        _ => NoArticle::Internal,
    })
}

fn matcher(selector: &str) -> Result<Matcher, NoArticle> {
    let bad = || NoArticle::BadSelector { selector: selector.chars().take(100).collect() };
    if selector.len() > SELECTOR_BYTES_MAX {
        return Err(bad());
    }
    Matcher::new(selector).map_err(|_| bad())
}

/// Cleans the main text and puts it together with the facts.
fn article(
    root: &NodeRef<'_>,
    declared: Metadata,
    parts: PageParts,
) -> Result<ExtractedArticle, NoArticle> {
    let PageParts { base, facts, icons } = parts;
    let title = fact(Some(declared.title));
    let byline = fact(declared.byline).or(facts.byline);
    cleaning::clean(root, title.as_deref(), byline.as_deref());
    let text = text::lines(root, &cleaning::captions(root));
    if text.is_empty() {
        return Err(NoArticle::NoMainText);
    }
    let embeds = embed::replace(root);
    places::restore(root);
    let declared_language = fact(declared.lang);
    let claims = LanguageClaims {
        declared: declared_language.as_deref(),
        detected: language::detect(&text),
        ..LanguageClaims::default()
    };
    let published = declared.published_time.as_deref().and_then(metadata::time);
    let image = declared.image.and_then(|image| base.absolute(&image));
    Ok(ExtractedArticle {
        title,
        byline,
        site: fact(declared.site_name),
        excerpt: fact(declared.excerpt),
        published: published.or(facts.published),
        image: image.or(facts.image),
        canonical: facts.canonical,
        section: facts.section,
        language: language::decide(&claims),
        declared_language,
        direction: declared.dir.as_deref().and_then(direction),
        noarchive: facts.noarchive,
        icons,
        embeds,
        text,
        html: root.inner_html().to_string(),
    })
}

/// Returns a text of the page in one line and within limits, or nothing if it is empty.
fn fact(text: Option<String>) -> Option<String> {
    let mut text = text::one_line(&text?);
    text.truncate(text.floor_char_boundary(FACT_BYTES_MAX));
    (!text.is_empty()).then_some(text)
}

fn direction(word: &str) -> Option<TextDirection> {
    match word.trim().to_ascii_lowercase().as_str() {
        "ltr" => Some(TextDirection::LeftToRight),
        "rtl" => Some(TextDirection::RightToLeft),
        _ => None,
    }
}

/// Whether a text has a tag at all.
fn has_tag(page: &str) -> bool {
    page.as_bytes().windows(2).any(|pair| pair[0] == b'<' && pair[1].is_ascii_alphabetic())
}
