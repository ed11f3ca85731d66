//! HTML of an entry for our own page. Pictures come through the proxy, and notes inside the text
//! work. Code and tables scroll inside. Players of other sites are links to our own player.

use std::collections::HashSet;

use article::embed::{Embed, recognise};
use url::Url;

use super::{AnchorRule, attributes, bounded_html, players, tag_len, unescaped};
use crate::Images;

/// The place of a text on our page.
pub struct PageTextContext<'a> {
    /// The base of relative links.
    pub base: Option<&'a Url>,
    /// The address of the whole text, if it has to be cut.
    pub original: Option<&'a str>,
    /// Without a proxy the page shows the descriptions of pictures.
    pub images: Option<&'a Images>,
    /// The prefix of the names of places in the text. Several texts may be open on one page.
    pub prefix: &'a str,
    /// The address of our player. The number of the player is appended. `None`: links stay.
    pub play: Option<&'a str>,
}

/// A text that is safe on our own page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageText {
    pub html: String,
    /// The addresses of its pictures.
    pub pictures: Vec<String>,
    /// The players of other sites in it.
    pub embeds: Vec<Embed>,
}

/// Returns a publisher's HTML for our own page. A reader's browser makes no request to other sites.
pub fn page_text(dirty: &str, context: &PageTextContext<'_>) -> PageText {
    let dirty = players::with_links(dirty);
    let clean = bounded_html(&dirty, context.base, context.original, AnchorRule::Keep);
    let mut writer = PageWriter { context, names: names(&clean), shown: PageText::default() };
    let mut rest = clean.as_str();
    while let Some(open) = rest.find('<') {
        let end = open + tag_len(&rest[open..]);
        writer.shown.html.push_str(&rest[..open]);
        writer.tag(&rest[open..end], &rest[end..]);
        rest = &rest[end..];
    }
    writer.shown.html.push_str(rest);
    writer.shown
}

struct PageWriter<'a> {
    context: &'a PageTextContext<'a>,
    /// The names of places in the text.
    names: HashSet<String>,
    shown: PageText,
}

impl PageWriter<'_> {
    /// Writes a tag. `after` is the text behind it.
    fn tag(&mut self, tag: &str, after: &str) {
        let inside = tag.trim_start_matches('<').trim_end_matches('>');
        let (name, sent) = inside.split_once(' ').unwrap_or((inside, ""));
        match name {
            "img" => self.picture(sent),
            "a" => self.link(sent, after),
            // People without a mouse scroll what has the focus.
            "pre" => self.open("<pre tabindex=\"0\"", sent),
            "table" => {
                self.shown.html.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\">");
                self.open("<table", sent);
            }
            "/table" => self.shown.html.push_str("</table></div>"),
            _ if sent.is_empty() => self.shown.html.push_str(tag),
            _ => self.open(&format!("<{name}"), sent),
        }
    }

    /// Writes a tag with its attributes, as they are written.
    fn open(&mut self, start: &str, sent: &str) {
        self.second_place(sent);
        self.shown.html.push_str(start);
        for (name, value) in kept_attributes(sent) {
            self.attribute(name, value);
        }
        self.shown.html.push('>');
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let html = &mut self.shown.html;
        match name {
            "id" | "name" => {
                html.push_str(&format!(" id=\"{}{value}\"", self.context.prefix));
            }
            // The ids of the header cells.
            "headers" => {
                let ids = value.split_whitespace();
                let ids: Vec<_> = ids.map(|id| format!("{}{id}", self.context.prefix)).collect();
                html.push_str(&format!(" headers=\"{}\"", ids.join(" ")));
            }
            _ => html.push_str(&format!(" {name}=\"{value}\"")),
        }
    }

    /// Marks the second place of an anchor that has both an id and a name. An element has one id.
    fn second_place(&mut self, sent: &str) {
        let value = |of: &str| attributes(sent).find(|(name, _)| *name == of).map(|(_, v)| v);
        if let Some((id, name)) = value("id").zip(value("name"))
            && id != name
        {
            let prefix = self.context.prefix;
            self.shown.html.push_str(&format!("<span id=\"{prefix}{name}\"></span>"));
        }
    }

    /// Writes a picture with the address of the proxy. Browsers load it when the reader scrolls to
    /// it.
    fn picture(&mut self, sent: &str) {
        self.shown.html.push_str("<img loading=\"lazy\"");
        for (name, value) in attributes(sent) {
            if name != "src" {
                self.attribute(name, value);
                continue;
            }
            let address = unescaped(value);
            if let Some(proxied) = self.context.images.and_then(|images| images.address(&address)) {
                let proxied = proxied.replace('&', "&amp;");
                self.shown.html.push_str(&format!(" src=\"{proxied}\""));
            }
            self.shown.pictures.push(address);
        }
        self.shown.html.push('>');
    }

    fn link(&mut self, sent: &str, after: &str) {
        let href = attributes(sent).find(|(name, _)| *name == "href").map(|(_, v)| unescaped(v));
        let Some(href) = href else { return self.open("<a", sent) };
        if let Some(place) = self.place(&href) {
            self.second_place(sent);
            self.shown.html.push_str(&format!("<a href=\"#{}{place}\"", self.context.prefix));
        } else if let Some(number) = self.player(&href, after) {
            let play = self.context.play.unwrap_or_default().replace('&', "&amp;");
            self.second_place(sent);
            self.shown.html.push_str(&format!("<a class=\"embed\" href=\"{play}{number}\""));
        } else {
            return self.open("<a", sent);
        }
        let kept = kept_attributes(sent).filter(|(name, _)| !matches!(*name, "href" | "rel"));
        for (name, value) in kept {
            self.attribute(name, value);
        }
        self.shown.html.push('>');
    }

    /// Returns the place in this text that a link leads to, as it is written in an attribute.
    fn place(&self, href: &str) -> Option<String> {
        let (page, place) = href.split_once('#')?;
        let is_here = page.is_empty() || self.context.base.is_some_and(|base| is_same(page, base));
        let written = [place.to_owned(), decoded(place)].into_iter();
        let mut written = written.map(|place| ammonia_attribute(&place));
        written.find(|place| is_here && self.names.contains(place))
    }

    /// Returns the number of the player that a link with a still stands for.
    fn player(&mut self, href: &str, after: &str) -> Option<usize> {
        self.context.play?;
        let embed = recognise(href).filter(|embed| embed.player.is_some())?;
        let is_still = after.starts_with("<img ") || after.starts_with(&players::words(&embed));
        if !is_still {
            return None;
        }
        let embeds = &mut self.shown.embeds;
        Some(embeds.iter().position(|known| *known == embed).unwrap_or_else(|| {
            embeds.push(embed);
            embeds.len() - 1
        }))
    }
}

/// Returns the attributes of a tag, without the name of an anchor that has an id.
fn kept_attributes(sent: &str) -> impl Iterator<Item = (&str, &str)> {
    let has_id = attributes(sent).any(|(name, _)| name == "id");
    attributes(sent).filter(move |(name, _)| !has_id || *name != "name")
}

/// Collects the names of places as they are written.
fn names(clean: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut rest = clean;
    while let Some(open) = rest.find('<') {
        let end = open + tag_len(&rest[open..]);
        let sent = rest[open..end].split_once(' ').map_or("", |(_, sent)| sent);
        let named = attributes(sent).filter(|(name, _)| matches!(*name, "id" | "name"));
        names.extend(named.map(|(_, value)| value.to_owned()));
        rest = &rest[end..];
    }
    names
}

/// Whether an address is the page itself. Publishers mix `http` and `https`.
fn is_same(page: &str, base: &Url) -> bool {
    let Ok(page) = Url::parse(page) else { return false };
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    page.host_str() == base.host_str() && path(&page) == path(base) && page.query() == base.query()
}

fn decoded(text: &str) -> String {
    // In this form a plus sign is a plus sign.
    let form = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(form.as_bytes());
    pairs.next().map_or_else(String::new, |(_, value)| value.into_owned())
}

/// Writes a text as the sanitiser writes it in an attribute.
fn ammonia_attribute(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('\u{a0}', "&nbsp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dirty: &str) -> PageText {
        let base = Url::parse("https://example.org/blog/post").unwrap();
        let context = PageTextContext {
            base: Some(&base),
            original: None,
            images: None,
            prefix: "e7-",
            play: Some("/play/7?a=1&embed="),
        };
        page_text(dirty, &context)
    }

    #[track_caller]
    fn check(dirty: &str, expect: &str) {
        assert_eq!(shown(dirty).html, expect);
    }

    #[test]
    fn footnotes_lead_to_their_places_and_names_have_a_prefix() {
        check(
            "<sup id=r1><a href='#fn:1'>1</a></sup><p id='fn:1'>Note <a href='http://example.org/\
             blog/post/#r1'>back</a></p>",
            "<sup id=\"e7-r1\"><a href=\"#e7-fn:1\">1</a></sup><p id=\"e7-fn:1\">Note \
             <a href=\"#e7-r1\">back</a></p>",
        );
        check("<a name='Ü 1'>x</a><a href='#%C3%9C%201'>y</a>", {
            "<a id=\"e7-Ü 1\" rel=\"noopener noreferrer nofollow\">x</a><a href=\"#e7-Ü 1\">y</a>"
        });
        let elsewhere = "<p id=a>a</p><a href='#nowhere'>b</a><a href='/other#a'>c</a>";
        let shown = shown(elsewhere).html;
        assert!(shown.contains("https://example.org/blog/post#nowhere"), "{shown}");
        assert!(shown.contains("https://example.org/other#a"), "{shown}");
    }

    #[test]
    fn an_element_has_one_id_and_cells_name_the_ids_of_their_headers() {
        let html = shown("<a id=x name=y>t</a><a id=z name=z>u</a><a href='#y'>v</a>").html;
        assert_eq!(html.matches("id=\"e7-x\"").count(), 1, "{html}");
        assert_eq!(html.matches("<span id=\"e7-y\"></span>").count(), 1, "{html}");
        assert_eq!(html.matches("e7-z").count(), 1, "{html}");
        assert!(html.contains("href=\"#e7-y\""), "{html}");
        let table = "<table><tr><th id=a>A<th id=b>B<tr><td headers='a  b'>c</table>";
        assert!(shown(table).html.contains("headers=\"e7-a e7-b\""));
    }

    #[test]
    fn a_name_cannot_break_out() {
        let html = shown("<p id='\"><script>x'>a</p><a href='#\"><script>x'>b</a>").html;
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("id=\"e7-&quot;"), "{html}");
    }

    #[test]
    fn code_and_tables_scroll_inside() {
        check("<pre lang=c>x</pre>", "<pre tabindex=\"0\" lang=\"c\">x</pre>");
        check(
            "<table><tr><td>a</table>",
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\"><table><tbody><tr><td>a</td></tr>\
             </tbody></table></div>",
        );
    }

    #[test]
    fn players_become_links_to_our_own_player() {
        let frame = "<iframe src='https://www.youtube.com/embed/dQw4w9WgXcQ'>no</iframe>";
        let once =
            shown(&format!("{frame}{frame}<p>See <a href='https://youtu.be/dQw4w9WgXcQ'>it</a>"));
        assert_eq!(once.embeds.len(), 1);
        let link = "<a class=\"embed\" href=\"/play/7?a=1&amp;embed=0\">";
        assert_eq!(once.html.matches(link).count(), 2, "{}", once.html);
        assert!(once.html.contains("href=\"https://youtu.be/dQw4w9WgXcQ\""), "a plain link stays");
        let other = shown("<iframe src='https://evil.example/x'></iframe>");
        assert_eq!(other, PageText::default());
    }

    #[test]
    fn the_pictures_of_a_text_are_named() {
        let text = shown("<img src='/a.png?x&amp;y' alt=A><img src=http://t/p width=1 height=1>");
        assert_eq!(text.pictures, ["https://example.org/a.png?x&y"]);
        assert_eq!(text.html, "<img loading=\"lazy\" alt=\"A\">");
    }
}
