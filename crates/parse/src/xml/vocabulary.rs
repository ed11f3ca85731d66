//! The meaning of each known element by namespace and name: the one table of the XML formats. Ranks
//! decide between several values of a field: the smallest wins, and among equals the first.

use crate::namespace::Ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `item` and `entry`.
    Item,
    /// Has no meaning itself, but its children count.
    Container,
    /// Neither it nor its children are read.
    Foreign,
    /// `author`: a text in RSS, a person with a name in Atom.
    Person,
    /// `source` of an item: in Atom it holds elements of the other feed, in RSS the other feed's
    /// title.
    Source,
    /// `image` of a channel. Its title and link are not those of the feed.
    Image,
    FeedField(FeedField, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeedField {
    Title,
    Summary,
    Content,
    Link,
    OrigLink,
    Guid,
    Id,
    Author,
    PersonName,
    PersonEmail,
    SourceId,
    SourceTitle,
    SourceUpdated,
    Published,
    Updated,
    /// `dc:date`, which may be either of the two.
    Date,
    Category,
    Keywords,
    Topic,
    Enclosure,
    MediaFile,
    Thumbnail,
    /// `media:player`, a page.
    Player,
    /// `itunes:image`.
    Cover,
    /// `icon` and `logo` of Atom, and the address of an RSS image.
    Icon,
    Duration,
    Season,
    Episode,
    Explicit,
    /// `podcast:chapters`, a file.
    ChapterFile,
    /// `psc:chapter`, inside the feed.
    Chapter,
    Transcript,
    Cloud,
    Language,
    Ttl,
    SkipHour,
    SkipDay,
    UpdatePeriod,
    UpdateFrequency,
    UpdateBase,
}

impl FeedField {
    /// Whether the text of a field may contain markup.
    pub(super) fn is_prose(self) -> bool {
        matches!(
            self,
            FeedField::Title | FeedField::SourceTitle | FeedField::Summary | FeedField::Content
        )
    }
}

pub(super) fn element(ns: Ns, local: &str) -> Element {
    match ns {
        Ns::Rss | Ns::Rss090 | Ns::Rss10 | Ns::Atom10 | Ns::Atom03 => of_feed(local),
        Ns::Dc | Ns::DcTerms => of_dublin_core(local),
        Ns::Content if local == "encoded" => Element::FeedField(FeedField::Content, 0),
        Ns::Xhtml if local == "body" || local == "div" => Element::FeedField(FeedField::Content, 1),
        Ns::Media => of_media(local),
        Ns::Itunes => of_itunes(local),
        Ns::Podcast => match local {
            "chapters" => Element::FeedField(FeedField::ChapterFile, 0),
            "transcript" => Element::FeedField(FeedField::Transcript, 0),
            _ => Element::Foreign,
        },
        Ns::Chapters => match local {
            "chapters" => Element::Container,
            "chapter" => Element::FeedField(FeedField::Chapter, 0),
            _ => Element::Foreign,
        },
        Ns::Sy => match local {
            "updateperiod" => Element::FeedField(FeedField::UpdatePeriod, 0),
            "updatefrequency" => Element::FeedField(FeedField::UpdateFrequency, 0),
            "updatebase" => Element::FeedField(FeedField::UpdateBase, 0),
            _ => Element::Foreign,
        },
        Ns::FeedBurner if local == "origlink" => Element::FeedField(FeedField::OrigLink, 0),
        Ns::Rdf if local == "rdf" => Element::Container,
        _ => Element::Foreign,
    }
}

fn of_feed(local: &str) -> Element {
    let (field, rank) = match local {
        "item" | "entry" => return Element::Item,
        "channel" | "rss" | "feed" | "skiphours" | "skipdays" => return Element::Container,
        "author" => return Element::Person,
        "source" => return Element::Source,
        "image" => return Element::Image,
        "icon" => (FeedField::Icon, 0),
        "logo" => (FeedField::Icon, 3),
        "title" => (FeedField::Title, 0),
        "link" => (FeedField::Link, 1),
        "guid" => (FeedField::Guid, 0),
        // Shops add their own `id` to the `guid` of RSS.
        "id" => (FeedField::Id, 1),
        "description" | "summary" => (FeedField::Summary, 0),
        "content" => (FeedField::Content, 0),
        "body" | "fullitem" => (FeedField::Content, 1),
        "pubdate" | "published" => (FeedField::Published, 0),
        "issued" => (FeedField::Published, 1),
        "created" => (FeedField::Published, 4),
        "updated" | "modified" | "lastbuilddate" => (FeedField::Updated, 0),
        "date" => (FeedField::Date, 3),
        "category" => (FeedField::Category, 0),
        "tags" | "keywords" => (FeedField::Keywords, 0),
        "enclosure" => (FeedField::Enclosure, 0),
        "cloud" => (FeedField::Cloud, 0),
        "language" => (FeedField::Language, 0),
        "ttl" => (FeedField::Ttl, 0),
        "hour" => (FeedField::SkipHour, 0),
        "day" => (FeedField::SkipDay, 0),
        _ => return Element::Foreign,
    };
    Element::FeedField(field, rank)
}

fn of_dublin_core(local: &str) -> Element {
    let (field, rank) = match local {
        "title" => (FeedField::Title, 1),
        "description" | "abstract" => (FeedField::Summary, 1),
        "creator" | "author" => (FeedField::Author, 1),
        "subject" => (FeedField::Category, 0),
        "language" => (FeedField::Language, 1),
        "date" => (FeedField::Date, 3),
        "issued" => (FeedField::Published, 1),
        "created" => (FeedField::Published, 4),
        "modified" => (FeedField::Updated, 1),
        _ => return Element::Foreign,
    };
    Element::FeedField(field, rank)
}

fn of_media(local: &str) -> Element {
    match local {
        "group" => Element::Container,
        "content" => Element::FeedField(FeedField::MediaFile, 0),
        "thumbnail" => Element::FeedField(FeedField::Thumbnail, 0),
        "player" => Element::FeedField(FeedField::Player, 0),
        "title" => Element::FeedField(FeedField::Title, 2),
        "description" => Element::FeedField(FeedField::Summary, 3),
        "category" => Element::FeedField(FeedField::Category, 0),
        "keywords" => Element::FeedField(FeedField::Keywords, 0),
        _ => Element::Foreign,
    }
}

fn of_itunes(local: &str) -> Element {
    match local {
        "title" => Element::FeedField(FeedField::Title, 2),
        "author" => Element::FeedField(FeedField::Author, 3),
        "summary" => Element::FeedField(FeedField::Summary, 2),
        "subtitle" => Element::FeedField(FeedField::Summary, 4),
        "keywords" => Element::FeedField(FeedField::Keywords, 0),
        "category" => Element::FeedField(FeedField::Topic, 0),
        "duration" => Element::FeedField(FeedField::Duration, 0),
        "image" => Element::FeedField(FeedField::Cover, 0),
        "season" => Element::FeedField(FeedField::Season, 0),
        "episode" => Element::FeedField(FeedField::Episode, 0),
        "explicit" => Element::FeedField(FeedField::Explicit, 0),
        _ => Element::Foreign,
    }
}

/// Whether an element never occurs inside the text of another. If it does, an end tag is missing.
/// Names that HTML shares are left out.
pub(super) fn never_inside_text(ns: Ns, local: &str) -> bool {
    (ns.is_rss() || ns.is_atom())
        && matches!(
            local,
            "item"
                | "entry"
                | "channel"
                | "guid"
                | "pubdate"
                | "description"
                | "category"
                | "enclosure"
                | "published"
                | "updated"
                | "author"
                | "link"
                | "title"
                | "content"
        )
}
