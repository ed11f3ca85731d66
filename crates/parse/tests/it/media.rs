//! Sound and pictures of items: durations, renditions, stills, chapters and transcripts.

use feed::{Chapter, Item};
use parse::{Limits, document};

#[track_caller]
fn item(inner: &str) -> Item {
    let text = format!("<rss version='2.0'><channel><item>{inner}</item></channel></rss>");
    document(text.as_bytes(), None, None, &Limits::default()).unwrap().items.remove(0)
}

#[test]
fn an_episode_has_duration_cover_chapters_and_transcripts() {
    let episode = item(
        "<enclosure url='http://e.org/1.mp3' type='audio/mpeg' length='900'/>
         <itunes:duration>1:02:03</itunes:duration><itunes:image href='http://e.org/c.jpg'/>
         <itunes:season>2</itunes:season><itunes:episode>7</itunes:episode>
         <itunes:explicit>clean</itunes:explicit>
         <podcast:chapters url='http://e.org/c.json' type='application/json+chapters'/>
         <podcast:transcript url='http://e.org/t.vtt' type='text/vtt' language='de'/>
         <podcast:transcript url='http://e.org/t.srt' type='application/x-subrip'/>
         <psc:chapters version='1.2'><psc:chapter start='00:00:00.000' title='Hello'/>
         <psc:chapter start='0:10:30.5' title='The point' href='http://e.org/p'/>
         <psc:chapter title='no time'/></psc:chapters>",
    );
    let (sound, media) = (&episode.enclosures[0], &episode.media);
    assert_eq!((sound.length, sound.duration), (Some(900), Some(3723)));
    assert_eq!((media.duration, media.season, media.episode), (Some(3723), Some(2), Some(7)));
    assert_eq!(media.explicit, Some(false));
    assert_eq!(media.image.as_deref(), Some("http://e.org/c.jpg"));
    assert_eq!(media.chapters_url.as_deref(), Some("http://e.org/c.json"));
    let point = Chapter {
        start_ms: 630_500,
        title: "The point".to_owned(),
        link: Some("http://e.org/p".to_owned()),
        image: None,
    };
    assert_eq!(media.chapters[1..], [point]);
    assert_eq!(media.transcripts[0].language.as_deref(), Some("de"));
    assert_eq!(media.transcripts[1].mime_type.as_deref(), Some("application/x-subrip"));
    assert_eq!(episode.enclosures.len(), 1, "only the recording is an enclosure");
}

#[test]
fn the_default_rendition_of_a_group_comes_first() {
    let video = item(
        "<media:group><media:content url='http://e.org/low.mp4' medium='Video' duration='60'/>
         <media:content url='http://e.org/high.mp4' isDefault='true' width='9'/></media:group>
         <media:content url='http://e.org/else.jpg' medium='image'/>
         <media:thumbnail url='http://e.org/t.jpg' width='480' height='x'/>
         <media:thumbnail url='http://e.org/t.jpg'/><media:player url='http://e.org/watch'/>",
    );
    let seen: Vec<_> = video.enclosures.iter().map(|f| (f.url.as_str(), f.group)).collect();
    let expect = [
        ("http://e.org/high.mp4", Some(0)),
        ("http://e.org/low.mp4", Some(0)),
        ("http://e.org/else.jpg", None),
    ];
    assert_eq!(seen, expect);
    let low = &video.enclosures[1];
    assert_eq!((low.medium.as_deref(), low.duration), (Some("video"), Some(60)));
    assert_eq!(video.enclosures[0].width, Some(9));
    assert_eq!(video.media.thumbnails.len(), 1);
    let still = &video.media.thumbnails[0];
    assert_eq!((still.width, still.height), (Some(480), None));
    assert_eq!(video.media.player.as_deref(), Some("http://e.org/watch"));
}

#[test]
fn a_picture_does_not_last() {
    let picture = item(
        "<enclosure url='http://e.org/p.png' type='image/png'/>
         <enclosure url='http://e.org/p.ogg'/><itunes:duration>5</itunes:duration>",
    );
    let durations: Vec<_> = picture.enclosures.iter().map(|file| file.duration).collect();
    assert_eq!(durations, [None, Some(5)]);
}

#[test]
fn json_feeds_name_durations_and_pictures() {
    let text = r#"{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1",
        "image": "https://e.org/i.png", "attachments": [{"url": "https://e.org/a.mp3",
        "mime_type": "audio/mpeg", "duration_in_seconds": 61.5}]}]}"#;
    let read = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
    assert_eq!(read.items[0].enclosures[0].duration, Some(61));
    assert_eq!(read.items[0].media.image.as_deref(), Some("https://e.org/i.png"));
}

#[test]
fn chapters_and_covers_do_not_change_an_entry_and_stills_count_as_before() {
    let hash = |inner: &str| feed::content_hash(&item(inner));
    let plain = hash("<title>t</title><enclosure url='http://e.org/1.mp3'/>");
    let more = hash(
        "<title>t</title><enclosure url='http://e.org/1.mp3'/>
         <itunes:image href='http://e.org/c.jpg'/><podcast:chapters url='http://e.org/c.json'/>",
    );
    assert_eq!(plain, more);
    let two = hash("<title>t</title><enclosure url='http://a/1'/><enclosure url='http://a/2'/>");
    let still =
        hash("<title>t</title><enclosure url='http://a/1'/><media:thumbnail url='http://a/2'/>");
    assert_eq!(two, still);
}

#[test]
fn absurd_numbers_of_chapters_and_stills_are_bounded() {
    let chapters = "<psc:chapter start='1' title='t'/>".repeat(3000);
    let stills: String =
        (0..3000).map(|n| format!("<media:thumbnail url='http://e.org/{n}'/>")).collect();
    let read = item(&format!("<psc:chapters>{chapters}</psc:chapters>{stills}"));
    assert_eq!(read.media.chapters.len(), 500);
    assert_eq!(read.media.thumbnails.len(), Limits::default().list_max);
    let long = format!("<media:thumbnail url='http://e.org/{}'/>", "x".repeat(9000));
    assert!(item(&long).media.is_empty());
}
