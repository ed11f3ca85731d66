//! Finds the web addresses that the text of an item links to.

use crate::attribute::Attributes;
use crate::namespace::lower;
use crate::scan::{MarkupToken, Scanner};
use crate::warning::Warnings;

/// Returns the web addresses of the links in a text, each once and in their order, at most
/// `n_max`. Relative addresses are left out: the parser has made those of items absolute.
pub fn text_links(html: &str, n_max: usize) -> Vec<String> {
    let (mut scanner, mut unheard) = (Scanner::new(html, 0), Warnings::default());
    let mut found: Vec<String> = Vec::new();
    while let Some(token) = scanner.next(&mut unheard) {
        let MarkupToken::Start { name, attrs, .. } = token else { continue };
        if found.len() >= n_max {
            break;
        }
        if lower(name) != "a" {
            continue;
        }
        let href = Attributes::new(attrs).text("href").unwrap_or_default();
        let href = href.trim();
        let is_web = href.starts_with("http://") || href.starts_with("https://");
        if is_web && !found.iter().any(|known| known == href) {
            found.push(href.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_once_and_in_order() {
        let html = "<p>See <a href='https://a.org/1'>one</a>, <A HREF=\"http://b.org/?x&amp;y\">two\
                    </A>, <a href=/3>three</a>, <a name=x>, <a href='https://a.org/1'>again</a> \
                    <a href='javascript:x'> <a title='https://c.org/";
        assert_eq!(text_links(html, 9), ["https://a.org/1", "http://b.org/?x&y"]);
        assert_eq!(text_links(html, 1).len(), 1);
    }
}
