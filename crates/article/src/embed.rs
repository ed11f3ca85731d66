//! Players of other sites inside an article: recognised by their address and described as data,
//! so that a page can show a still with a link. Nothing is loaded from the other site before a
//! click. Addresses that no row knows are not embeds.

mod players;

use dom_query::{NodeRef, Selection};
use url::Url;

/// A player inside an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embed {
    /// The name of the site, such as `YouTube`.
    pub site: &'static str,
    pub kind: EmbedKind,
    /// The page that shows it.
    pub link: String,
    /// The address for a frame, in the form that tracks least. `None`: the site plays in frames of
    /// known pages only, so there is a link and no player.
    pub player: Option<String>,
    /// The address of a still image, if the site has one under a known address.
    pub still: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedKind {
    Video,
    Sound,
}

impl EmbedKind {
    pub const fn word(self) -> &'static str {
        match self {
            EmbedKind::Video => "Video",
            EmbedKind::Sound => "Sound",
        }
    }
}

/// Embeds of one article. A list of the best songs of a year has a hundred.
const EMBEDS_MAX: usize = 200;

/// Recognises the address of a frame, or of the page behind it.
pub fn recognise(address: &str) -> Option<Embed> {
    let address = address.trim();
    let url = match address.strip_prefix("//") {
        Some(rest) => Url::parse(&format!("https://{rest}")),
        None => Url::parse(address),
    };
    let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    players::of(&url)
}

/// Marks the frames that we know, so that the extraction keeps them. The library lets frames pass
/// that have an attribute with the address of a video.
pub fn mark(root: &NodeRef<'_>) {
    for frame in Selection::from(*root).select("iframe, embed, object").nodes() {
        make_ascii(frame);
    }
    for frame in Selection::from(*root).select("iframe[src], iframe[data-src]").nodes() {
        if source(frame).is_some() {
            frame.set_attr("data-known-player", "https://www.youtube.com/embed/");
        }
    }
}

/// Escapes letters outside ASCII. The library looks two and four bytes before the name of a video
/// site, and panics inside a letter (dom_smoothie 0.19, `is_video_url`). Fuzzing found it.
fn make_ascii(frame: &NodeRef<'_>) {
    for attribute in frame.attrs().iter().filter(|attribute| !attribute.value.is_ascii()) {
        let escape = |byte: u8| match byte.is_ascii() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        let escaped: String = attribute.value.bytes().map(escape).collect();
        frame.set_attr(&attribute.name.local, &escaped);
    }
    if frame.has_name("object") && !frame.inner_html().is_ascii() {
        match source(frame) {
            Some(_) => frame.set_html(""),
            // Its words are for browsers that do not show it.
            None => frame.rename("div"),
        }
    }
}

/// Replaces the frames that we know by links with a still, and returns them in order. Other frames
/// are removed.
pub fn replace(root: &NodeRef<'_>) -> Vec<Embed> {
    let mut found = Vec::new();
    for frame in Selection::from(*root).select("iframe, embed, object").nodes() {
        match source(frame).filter(|_| found.len() < EMBEDS_MAX) {
            Some(embed) => {
                frame.before_html(shown(&embed));
                found.push(embed);
            }
            None if frame.has_name("object") => continue,
            None => {}
        }
        frame.remove_from_parent();
    }
    found
}

/// Returns the embed of a frame. Lazy pages keep its address in another attribute.
fn source(frame: &NodeRef<'_>) -> Option<Embed> {
    ["src", "data-src", "data-lazy-src", "data"]
        .iter()
        .find_map(|name| recognise(&frame.attr(name)?))
}

/// The HTML of an embed: a link around a still, or words where there is none.
fn shown(embed: &Embed) -> String {
    let words = format!("{} on {}", embed.kind.word(), embed.site);
    let inside = match &embed.still {
        Some(still) => format!("<img src=\"{}\" alt=\"{words}\">", escaped(still)),
        None => words,
    };
    format!("<p><a href=\"{}\">{inside}</a></p>", escaped(&embed.link))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, site: &str, link: &str, player: &str, still: Option<&str>) {
        let embed = recognise(address).unwrap_or_else(|| panic!("{address}"));
        assert_eq!(
            (embed.site, embed.link.as_str(), embed.player.as_deref()),
            (site, link, Some(player))
        );
        assert_eq!(embed.still.as_deref(), still, "{address}");
    }

    #[test]
    fn youtube_in_all_its_spellings() {
        let still = Some("https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg");
        for address in [
            "//www.youtube.com/embed/dQw4w9WgXcQ?rel=0",
            "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
            "http://youtube.com/watch?feature=x&v=dQw4w9WgXcQ",
            "https://youtu.be/dQw4w9WgXcQ",
            "https://m.youtube.com/shorts/dQw4w9WgXcQ",
            "https://www.youtube.com/v/dQw4w9WgXcQ&hl=en",
        ] {
            check(
                address,
                "YouTube",
                "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
                "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
                still,
            );
        }
        check(
            "https://www.youtube.com/embed/dQw4w9WgXcQ?start=90",
            "YouTube",
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=90s",
            "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?start=90",
            still,
        );
        check(
            "https://www.youtube.com/embed/videoseries?list=PL0123456789abc",
            "YouTube",
            "https://www.youtube.com/playlist?list=PL0123456789abc",
            "https://www.youtube-nocookie.com/embed/videoseries?list=PL0123456789abc",
            None,
        );
    }

    #[test]
    fn other_players() {
        let id = "9c9de5e8-0a1e-484a-b099-e80766180a6d";
        for (address, site, link, player, still) in [
            (
                "https://player.vimeo.com/video/76979871?title=0",
                "Vimeo",
                "https://vimeo.com/76979871",
                "https://player.vimeo.com/video/76979871?dnt=1",
                None,
            ),
            (
                "https://player.vimeo.com/video/76979871?h=8272103f6e",
                "Vimeo",
                "https://vimeo.com/76979871/8272103f6e",
                "https://player.vimeo.com/video/76979871?dnt=1&h=8272103f6e",
                None,
            ),
            (
                &format!("https://framatube.org/videos/embed/{id}"),
                "PeerTube",
                &format!("https://framatube.org/videos/watch/{id}"),
                &format!("https://framatube.org/videos/embed/{id}"),
                None,
            ),
            (
                "https://www.dailymotion.com/embed/video/x7u5kn2",
                "Dailymotion",
                "https://www.dailymotion.com/video/x7u5kn2",
                "https://www.dailymotion.com/embed/video/x7u5kn2",
                Some("https://www.dailymotion.com/thumbnail/video/x7u5kn2"),
            ),
            (
                "https://archive.org/embed/Night.Of.The.Living.Dead",
                "Internet Archive",
                "https://archive.org/details/Night.Of.The.Living.Dead",
                "https://archive.org/embed/Night.Of.The.Living.Dead",
                Some("https://archive.org/services/img/Night.Of.The.Living.Dead"),
            ),
            (
                "https://open.spotify.com/embed/episode/4rOoJ6Egrf8K2IrywzwOMk",
                "Spotify",
                "https://open.spotify.com/episode/4rOoJ6Egrf8K2IrywzwOMk",
                "https://open.spotify.com/embed/episode/4rOoJ6Egrf8K2IrywzwOMk",
                None,
            ),
        ] {
            check(address, site, link, player, still);
        }
        let sound = recognise(
            "https://w.soundcloud.com/player/?url=https%3A//soundcloud.com/someone/song&color=red",
        );
        let sound = sound.unwrap();
        assert_eq!((sound.kind, sound.link.as_str()), {
            (EmbedKind::Sound, "https://soundcloud.com/someone/song")
        });
        let player =
            "https://w.soundcloud.com/player/?url=https%3A%2F%2Fsoundcloud.com%2Fsomeone%2Fsong";
        assert_eq!(sound.player.as_deref(), Some(player));
        for frame in ["?video=v123456789&parent=blog.example", "?channel=someone&parent=e.org"] {
            let video = recognise(&format!("https://player.twitch.tv/{frame}")).unwrap();
            assert_eq!((video.site, video.player), ("Twitch", None));
        }
    }

    #[test]
    fn other_addresses_are_not_embeds() {
        for address in [
            "https://evil.example/embed/dQw4w9WgXcQ",
            "https://youtube.com.evil.example/embed/dQw4w9WgXcQ",
            "https://www.youtube.com/embed/\"><script>",
            "https://www.youtube.com/embed/short",
            "javascript:alert(1)",
            "https://player.vimeo.com/video/abc",
            "https://example.org/videos/embed/not-a-uuid",
            "https://a;script-src.example/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d",
            "https://a,b.example/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d",
            "https://w.soundcloud.com/player/?url=javascript:x",
            "",
        ] {
            assert_eq!(recognise(address), None, "{address}");
        }
    }
}
