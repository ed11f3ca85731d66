//! Faults of a configuration: each message names the file, the line and column, the key, and how
//! the key is written.

use crate::program::{Instance, path_text};

/// Text of a configuration file, and the message without the name of the file.
const FAULTS: &[(&str, &str)] = &[
    (
        "workers = \"many\"\n",
        "1:11: workers: expected a number, found \"many\"; for example: workers = 100",
    ),
    (
        "workers = 0\n",
        "1:11: workers: 0 would never poll; give 1 or more; for example: workers = 100",
    ),
    (
        "contact = \"https://example.org/\"\nlisten = \"x\"\n",
        "2:10: listen: expected an address and port, found \"x\"; for example: \
         listen = \"127.0.0.1:8080\"",
    ),
    (
        "[defaults]\nalpha = 300\n",
        "2:9: [defaults] alpha: expected a duration, found 300; for example: alpha = \"5m\"",
    ),
    (
        "[defaults]\nalpha = \"2d\"\nbeta = \"1d\"\n",
        "2:9: [defaults] alpha: the bounds 2 d … 1 d with default 1 h contradict each other; \
         alpha ≤ eta ≤ beta is required; for example: alpha = \"5m\"",
    ),
    (
        "[budget]\nstrategy = \"tide\"\n",
        "1:2: [budget] needs `polls`; for example: polls = \"1000/1h,50MB\"",
    ),
    (
        "[mail]\nserver = \"mail.example.org\"\n",
        "1:2: [mail] needs `from`; for example: from = \"tidings@example.org\"",
    ),
    (
        "[domain.\"example.org\"]\nregion = \"north pole\"\n",
        "2:10: [domain.\"example.org\"] region: `north pole` is not a word of letters, digits, \
         `-` and `_`; for example: region = \"eu\"",
    ),
    ("workers = 5\nworkers = 6\n", "2:1: `workers` is given twice; keep one of the two"),
    (
        "contcat = \"https://example.org/\"\n",
        "1:1: unknown key `contcat` before the first table; did you mean `contact`? For example: \
         contact = \"https://example.org/my-reader\"",
    ),
    (
        "[limits]\nlisten = \"127.0.0.1:8080\"\n",
        "2:1: unknown key `listen` in [limits]; it belongs before the first table",
    ),
    (
        "[push]\nvolume = 11\n",
        "2:1: unknown key `volume` in [push]; known keys there: subscribe, safety_net, lease",
    ),
    (
        "trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/33\"]\n",
        "1:19: trusted_proxies: `10.0.0.0/33` is neither an address nor a range of addresses; \
         for example: trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/8\"]",
    ),
    ("[limit]\nitems = 5\n", "1:2: unknown table `[limit]`; did you mean `[limits]`?"),
    (
        "contact = \"example.org/me\"\n",
        "1:11: contact: `example.org/me` has no scheme; did you mean `https://example.org/me`? \
         For example: contact = \"https://example.org/my-reader\"",
    ),
    (
        "contact = \"me@example.org\"\n",
        "1:11: contact: `me@example.org` has no scheme; did you mean `mailto:me@example.org`? \
         For example: contact = \"https://example.org/my-reader\"",
    ),
    (
        "public_url = \"news.example.org\"\n",
        "1:14: public_url: `news.example.org` has no scheme; did you mean \
         `https://news.example.org`? For example: public_url = \"https://news.example.org/\"",
    ),
    (
        "images = \"yes\"\n",
        "1:10: images: `yes` is neither `proxy` nor `off`; for example: images = \"proxy\"",
    ),
    (
        "[limits]\nentries = 0\n",
        "2:11: [limits] entries: 0 would keep nothing; leave the key out for no limit; for \
         example: entries = 10000000",
    ),
    ("[keys]\nnewsroom = \"short\"\n", "2:12: [keys] newsroom: a key has at least 16 letters"),
    (
        "[resolve]\n\"x.test\" = \"nowhere\"\n",
        "2:12: [resolve] x.test: expected an address, or list, found \"nowhere\"",
    ),
];

#[test]
fn every_fault_has_its_place_its_key_and_an_example() {
    for (text, message) in FAULTS {
        let instance = Instance::with_config(text);
        let ended = instance.run(&["config", "check"]);
        let file = instance.home.path().join("config.toml");
        let shown = path_text(&file);
        assert_eq!(ended.stderr.trim_end(), format!("tidings: {shown}:{message}"), "{text}");
        assert_eq!(ended.code, Some(2), "{text}");
    }
}

#[test]
fn a_password_of_the_wrong_type_is_not_repeated() {
    let mail = "[mail]\nserver = \"m\"\nfrom = \"a@b\"\npassword = 4711\n";
    let ended = Instance::with_config(mail).run(&["config", "check"]);
    ended.says(2, &["config.toml:4:12: [mail] password: expected text"]);
    assert!(!ended.stderr.contains("4711"), "{ended:?}");
}

#[test]
fn a_data_folder_that_is_a_file_is_refused_where_it_was_named() {
    let instance = Instance::new();
    let file = instance.write("notes.txt", "mine");
    let file = path_text(&file);
    let ended = instance.run(&["config", "check", "--data", file]);
    let message = format!("--data: {file} is a file, not a folder; for example: --data ./");
    ended.says(2, &[&message]);
    let named = Instance::with_config(&format!("data = \"{file}\"\n"));
    let ended = named.run(&["config", "check"]);
    ended.says(2, &["config.toml:1:8: data: ", "is a file, not a folder; for example: data = "]);
}

#[test]
fn an_address_without_a_scheme_is_refused_in_plain_words() {
    Instance::new().run(&["feed", "add", "example"]).says(
        2,
        &["`example` is not a URL: it begins with neither https:// nor http://; write it as \
           https://example.org/feed.xml"],
    );
}
