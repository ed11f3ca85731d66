//! The sound and pictures of an item, as its elements describe them: durations, renditions, stills,
//! chapters and transcripts.

use feed::{Chapter, Enclosure, ItemMedia, Thumbnail, Transcript};

use super::vocabulary::FeedField;
use crate::Limits;
use crate::attribute::Attributes;
use crate::media::{CHAPTERS_MAX, milliseconds, seconds};
use crate::room::{FILE_URL_BYTES_MAX, shorten};

/// Media types, languages and kinds are short words.
const WORD_BYTES_MAX: usize = 128;

/// The media of an item, read so far.
#[derive(Debug, Default)]
pub(super) struct MediaDraft {
    /// The number of the last `media:group`, and its depth.
    group: Option<(u16, usize)>,
    read: ItemMedia,
}

impl MediaDraft {
    pub(super) fn open_group(&mut self, depth: usize) {
        let number = self.group.map_or(0, |(number, _)| number.saturating_add(1));
        self.group = Some((number, depth));
    }

    /// Takes the text of an element.
    pub(super) fn value(&mut self, field: FeedField, text: &str) {
        let read = &mut self.read;
        let number = || text.trim().parse().ok();
        match field {
            FeedField::Duration => read.duration = read.duration.or_else(|| seconds(text)),
            FeedField::Season => read.season = read.season.or_else(number),
            FeedField::Episode => read.episode = read.episode.or_else(number),
            FeedField::Explicit => {
                let said = match text.trim().to_ascii_lowercase().as_str() {
                    "yes" | "true" | "explicit" => Some(true),
                    "no" | "false" | "clean" => Some(false),
                    _ => None,
                };
                read.explicit = read.explicit.or(said);
            }
            _ => {}
        }
    }

    /// Takes an element whose attributes say everything. Addresses are absolute.
    pub(super) fn element(
        &mut self,
        field: FeedField,
        url: Option<String>,
        image: Option<String>,
        attrs: Attributes<'_>,
        limits: &Limits,
    ) {
        let is_short = |url: &String| !url.is_empty() && url.len() <= FILE_URL_BYTES_MAX;
        let url = url.filter(is_short);
        if field == FeedField::Chapter {
            let image = image.filter(is_short);
            return self.chapter(url, image, attrs);
        }
        let (Some(url), read) = (url, &mut self.read) else { return };
        match field {
            FeedField::Thumbnail if read.thumbnails.len() < limits.list_max => {
                let side = |name: &str| attrs.text(name)?.parse().ok();
                let still = Thumbnail { url, width: side("width"), height: side("height") };
                if !read.thumbnails.iter().any(|known| known.url == still.url) {
                    read.thumbnails.push(still);
                }
            }
            FeedField::Transcript if read.transcripts.len() < limits.list_max => {
                let (mime_type, language) = (word(attrs, "type"), word(attrs, "language"));
                read.transcripts.push(Transcript { url, mime_type, language });
            }
            FeedField::Cover => {
                read.image.get_or_insert(url);
            }
            FeedField::Player => {
                read.player.get_or_insert(url);
            }
            FeedField::ChapterFile => {
                read.chapters_url.get_or_insert(url);
            }
            _ => {}
        }
    }

    /// Reads `psc:chapter`, a chapter that the feed itself lists.
    fn chapter(&mut self, link: Option<String>, image: Option<String>, attrs: Attributes<'_>) {
        let start = attrs.text("start").and_then(|text| milliseconds(&text));
        let (Some(start_ms), Some(mut title)) = (start, attrs.text("title")) else { return };
        shorten(&mut title);
        if self.read.chapters.len() < CHAPTERS_MAX {
            self.read.chapters.push(Chapter { start_ms, title, link, image });
        }
    }

    /// Adds what `media:content` says about a file.
    pub(super) fn describe(&self, file: &mut Enclosure, attrs: Attributes<'_>, depth: usize) {
        let number = |name: &str| attrs.text(name)?.trim().parse().ok();
        file.medium = word(attrs, "medium").map(|medium| medium.to_ascii_lowercase());
        file.duration = attrs.text("duration").and_then(|text| seconds(&text));
        file.width = number("width");
        file.height = number("height");
        file.group = self.group.filter(|(_, at)| *at < depth).map(|(number, _)| number);
    }

    /// Returns the media of the item. Its duration is also that of its first recording.
    pub(super) fn finish(self, files: &mut [Enclosure]) -> ItemMedia {
        let is_picture = |file: &Enclosure| {
            let kinds = [&file.mime_type, &file.medium];
            kinds.into_iter().flatten().any(|kind| kind.starts_with("image"))
        };
        if let Some(file) = files.iter_mut().find(|file| !is_picture(file)) {
            file.duration = file.duration.or(self.read.duration);
        }
        self.read
    }
}

fn word(attrs: Attributes<'_>, name: &str) -> Option<String> {
    attrs.text(name).filter(|text| !text.is_empty() && text.len() <= WORD_BYTES_MAX)
}
