//! Valid and invalid traces.

use feed::Time;
use lab::WorldBuilder;

#[track_caller]
fn refused(csv: &str, at: &str, words: &str) {
    let mut builder = WorldBuilder::default();
    let error =
        lab::world::trace::read("t.csv", csv.as_bytes(), &mut builder).unwrap_err().to_string();
    assert!(error.starts_with(&format!("t.csv:{at}: ")), "{error}");
    assert!(error.contains(words), "{error}");
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_a_remedy() {
    refused("", "1:1", "the first line names the columns");
    refused("feed,time\n", "1:1", "no column `published`");
    refused("published\n", "1:1", "no column `feed`");
    refused("feed,published\na,1\nb\n", "3:1", "1 fields where the header names 2");
    refused("feed,published\na,1,2\n", "2:1", "quote fields that hold a comma");
    refused("feed,published\na,16.07.2011\n", "2:3", "`16.07.2011` is not a time");
    refused("feed,published\n,1\n", "2:1", "names no feed");
    refused("feed,published\na,\n", "2:3", "neither published nor visible");
    refused("feed,published,window\na,1,-2\n", "2:5", "`-2` is not a valid window size");
    refused("feed,published,weight\na,1,NaN\n", "2:5", "`NaN` is not a valid weight");
    refused("feed,published,ttl\na,1,soon\n", "2:5", "`soon` is not a valid ttl");
    refused("feed,published\n\"a,1\n", "2:1", "never closed");
}

#[test]
fn all_columns_are_used_wherever_they_stand_and_others_ignored() {
    let csv = "weight,ttl,colour,published,visible,bytes,feed,domain,title,window\n\
               2.5,10m,red,1000,1060,5000,a,x.test,\"A, the feed\",4\n\
               ,,,2000,,,b,x.test,,\n\
               2.5,600,,,3000,,a,,,6\n";
    let mut builder = WorldBuilder::default();
    assert_eq!(lab::world::trace::read("t.csv", csv.as_bytes(), &mut builder).unwrap(), 3);
    let world = builder.finish(20);
    let [a, b] = &world.feeds[..] else { panic!("two feeds") };
    assert_eq!((a.weight, a.ttl.unwrap().as_secs(), &*a.title), (2.5, 600, "A, the feed"));
    assert_eq!(a.visible(), [1060, 3000].map(Time::from_secs));
    assert_eq!((a.claim(0), a.claim(1)), (Some(Time::from_secs(1000)), None));
    assert_eq!(a.windows(), [(Time::from_secs(1060), 4), (Time::from_secs(3000), 6)]);
    assert_eq!(a.sizes(), [(Time::from_secs(1060), 5000)]);
    assert_eq!((b.weight, b.ttl, b.has_claims()), (1.0, None, false));
    assert_eq!(world.domains, [[0, 1]]);
}

#[test]
fn a_feed_in_two_files_is_one_feed() {
    let mut builder = WorldBuilder::default();
    for csv in ["feed,published\na,20\nb,1\n", "published,feed\n10,a\n"] {
        lab::world::trace::read("t.csv", csv.as_bytes(), &mut builder).unwrap();
    }
    let world = builder.finish(20);
    assert_eq!(world.feeds[0].visible(), [10, 20].map(Time::from_secs));
    assert_eq!(world.n_entries(), 3);
}

/// The recorded traces, if they are next to the repository.
#[test]
fn the_shared_traces_are_read_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    for (name, feeds, entries) in [
        ("crates_releases", 487, 22_514),
        ("planet_perl", 293, 7143),
        ("simonwillison_blog", 9, 10_348),
    ] {
        let Ok(file) = std::fs::File::open(format!("{folder}/{name}.csv.gz")) else { continue };
        let unpacked = std::io::BufReader::new(flate2::read::MultiGzDecoder::new(file));
        let mut builder = WorldBuilder::default();
        lab::world::trace::read(name, unpacked, &mut builder).unwrap();
        let world = builder.finish(20);
        assert_eq!((world.feeds.len(), world.n_entries()), (feeds, entries), "{name}");
    }
}
