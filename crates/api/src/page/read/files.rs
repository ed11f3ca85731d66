//! The files of an entry on its page: players, a gallery of pictures, and links to other files.

use article::embed::Embed;
use store::{EntryRow, PlaybackPosition};
use url::Url;

use super::web_link;
use crate::Images;
use crate::media_file::{FileKind, about, file_name, is_same_picture, own_player, shown_files};
use crate::words::{clock, moment_of};

/// More files than a person opens.
const FILES_MAX: usize = 20;
/// More pictures than a page needs.
const PICTURES_MAX: usize = 100;

/// The files of an entry, by the way they are shown.
#[derive(Default)]
pub struct EntryFiles {
    pub playable: Vec<PlayableFile>,
    pub gallery: Vec<GalleryPicture>,
    pub others: Vec<EnclosedFile>,
    /// The player of another site that the entry is about.
    pub player: Option<EmbedStill>,
}

/// A recording.
pub struct PlayableFile {
    pub name: String,
    pub kind: &'static str,
    /// Duration and size.
    pub about: String,
    pub play: String,
    pub href: String,
    /// How far the reader has come, in words.
    pub heard: Option<String>,
}

/// A picture of the gallery.
pub struct GalleryPicture {
    pub href: String,
    pub src: String,
    pub name: String,
}

/// A file that came with an entry.
pub struct EnclosedFile {
    pub href: String,
    pub name: String,
    pub about: String,
}

/// A still of a player of another site.
pub struct EmbedStill {
    pub words: String,
    pub site: &'static str,
    pub src: Option<String>,
    pub play: String,
    pub href: String,
    pub duration: Option<String>,
}

impl EntryFiles {
    /// `pictures` are the addresses of the pictures in the text.
    pub fn new(
        entry: &EntryRow,
        pictures: &[String],
        positions: &[PlaybackPosition],
        images: Option<&Images>,
    ) -> EntryFiles {
        let mut files = EntryFiles::default();
        for (place, file, kind) in shown_files(entry).take(PICTURES_MAX) {
            let Some(href) = web_link(&file.url) else { continue };
            let Ok(url) = Url::parse(&href) else { continue };
            let name = file_name(&url);
            match kind {
                FileKind::Sound | FileKind::Video if files.playable.len() < FILES_MAX => {
                    let position = positions.iter().find(|position| position.url == file.url);
                    files.playable.push(PlayableFile {
                        name,
                        kind: kind.word(),
                        about: about(file, kind),
                        play: format!("/play/{}?file={place}", entry.id),
                        href,
                        heard: position.map(heard),
                    });
                }
                FileKind::Picture => files.add_picture(pictures, &href, name, images),
                _ if files.others.len() < FILES_MAX => {
                    files.others.push(EnclosedFile { about: about(file, kind), name, href });
                }
                _ => {}
            }
        }
        files.player = own_player(entry).map(|embed| still(entry, &embed, images));
        let has_pictures = !pictures.is_empty() || !files.gallery.is_empty();
        if !has_pictures && files.player.is_none() {
            let covers = entry.media.image.iter();
            let mut covers = covers.chain(entry.media.thumbnails.iter().map(|still| &still.url));
            if let Some(href) = covers.find_map(|address| web_link(address)) {
                files.add_picture(pictures, &href, String::new(), images);
            }
        }
        files
    }

    /// Adds a picture that neither the text nor the gallery shows.
    fn add_picture(
        &mut self,
        pictures: &[String],
        href: &str,
        name: String,
        images: Option<&Images>,
    ) {
        let mut known =
            pictures.iter().map(String::as_str).chain(self.gallery.iter().map(|p| p.href.as_str()));
        if known.any(|known| is_same_picture(known, href)) {
            return;
        }
        match images.and_then(|images| images.address(href)) {
            Some(src) => self.gallery.push(GalleryPicture { href: href.to_owned(), src, name }),
            None => self.others.push(EnclosedFile {
                href: href.to_owned(),
                name: if name.is_empty() { "Picture".to_owned() } else { name },
                about: String::new(),
            }),
        }
    }
}

fn still(entry: &EntryRow, embed: &Embed, images: Option<&Images>) -> EmbedStill {
    let thumbnails = entry.media.thumbnails.iter().map(|still| &still.url);
    let mut stills = thumbnails.chain(&entry.media.image).chain(&embed.still);
    let duration = entry.media.duration.or(entry.enclosures.iter().find_map(|file| file.duration));
    EmbedStill {
        words: format!("{} on {}", embed.kind.word(), embed.site),
        site: embed.site,
        src: stills.find_map(|address| images?.address(address)),
        play: format!("/play/{}?own=1", entry.id),
        href: embed.link.clone(),
        duration: duration.filter(|seconds| *seconds > 0).map(clock),
    }
}

/// Says how far the reader has come.
fn heard(position: &PlaybackPosition) -> String {
    if position.is_finished() {
        "finished".to_owned()
    } else {
        // The store refuses negative numbers.
        format!("continue at {}", moment_of(position.seconds as u64))
    }
}
