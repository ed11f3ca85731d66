//! Language tags (BCP 47): how publishers write them, and those of the detector.

use whatlang::Lang;

/// Names that publishers write instead of a tag.
const NAMES: [(&str, &str); 16] = [
    ("english", "en"),
    ("german", "de"),
    ("deutsch", "de"),
    ("french", "fr"),
    ("français", "fr"),
    ("spanish", "es"),
    ("español", "es"),
    ("italian", "it"),
    ("italiano", "it"),
    ("portuguese", "pt"),
    ("português", "pt"),
    ("dutch", "nl"),
    ("nederlands", "nl"),
    ("russian", "ru"),
    ("chinese", "zh"),
    ("japanese", "ja"),
];

/// Three-letter codes with a shorter form, as the detector and some publishers use them.
const SHORT: &str = "afr:af aka:ak amh:am ara:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh \
    dan:da deu:de ell:el eng:en epo:eo est:et fin:fi fra:fr guj:gu heb:he hin:hi hrv:hr hun:hu \
    hye:hy \
    ind:id ita:it jav:jv jpn:ja kan:kn kat:ka khm:km kor:ko lat:la lav:lv lit:lt mal:ml mar:mr \
    mkd:mk mya:my nep:ne nld:nl nob:nb ori:or pan:pa pes:fa pol:pl por:pt ron:ro rus:ru sin:si \
    slk:sk slv:sl sna:sn spa:es srp:sr swe:sv tam:ta tel:te tgl:tl tha:th tuk:tk tur:tr ukr:uk \
    urd:ur uzb:uz vie:vi yid:yi zul:zu cym:cy eus:eu gle:ga glg:gl isl:is msa:ms fas:fa nno:nn";

/// Languages that the detector cannot tell apart, or that have several tags.
const ALIKE: [&[&str]; 6] = [
    &["nb", "no", "nn", "da"],
    &["hr", "sr", "bs", "sh"],
    &["id", "ms"],
    &["zh", "yue", "wuu"],
    &["he", "iw"],
    &["tl", "fil"],
];

/// Returns a declared language as BCP 47 with a lower-case language, such as `en-US`, or nothing if
/// the text is not a tag.
pub fn language_tag(declared: &str) -> Option<String> {
    let declared = declared.trim();
    if declared.len() > 35 {
        return None;
    }
    let lower = declared.to_lowercase();
    if let Some((_, tag)) = NAMES.iter().find(|(name, _)| *name == lower) {
        return Some((*tag).to_owned());
    }
    // POSIX locales end in a charset: `de_DE.UTF-8`.
    let declared = declared.split(['.', '@', ',', ';', ' ']).next()?;
    let mut parts = declared.split(['-', '_']);
    let language = parts.next()?.to_ascii_lowercase();
    let is_language =
        matches!(language.len(), 2 | 3) && language.bytes().all(|b| b.is_ascii_lowercase());
    if !is_language || matches!(language.as_str(), "und" | "mul" | "zxx" | "mis") {
        return None;
    }
    let mut tag = short(&language).unwrap_or(&language).to_owned();
    for part in parts {
        if part.is_empty() || part.len() > 8 || !part.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return None;
        }
        tag.push('-');
        tag.push_str(part);
    }
    Some(tag)
}

fn short(code: &str) -> Option<&'static str> {
    let mut pairs = SHORT.split_whitespace().filter_map(|pair| pair.split_once(':'));
    pairs.find(|(long, _)| *long == code).map(|(_, short)| short)
}

/// Returns the tag of a detected language.
pub fn of(lang: Lang) -> &'static str {
    short(lang.code()).unwrap_or(lang.code())
}

/// Whether two tags name the same language, or two that are hard to tell apart.
pub fn agree(one: &str, other: &str) -> bool {
    let language = |tag: &str| tag.split('-').next().unwrap_or_default().to_owned();
    let (one, other) = (language(one), language(other));
    one == other
        || ALIKE
            .iter()
            .any(|group| group.contains(&one.as_str()) && group.contains(&other.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_written_in_one_way() {
        for (declared, expect) in [
            ("en", Some("en")),
            ("en_US", Some("en-US")),
            ("EN-us", Some("en-us")),
            ("English", Some("en")),
            ("eng", Some("en")),
            ("zh-Hant-TW", Some("zh-Hant-TW")),
            ("de_DE.UTF-8", Some("de-DE")),
            ("  fr ", Some("fr")),
            ("", None),
            ("und", None),
            ("klingon language", None),
            ("en-", None),
            ("x", None),
        ] {
            assert_eq!(language_tag(declared).as_deref(), expect, "{declared}");
        }
    }

    #[test]
    fn every_language_of_the_detector_has_a_tag_of_two_letters() {
        for lang in Lang::all() {
            assert_eq!(of(*lang).len(), 2, "{lang:?}");
        }
    }

    #[test]
    fn regions_and_twins_agree() {
        assert!(agree("de-AT", "de") && agree("no", "nb") && agree("sr-Latn", "hr"));
        assert!(!agree("en", "de"));
    }
}
