//! The reasons why a page yields no article, in words for people.

use crate::limits::{DEPTH_MAX, ELEMENTS_MAX, PAGE_BYTES_MAX};

/// The reason why a page yields no article.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArticle {
    #[error("this is not an HTML page")]
    NotHtml,
    #[error("the page is too large ({n_bytes} bytes; the limit is {PAGE_BYTES_MAX})")]
    TooLarge { n_bytes: usize },
    #[error("the page nests its elements too deeply (the limit is {})", DEPTH_MAX)]
    TooDeep,
    #[error("the page has too many elements (the limit is {})", ELEMENTS_MAX)]
    TooManyElements,
    #[error("the markup of the page is too costly to read")]
    TooComplex,
    #[error("the page has no main text")]
    NoMainText,
    #[error("`{selector}` is not a CSS selector that this program supports")]
    BadSelector { selector: String },
    #[error("nothing on the page matches the selector `{selector}`")]
    NothingSelected { selector: String },
    #[error("internal error while reading the page; please report it")]
    Internal,
}
