//! Parses the sources of a query: addresses, other queries, tags and all feeds, separated by `|`.

use feed::FeedUrl;

use super::cursor::{A_NAME, TokenCursor};
use crate::Fault;
use crate::language::ast::QuerySource;
use crate::language::lexer::Token;
use crate::language::suggest::is_keyword;
use crate::limits::SOURCES_MAX;

pub(super) fn sources(cursor: &mut TokenCursor<'_>) -> Result<Vec<QuerySource>, Fault> {
    let mut sources = Vec::new();
    loop {
        if sources.len() == SOURCES_MAX {
            let message = format!("a query reads at most {SOURCES_MAX} sources");
            return Err(cursor.fault(message).help("give the feeds a tag and read TAG \"…\""));
        }
        sources.push(source(cursor)?);
        if !cursor.accept_sign("|") {
            return Ok(sources);
        }
    }
}

fn source(cursor: &mut TokenCursor<'_>) -> Result<QuerySource, Fault> {
    let at = cursor.position();
    if let Token::Text(text) = cursor.token() {
        let url = FeedUrl::parse(text).map_err(|error| Fault::new(at, error.to_string()))?;
        cursor.advance();
        return Ok(QuerySource::Url(url));
    }
    if cursor.accept("FEED") {
        if let Token::Text(_) = cursor.token() {
            return Err(cursor.expected(&[A_NAME]).help("write an address without FEED"));
        }
        return cursor.name().map(QuerySource::Feed);
    }
    if cursor.accept("TAG") {
        let at = cursor.position();
        let tag = cursor.text()?;
        if tag.trim().is_empty() {
            return Err(Fault::new(at, "a tag needs a name").help("ALL FEEDS reads everything"));
        }
        return Ok(QuerySource::Tag(tag));
    }
    if cursor.accept("ALL") {
        cursor.expect("FEEDS")?;
        return Ok(QuerySource::AllFeeds);
    }
    let fault = cursor.expected(&["a URL in quotes", "FEED", "TAG", "ALL FEEDS"]);
    Err(match cursor.token() {
        Token::Word(word) if fault.help.is_none() && !is_keyword(word) => {
            let scheme = ["http", "https", "feed"].iter().any(|s| word.eq_ignore_ascii_case(s));
            let help = if scheme {
                "put the URL between `\"` and `\"`".to_owned()
            } else {
                format!("to read another query, write FEED {word}")
            };
            fault.help(help)
        }
        _ => fault,
    })
}
