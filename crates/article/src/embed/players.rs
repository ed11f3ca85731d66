//! The players that are known, one function for each site: from an address to its parts.

use url::Url;

use super::{Embed, EmbedKind};

/// Returns the embed that an address names.
pub fn of(url: &Url) -> Option<Embed> {
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host);
    let path: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
    match host {
        "youtube.com" | "youtube-nocookie.com" | "youtu.be" => youtube(host, &path, url),
        "player.vimeo.com" | "vimeo.com" => vimeo(host, &path, url),
        "dailymotion.com" | "dai.ly" | "geo.dailymotion.com" => dailymotion(host, &path, url),
        "archive.org" => archive(&path),
        "open.spotify.com" => spotify(&path),
        "w.soundcloud.com" => soundcloud(&path, url),
        "player.twitch.tv" | "clips.twitch.tv" => twitch(host, url),
        "embed.ted.com" => ted(&path),
        "streamable.com" => streamable(&path),
        _ => peertube(&path, url),
    }
}

fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Returns an identifier if it has only the characters that such sites use.
fn identifier(text: &str, len: std::ops::RangeInclusive<usize>) -> Option<&str> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    (len.contains(&text.len()) && text.bytes().all(is_plain)).then_some(text)
}

fn youtube(host: &str, path: &[&str], url: &Url) -> Option<Embed> {
    const PLAYER: &str = "https://www.youtube-nocookie.com/embed";
    let video = parameter(url, "v");
    let id = match path {
        [id] if host == "youtu.be" => *id,
        ["watch"] => video.as_deref()?,
        ["embed", "videoseries"] | ["playlist"] => {
            let list = parameter(url, "list")?;
            let list = identifier(&list, 10..=60)?;
            return Some(Embed {
                site: "YouTube",
                kind: EmbedKind::Video,
                link: format!("https://www.youtube.com/playlist?list={list}"),
                player: Some(format!("{PLAYER}/videoseries?list={list}")),
                still: None,
            });
        }
        ["embed" | "shorts" | "live" | "v", id] => id.split('&').next()?,
        _ => return None,
    };
    let id = identifier(id, 11..=11)?;
    let start = parameter(url, "start").or_else(|| parameter(url, "t"));
    let start: Option<u32> = start.and_then(|text| text.trim_end_matches('s').parse().ok());
    let start = start.filter(|seconds| *seconds > 0);
    Some(Embed {
        site: "YouTube",
        kind: EmbedKind::Video,
        link: match start {
            Some(seconds) => format!("https://www.youtube.com/watch?v={id}&t={seconds}s"),
            None => format!("https://www.youtube.com/watch?v={id}"),
        },
        player: Some(match start {
            Some(seconds) => format!("{PLAYER}/{id}?start={seconds}"),
            None => format!("{PLAYER}/{id}"),
        }),
        still: Some(format!("https://i.ytimg.com/vi/{id}/hqdefault.jpg")),
    })
}

fn vimeo(host: &str, path: &[&str], url: &Url) -> Option<Embed> {
    let (id, hash) = match path {
        ["video", id] if host == "player.vimeo.com" => (*id, parameter(url, "h")),
        [id] if host == "vimeo.com" => (*id, None),
        [id, hash] if host == "vimeo.com" => (*id, Some((*hash).to_owned())),
        _ => return None,
    };
    let is_number = (5..=12).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit());
    // An unlisted video needs the hash of its link.
    let hash = hash.as_deref().and_then(|hash| identifier(hash, 6..=20));
    is_number.then(|| Embed {
        site: "Vimeo",
        kind: EmbedKind::Video,
        link: match hash {
            Some(hash) => format!("https://vimeo.com/{id}/{hash}"),
            None => format!("https://vimeo.com/{id}"),
        },
        player: Some(match hash {
            Some(hash) => format!("https://player.vimeo.com/video/{id}?dnt=1&h={hash}"),
            None => format!("https://player.vimeo.com/video/{id}?dnt=1"),
        }),
        still: None,
    })
}

fn dailymotion(host: &str, path: &[&str], url: &Url) -> Option<Embed> {
    let video = parameter(url, "video");
    let id = match path {
        ["embed", "video", id] | ["video", id] => *id,
        [id] if host == "dai.ly" => *id,
        _ if host == "geo.dailymotion.com" => video.as_deref()?,
        _ => return None,
    };
    let id = identifier(id, 5..=20)?;
    Some(Embed {
        site: "Dailymotion",
        kind: EmbedKind::Video,
        link: format!("https://www.dailymotion.com/video/{id}"),
        player: Some(format!("https://www.dailymotion.com/embed/video/{id}")),
        still: Some(format!("https://www.dailymotion.com/thumbnail/video/{id}")),
    })
}

fn archive(path: &[&str]) -> Option<Embed> {
    let ["embed", name] = path else { return None };
    let id = Some(*name).filter(|name| identifier(&name.replace('.', "-"), 2..=100).is_some())?;
    Some(Embed {
        site: "Internet Archive",
        kind: EmbedKind::Video,
        link: format!("https://archive.org/details/{id}"),
        player: Some(format!("https://archive.org/embed/{id}")),
        still: Some(format!("https://archive.org/services/img/{id}")),
    })
}

fn spotify(path: &[&str]) -> Option<Embed> {
    let ["embed", kind @ ("track" | "album" | "playlist" | "episode" | "show" | "artist"), id] =
        path
    else {
        return None;
    };
    let id = identifier(id, 22..=22)?;
    Some(Embed {
        site: "Spotify",
        kind: EmbedKind::Sound,
        link: format!("https://open.spotify.com/{kind}/{id}"),
        player: Some(format!("https://open.spotify.com/embed/{kind}/{id}")),
        still: None,
    })
}

fn soundcloud(path: &[&str], url: &Url) -> Option<Embed> {
    let ["player"] = path else { return None };
    let link = Url::parse(&parameter(url, "url")?).ok()?;
    let is_theirs = matches!(link.host_str()?, "soundcloud.com" | "api.soundcloud.com");
    // The publisher's other parameters choose colours, and whether it plays at once.
    let player = Url::parse_with_params("https://w.soundcloud.com/player/", [("url", &link)]);
    (is_theirs && link.scheme() == "https").then(|| Embed {
        site: "SoundCloud",
        kind: EmbedKind::Sound,
        link: link.to_string(),
        player: player.ok().map(String::from),
        still: None,
    })
}

/// The player of Twitch wants to know the site around it and plays nowhere else.
fn twitch(host: &str, url: &Url) -> Option<Embed> {
    let link = if host == "clips.twitch.tv" {
        let clip = parameter(url, "clip")?;
        format!("https://clips.twitch.tv/{}", identifier(&clip, 4..=100)?)
    } else if let Some(video) = parameter(url, "video") {
        format!(
            "https://www.twitch.tv/videos/{}",
            identifier(video.trim_start_matches('v'), 5..=15)?
        )
    } else {
        let channel = parameter(url, "channel")?;
        format!("https://www.twitch.tv/{}", identifier(&channel, 3..=30)?)
    };
    Some(Embed { site: "Twitch", kind: EmbedKind::Video, link, player: None, still: None })
}

fn ted(path: &[&str]) -> Option<Embed> {
    let name = match path {
        ["talks", name] | ["talks", "lang", _, name] => identifier(name, 3..=150)?,
        _ => return None,
    };
    Some(Embed {
        site: "TED",
        kind: EmbedKind::Video,
        link: format!("https://www.ted.com/talks/{name}"),
        player: Some(format!("https://embed.ted.com/talks/{name}")),
        still: None,
    })
}

fn streamable(path: &[&str]) -> Option<Embed> {
    let id = match path {
        ["e" | "o" | "s", id, ..] => identifier(id, 4..=12)?,
        _ => return None,
    };
    Some(Embed {
        site: "Streamable",
        kind: EmbedKind::Video,
        link: format!("https://streamable.com/{id}"),
        player: Some(format!("https://streamable.com/e/{id}")),
        still: None,
    })
}

/// PeerTube runs on any host. Its frames are known by their path and a UUID, in one of two forms.
fn peertube(path: &[&str], url: &Url) -> Option<Embed> {
    let ["videos", "embed", id] = path else { return None };
    let is_long = id.len() == 36
        && id.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        });
    let is_short = id.len() == 22 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    // A policy of a page would read `;` and `,` in the name of a host as its own signs.
    let is_host =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']');
    let is_plain = url.host_str().is_some_and(|host| host.bytes().all(is_host));
    let origin = url.origin().ascii_serialization();
    (is_plain && (is_long || is_short)).then(|| Embed {
        site: "PeerTube",
        kind: EmbedKind::Video,
        link: format!("{origin}/videos/watch/{id}"),
        player: Some(format!("{origin}/videos/embed/{id}")),
        still: None,
    })
}
