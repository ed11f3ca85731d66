//! The icon of a site: the addresses that a page declares, and a check of the bytes that came from
//! one. Fetches nothing and decodes no picture. SVG is refused, because it can hold scripts.

mod bytes;

use dom_query::Document;
use url::Url;

use crate::base::PageBase;
use crate::{decoding, guard};

pub use bytes::{BadIcon, CheckedIcon, ICON_BYTES_MAX, ICON_SIDE_MAX, IconType, check_icon};

/// An icon that a page declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredIcon {
    pub url: String,
    /// The side in pixels, if the page says so.
    pub side: Option<u32>,
}

/// Icons that are returned. A caller asks for at most three.
const ICONS_MAX: usize = 8;
/// The side that fits lists and sidebars on dense screens.
const SIDE_WANTED: u32 = 64;

/// Returns the icons that a page declares, best first. A page beyond the limits declares none.
pub fn declared_icons(html: &[u8], content_type: Option<&str>, url: &Url) -> Vec<DeclaredIcon> {
    let Ok(text) = decoding::decode(html, content_type) else { return Vec::new() };
    let Ok(document) = guard::tree(&text) else { return Vec::new() };
    icons_of(&document, &PageBase::of(&document, Some(url)))
}

/// Returns the icons of a tree, best first.
pub(crate) fn icons_of(document: &Document, base: &PageBase) -> Vec<DeclaredIcon> {
    let mut found: Vec<((u8, bool, u32), DeclaredIcon)> = Vec::new();
    for link in document.select("link[rel][href]").nodes().iter().take(200) {
        let rel = link.attr_or("rel", "").to_ascii_lowercase();
        let Some(rank) = rank(&rel) else { continue };
        let href = link.attr_or("href", "");
        let kind = link.attr_or("type", "").to_ascii_lowercase();
        let Some(url) = base.absolute(&href).filter(|url| !is_svg(url, &kind)) else { continue };
        let side = side(&link.attr_or("sizes", ""));
        // Icons for dark pages are often white.
        let is_dark = link.attr_or("media", "").contains("dark");
        let distance = side.map_or(SIDE_WANTED, |side| side.abs_diff(SIDE_WANTED));
        if !found.iter().any(|(_, icon)| icon.url == url) {
            found.push(((rank, is_dark, distance), DeclaredIcon { url, side }));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, icon)| icon).take(ICONS_MAX).collect()
}

/// Returns the order of a kind of link, or nothing if it is not an icon. Mask icons are SVG.
fn rank(rel: &str) -> Option<u8> {
    let mut words = rel.split_ascii_whitespace();
    if words.clone().any(|word| word == "icon") {
        return Some(0);
    }
    words.any(|word| word.starts_with("apple-touch-icon")).then_some(1)
}

fn is_svg(url: &str, kind: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    kind.contains("svg") || path.ends_with(".svg") || path.ends_with(".svgz")
}

/// Returns the side of `sizes` that is nearest to the wanted one.
fn side(sizes: &str) -> Option<u32> {
    let sides = sizes.split_ascii_whitespace().filter_map(|size| {
        let (width, _) = size.split_once(['x', 'X'])?;
        width.parse::<u32>().ok()
    });
    sides.min_by_key(|side| side.abs_diff(SIDE_WANTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_icons_come_best_first_and_without_svg() {
        let page = "<base href='/a/'><link rel='apple-touch-icon' sizes=180x180 href=touch.png>\
            <link rel=icon type=image/svg+xml href=i.svg><link rel='SHORTCUT ICON' href=/f.ico>\
            <link rel=icon sizes='16x16 32x32' href=small.png><link rel=icon sizes=512x512 \
            href=large.png><link rel=icon media='(prefers-color-scheme: dark)' sizes=64x64 \
            href=dark.png><link rel=mask-icon href=mask.svg><link rel=stylesheet href=x.css>\
            <link rel=icon href='javascript:x'><link rel=icon href='data:image/png;base64,AA'>\
            <link rel=icon href=/f.ico>";
        let url = Url::parse("https://e.org/page").unwrap();
        let icons = declared_icons(page.as_bytes(), None, &url);
        let urls: Vec<&str> = icons.iter().map(|icon| icon.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "https://e.org/a/small.png",
                "https://e.org/f.ico",
                "https://e.org/a/large.png",
                "https://e.org/a/dark.png",
                "https://e.org/a/touch.png",
            ]
        );
        assert_eq!(icons[0].side, Some(32));
    }

    #[test]
    fn a_hostile_page_declares_no_icon() {
        let url = Url::parse("https://e.org/").unwrap();
        let page = format!("<link rel=icon href=/a.png>{}", "<div>".repeat(100_000));
        assert_eq!(declared_icons(page.as_bytes(), None, &url), []);
    }
}
