//! The files of an entry as people see them: kind, name, duration and size in words, and pictures
//! that the text does not show already. Also the name of its topic.

use std::collections::HashSet;

use article::embed::{Embed, recognise};
use article::topic::MediaTopic;
use feed::Enclosure;
use store::EntryRow;
use url::Url;

use crate::words::{bytes, clock};

/// The kind of a file. Feeds lie about types, so the ending of the name counts if there is no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Sound,
    Video,
    Picture,
    Other,
}

impl FileKind {
    pub fn of(file: &Enclosure) -> FileKind {
        let said = [&file.medium, &file.mime_type];
        let named = said.into_iter().flatten().find_map(|word| {
            let word = word.trim().to_ascii_lowercase();
            match word.split('/').next()? {
                "audio" => Some(FileKind::Sound),
                "video" => Some(FileKind::Video),
                "image" => Some(FileKind::Picture),
                _ => None,
            }
        });
        named.or_else(|| FileKind::of_ending(&file.url)).unwrap_or(FileKind::Other)
    }

    fn of_ending(address: &str) -> Option<FileKind> {
        let url = Url::parse(address).ok()?;
        let (_, ending) = url.path().rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "mp3" | "m4a" | "aac" | "ogg" | "oga" | "opus" | "wav" | "flac" => FileKind::Sound,
            "mp4" | "m4v" | "webm" | "mov" | "ogv" | "mkv" => FileKind::Video,
            "jpg" | "jpeg" | "png" | "gif" | "webp" | "avif" => FileKind::Picture,
            _ => return None,
        })
    }

    pub const fn is_playable(self) -> bool {
        matches!(self, FileKind::Sound | FileKind::Video)
    }

    pub const fn word(self) -> &'static str {
        match self {
            FileKind::Sound => "Sound",
            FileKind::Video => "Video",
            FileKind::Picture => "Picture",
            FileKind::Other => "File",
        }
    }
}

/// Returns the last part of an address, as the name of a file.
pub fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("");
    if last.is_empty() { url.host_str().unwrap_or("file").to_owned() } else { last.to_owned() }
}

/// Returns type, duration and size in words.
pub fn about(file: &Enclosure, kind: FileKind) -> String {
    let mime_type = file.mime_type.clone().filter(|_| !kind.is_playable());
    let duration = file.duration.filter(|seconds| *seconds > 0).map(clock);
    let size = file.length.filter(|n| *n > 0).map(bytes);
    mime_type.into_iter().chain(duration).chain(size).collect::<Vec<_>>().join(", ")
}

/// Returns the files to show: the first of each group of renditions, with its place in the entry.
pub fn shown_files(entry: &EntryRow) -> impl Iterator<Item = (usize, &Enclosure, FileKind)> {
    let mut groups = HashSet::new();
    let files = entry.enclosures.iter().enumerate();
    files.filter_map(move |(place, file)| {
        let is_new = file.group.is_none_or(|group| groups.insert(group));
        let kind = FileKind::of(file);
        // A page of a player can say that it is a file.
        let is_player = recognise(&file.url).is_some_and(|embed| embed.player.is_some());
        (is_new && !is_player).then_some((place, file, kind))
    })
}

/// Returns the player of another site that the entry itself is about: a video of a channel.
pub fn own_player(entry: &EntryRow) -> Option<Embed> {
    let named = entry.link.iter().chain(&entry.media.player);
    let mut named = named.chain(entry.enclosures.iter().map(|file| &file.url));
    named.find_map(|address| recognise(address).filter(|embed| embed.player.is_some()))
}

/// Whether two addresses show the same picture: blogs write the size into the name or the query.
pub fn is_same_picture(one: &str, other: &str) -> bool {
    match (picture_name(one), picture_name(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns host and path without a size such as `-300x200`.
fn picture_name(address: &str) -> Option<(String, String)> {
    let url = Url::parse(address).ok()?;
    let path = url.path();
    let (name, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let is_size = |part: &str| {
        part.split_once('x').is_some_and(|(width, height)| {
            let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            is_number(width) && is_number(height)
        })
    };
    let name = match name.rsplit_once('-') {
        Some((before, last)) if is_size(last) => before,
        _ => name,
    };
    // A name that is only in the query cannot be compared without it.
    let query = if ending.is_empty() { url.query().unwrap_or("") } else { "" };
    Some((url.host_str()?.to_owned(), format!("{name}.{ending}?{query}")))
}

/// Returns the name of a Media Topic with this number.
pub fn topic_name(number: u8) -> Option<&'static str> {
    MediaTopic::numbered(number).map(MediaTopic::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(url: &str, mime_type: &str) -> Enclosure {
        let mime_type = Some(mime_type.to_owned()).filter(|text| !text.is_empty());
        Enclosure { url: url.to_owned(), mime_type, ..Enclosure::default() }
    }

    #[test]
    fn the_kind_comes_from_the_type_or_the_ending() {
        for (url, mime_type, kind) in [
            ("https://e/1", "audio/mpeg", FileKind::Sound),
            ("https://e/1", "Video/MP4", FileKind::Video),
            ("https://e/1.MP3?x=1", "", FileKind::Sound),
            ("https://e/1.mp3", "application/octet-stream", FileKind::Sound),
            ("https://e/1.webm", "", FileKind::Video),
            ("https://e/1.jpeg", "", FileKind::Picture),
            ("https://e/1.pdf", "application/pdf", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(&file(url, mime_type)), kind, "{url} {mime_type}");
        }
    }

    #[test]
    fn a_picture_in_another_size_is_the_same() {
        let same = |one, other| is_same_picture(one, other);
        assert!(same("https://e/a-300x200.jpg", "https://e/a.jpg"));
        assert!(same("http://e/a.jpg?w=100", "https://e/a.jpg?w=900"));
        assert!(!same("https://e/a.jpg", "https://e/b.jpg"));
        assert!(!same("https://e/image?id=1", "https://e/image?id=2"));
        assert!(!same("https://e/a-b.jpg", "https://e/a.jpg"));
    }
}
