//! What each known element means, by namespace and name. The one table of the XML formats.
//! Ranks say which of several claims for a field counts: the smallest, and of equals the first.

use crate::namespace::Ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `item` and `entry`.
    Item,
    /// Says nothing itself, but what it holds counts.
    Container,
    /// Neither it nor what it holds concerns us.
    Foreign,
    /// `author`: a text in RSS, a person with a name in Atom.
    Person,
    /// `source` of an item: in Atom it holds what the other feed says of itself, in RSS its title.
    Source,
    Field(Field, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
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
    /// `dc:date`, which does not say which of the two it is.
    Date,
    Category,
    Keywords,
    Topic,
    Enclosure,
    MediaFile,
    Cloud,
    Language,
    Ttl,
    SkipHour,
    SkipDay,
    UpdatePeriod,
    UpdateFrequency,
}

impl Field {
    /// Fields whose text is prose that may hold markup.
    pub(super) fn is_prose(self) -> bool {
        matches!(self, Field::Title | Field::SourceTitle | Field::Summary | Field::Content)
    }
}

pub(super) fn element(ns: Ns, local: &str) -> Element {
    match ns {
        Ns::Rss | Ns::Rss090 | Ns::Rss10 | Ns::Atom10 | Ns::Atom03 => of_feed(local),
        Ns::Dc | Ns::DcTerms => of_dublin_core(local),
        Ns::Content if local == "encoded" => Element::Field(Field::Content, 0),
        Ns::Xhtml if local == "body" || local == "div" => Element::Field(Field::Content, 1),
        Ns::Media => of_media(local),
        Ns::Itunes => of_itunes(local),
        Ns::Sy => match local {
            "updateperiod" => Element::Field(Field::UpdatePeriod, 0),
            "updatefrequency" => Element::Field(Field::UpdateFrequency, 0),
            _ => Element::Foreign,
        },
        Ns::FeedBurner if local == "origlink" => Element::Field(Field::OrigLink, 0),
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
        "title" => (Field::Title, 0),
        "link" => (Field::Link, 1),
        "guid" => (Field::Guid, 0),
        // Shops put their own `id` beside the `guid` of RSS.
        "id" => (Field::Id, 1),
        "description" | "summary" => (Field::Summary, 0),
        "content" => (Field::Content, 0),
        "body" | "fullitem" => (Field::Content, 1),
        "pubdate" | "published" => (Field::Published, 0),
        "issued" => (Field::Published, 1),
        "created" => (Field::Published, 4),
        "updated" | "modified" | "lastbuilddate" => (Field::Updated, 0),
        "date" => (Field::Date, 3),
        "category" => (Field::Category, 0),
        "tags" | "keywords" => (Field::Keywords, 0),
        "enclosure" => (Field::Enclosure, 0),
        "cloud" => (Field::Cloud, 0),
        "language" => (Field::Language, 0),
        "ttl" => (Field::Ttl, 0),
        "hour" => (Field::SkipHour, 0),
        "day" => (Field::SkipDay, 0),
        _ => return Element::Foreign,
    };
    Element::Field(field, rank)
}

fn of_dublin_core(local: &str) -> Element {
    let (field, rank) = match local {
        "title" => (Field::Title, 1),
        "description" | "abstract" => (Field::Summary, 1),
        "creator" | "author" => (Field::Author, 1),
        "subject" => (Field::Category, 0),
        "language" => (Field::Language, 1),
        "date" => (Field::Date, 3),
        "issued" => (Field::Published, 1),
        "created" => (Field::Published, 4),
        "modified" => (Field::Updated, 1),
        _ => return Element::Foreign,
    };
    Element::Field(field, rank)
}

fn of_media(local: &str) -> Element {
    match local {
        "group" => Element::Container,
        "content" | "thumbnail" => Element::Field(Field::MediaFile, 0),
        "title" => Element::Field(Field::Title, 2),
        "description" => Element::Field(Field::Summary, 3),
        "category" => Element::Field(Field::Category, 0),
        "keywords" => Element::Field(Field::Keywords, 0),
        _ => Element::Foreign,
    }
}

fn of_itunes(local: &str) -> Element {
    match local {
        "title" => Element::Field(Field::Title, 2),
        "author" => Element::Field(Field::Author, 3),
        "summary" => Element::Field(Field::Summary, 2),
        "subtitle" => Element::Field(Field::Summary, 4),
        "keywords" => Element::Field(Field::Keywords, 0),
        "category" => Element::Field(Field::Topic, 0),
        _ => Element::Foreign,
    }
}

/// Elements that never stand inside the text of another: meeting one there means that an end tag
/// is missing. Names that HTML shares are left out.
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
