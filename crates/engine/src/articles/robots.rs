//! The rules of robots.txt (RFC 9309), for pages that are fetched without being asked. Pure:
//! texts in, answers out.

/// The name that a site uses for us.
const PRODUCT: &str = "tidings";
/// Bytes that are read: 500 KiB, as the RFC demands at least (2.5). The rest is ignored.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;
/// Rules that are kept of one site. Real files have fewer.
const RULES_MAX: usize = 5000;

/// Returns the rules of a file that hold for us, one per line: of the groups that name us, else of
/// the groups for all.
pub fn rules(file: &[u8]) -> String {
    let text = String::from_utf8_lossy(beginning(file));
    let (mut ours, mut of_all, mut names_us) = (Vec::new(), Vec::new(), false);
    // The agents of the group that is read, and whether its rules have begun.
    let (mut is_ours, mut is_all, mut has_rules) = (false, false, true);
    for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "user-agent" => {
                if has_rules {
                    (is_ours, is_all, has_rules) = (false, false, false);
                }
                is_ours |= is_us(value);
                is_all |= value == "*";
                names_us |= is_ours;
            }
            "allow" | "disallow" => {
                has_rules = true;
                if value.is_empty() || value.chars().any(char::is_whitespace) {
                    continue;
                }
                let rule = format!("{name}: {value}");
                if is_ours && ours.len() < RULES_MAX {
                    ours.push(rule);
                } else if is_all && of_all.len() < RULES_MAX {
                    of_all.push(rule);
                }
            }
            _ => {}
        }
    }
    if names_us { ours.join("\n") } else { of_all.join("\n") }
}

/// Returns the part of a file that is read. A file that fills the limit was perhaps cut in a line.
/// Half a rule could forbid more than the whole one, so such a line is left out.
fn beginning(file: &[u8]) -> &[u8] {
    if file.len() < ROBOTS_BYTES_MAX {
        return file;
    }
    let file = &file[..ROBOTS_BYTES_MAX];
    let end = file.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    &file[..end.unwrap_or_default()]
}

/// A name matches up to its first character that a product token cannot have.
fn is_us(agent: &str) -> bool {
    let end = agent
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))
        .unwrap_or(agent.len());
    agent[..end].eq_ignore_ascii_case(PRODUCT)
}

/// Returns whether the rules allow a path with its query. The longest rule wins; of equal ones the
/// one that allows.
pub fn is_allowed(rules: &str, path: &str) -> bool {
    let mut best: Option<(usize, bool)> = None;
    let path = escaped(path);
    for line in rules.lines() {
        let Some((name, pattern)) = line.split_once(": ") else { continue };
        let pattern = escaped(pattern);
        if fits(&pattern, &path) {
            let found = (pattern.len(), name == "allow");
            best = best.max(Some(found));
        }
    }
    best.is_none_or(|(_, allows)| allows)
}

/// Writes a path in the one form that can be compared (RFC 9309, 2.2.2): letters outside ASCII are
/// escaped, and escapes of plain letters are not.
fn escaped(path: &str) -> Vec<u8> {
    let (bytes, mut written) = (path.as_bytes(), Vec::with_capacity(path.len()));
    let escape = |byte: u8| format!("%{byte:02X}").into_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = |at: usize| bytes.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let code = hex(at + 1).zip(hex(at + 2)).filter(|_| *byte == b'%');
        match code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(code) => {
                let is_plain = code.is_ascii_alphanumeric() || b"-._~".contains(&code);
                written.extend(if is_plain { vec![code] } else { escape(code) });
                at += 3;
            }
            None => {
                written.extend(if byte.is_ascii() { vec![*byte] } else { escape(*byte) });
                at += 1;
            }
        }
    }
    written
}

/// Matches a pattern with `*` for any characters and `$` for the end. It takes linear time for each
/// star: after a star the first fit is as good as any later one, except before `$`.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(|c| *c == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let parts: Vec<&[u8]> = parts.collect();
    if parts.is_empty() {
        return !to_end || rest.is_empty();
    }
    for (n, part) in parts.iter().enumerate() {
        if to_end && n + 1 == parts.len() {
            return rest.len() >= part.len() && rest.ends_with(part);
        }
        match find(rest, part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_names_us_wins_over_the_one_for_all() {
        let file = b"User-agent: *\nDisallow: /\n\nuser-agent: other\nUser-Agent: Tidings/2.0\n\
                     Disallow: /private # secret\nAllow: /private/open\n\n\
                     User-agent: tidings-like\nDisallow: /no\n";
        let rules = rules(file);
        for (path, expect) in [
            ("/", true),
            ("/private", false),
            ("/private/x", false),
            ("/private/open/1", true),
            ("/no", true),
        ] {
            assert_eq!(is_allowed(&rules, path), expect, "{path}");
        }
        assert!(!is_allowed(&super::rules(b"User-agent: *\nDisallow: /"), "/x"));
        assert!(is_allowed(&super::rules(b"User-agent: *\nDisallow:"), "/x"));
        assert!(is_allowed(&super::rules(b"<html>not found</html>"), "/x"));
        assert!(is_allowed("", "/x"));
    }

    #[test]
    fn half_a_rule_at_the_limit_does_not_count() {
        let mut file = b"User-agent: *\rDisallow: /first\n".to_vec();
        let last = b"Disallow: /last-of-all\n";
        let half = "Disallow: /".len();
        file.resize(ROBOTS_BYTES_MAX - half - 1, b'#');
        file.push(b'\n');
        file.extend(last);
        let rules = rules(&file);
        assert!(!is_allowed(&rules, "/first"));
        assert!(is_allowed(&rules, "/x"));
        assert!(is_allowed(&rules, "/last-of-all"));
    }

    #[test]
    fn escapes_do_not_change_what_a_rule_means() {
        for (rule, path, expect) in [
            ("/straße", "/stra%C3%9Fe/1", false),
            ("/stra%c3%9fe", "/stra%C3%9Fe/1", false),
            ("/%70rivate", "/private/x", false),
            ("/a%2Fb", "/a/b", true),
            ("/a%2fb", "/a%2Fb", false),
            ("/100%", "/100%", false),
        ] {
            assert_eq!(is_allowed(&format!("disallow: {rule}"), path), expect, "{rule} {path}");
        }
    }

    #[test]
    fn patterns_have_stars_and_ends() {
        for (pattern, path, expect) in [
            ("/fish*", "/fishheads/x.html", true),
            ("/*.php", "/a/b.php?x", true),
            ("/*.php$", "/a/b.php", true),
            ("/*.php$", "/a/b.php?x", false),
            ("/a*b*c", "/a1b2c3", true),
            ("/a*b*c", "/a1c2b3", false),
            ("/x$", "/x", true),
            ("/x$", "/xy", false),
            ("*", "/anything", true),
        ] {
            assert_eq!(fits(pattern.as_bytes(), path.as_bytes()), expect, "{pattern} {path}");
        }
    }
}
