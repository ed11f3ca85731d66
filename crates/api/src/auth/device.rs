//! Names the device of a session from its User-Agent, so that people recognise it. It is a guess
//! for the eye; nothing depends on it.

/// Programs by a part of their User-Agent. The order matters: most browsers also name others.
const PROGRAMS: [(&str, &str); 16] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("NetNewsWire", "NetNewsWire"),
    ("Reeder", "Reeder"),
    ("newsboat", "newsboat"),
    ("Liferea", "Liferea"),
    ("RSS Guard", "RSS Guard"),
];
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "Mac"),
    ("Mac OS", "Mac"),
    ("Linux", "Linux"),
];
/// Characters of an unknown program that are shown.
const CHARS_MAX: usize = 40;

/// Returns the name of a device, such as "Firefox on Linux".
pub fn device_name(user_agent: &str) -> String {
    let of = |list: &[(&str, &'static str)]| {
        list.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    match (of(&PROGRAMS), of(&SYSTEMS)) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(program), None) => program.to_owned(),
        (None, _) => {
            let first = user_agent.split(['/', ' ', '(']).next().unwrap_or_default();
            match first.chars().take(CHARS_MAX).collect::<String>() {
                empty if empty.is_empty() => "Unknown device".to_owned(),
                name => name,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_people_know_them() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/120.0.0.0 Safari/537.36";
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 \
                     (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1";
        for (agent, name) in [
            (chrome, "Chrome on Linux"),
            (phone, "Safari on iPhone"),
            ("newsboat/2.21 (Linux x86_64)", "newsboat on Linux"),
            ("curl/8.0", "curl"),
            ("", "Unknown device"),
        ] {
            assert_eq!(device_name(agent), name);
        }
    }
}
