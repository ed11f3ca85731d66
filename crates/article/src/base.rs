//! The base of the links of a page.

use dom_query::Document;
use url::Url;

/// Bytes of an address, as browsers limit it.
const ADDRESS_BYTES_MAX: usize = 2048;

/// The base of the links of a page.
#[derive(Clone, Debug, Default)]
pub struct PageBase(Option<Url>);

impl PageBase {
    /// Returns the address that a page's `<base>` gives, else its own.
    pub fn of(document: &Document, url: Option<&Url>) -> PageBase {
        let href = document.select_single("base[href]").attr("href");
        let based = href.and_then(|href| match url {
            Some(url) => url.join(href.trim()).ok(),
            None => Url::parse(href.trim()).ok(),
        });
        PageBase(based.filter(Url::has_host).or_else(|| url.cloned()))
    }

    /// Returns the absolute form of an address, if it is one of the web.
    pub fn absolute(&self, address: &str) -> Option<String> {
        let address = address.trim();
        if address.is_empty() || address.len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let url = match &self.0 {
            Some(base) => base.join(address).ok()?,
            None => Url::parse(address).ok()?,
        };
        matches!(url.scheme(), "http" | "https").then(|| url.to_string())
    }
}
