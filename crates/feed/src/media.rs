//! Facts of items about their sound and pictures: duration, chapters, transcripts, stills.

use serde::{Deserialize, Serialize};

/// The media facts of one item, as the publisher wrote them. Missing ones are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct ItemMedia {
    /// The duration of the episode in seconds (`itunes:duration`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u32>,
    /// The picture of the episode (`itunes:image`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit: Option<bool>,
    /// Stills (`media:thumbnail`), in the order of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thumbnails: Vec<Thumbnail>,
    /// A page that plays it (`media:player`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// The chapters in the document itself (`psc:chapters`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chapters: Vec<Chapter>,
    /// The address of a JSON file with chapters (`podcast:chapters`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chapters_url: Option<String>,
    /// Transcripts (`podcast:transcript`), in the order of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transcripts: Vec<Transcript>,
}

/// A still picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Thumbnail {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

/// A chapter of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Chapter {
    /// In milliseconds from the start.
    pub start_ms: u64,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// A transcript of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Transcript {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl ItemMedia {
    pub fn is_empty(&self) -> bool {
        *self == ItemMedia::default()
    }

    /// Returns the bytes of its texts.
    pub fn n_bytes(&self) -> usize {
        let long = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let chapter = |c: &Chapter| 16 + c.title.len() + long(&c.link) + long(&c.image);
        let transcript = |t: &Transcript| t.url.len() + long(&t.mime_type) + long(&t.language);
        let stills: usize = self.thumbnails.iter().map(|still| still.url.len()).sum();
        let chapters: usize = self.chapters.iter().map(chapter).sum();
        let transcripts: usize = self.transcripts.iter().map(transcript).sum();
        let own = [&self.image, &self.player, &self.chapters_url].into_iter().map(long);
        own.sum::<usize>() + stills + chapters + transcripts
    }
}
