//! The language of a text: declared or detected, with a confidence. A short text stays unknown
//! rather than wrong. Keeps declaration and detection apart and assumes no language where nothing
//! is known.

mod tags;

use whatlang::{Detector, Lang};

pub use tags::language_tag;

/// Letters that detection needs. With fewer, a title of names decides the language.
const LETTERS_MIN: usize = 60;
/// Characters that detection reads. More do not change the answer and cost 10 µs per thousand.
const CHARS_MAX: usize = 4000;

/// A language that the words of a text show reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedLanguage {
    /// BCP 47, such as `de`.
    pub tag: &'static str,
    /// From 0 to 1000.
    pub confidence_permille: u16,
}

/// The origin of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageSource {
    /// The page or the item declares it.
    Declared,
    /// The words of the text show it.
    Detected,
    /// The words of the feed's last documents show it.
    DetectedInFeed,
    /// The feed declares it.
    DeclaredByFeed,
}

/// The language of a text and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLanguage {
    pub tag: String,
    pub source: LanguageSource,
    /// From 0 to 1000, if it was detected.
    pub confidence_permille: Option<u16>,
}

/// All that is known about the language of one entry or page.
#[derive(Clone, Copy, Debug, Default)]
pub struct LanguageClaims<'a> {
    /// The declaration of the page or item (`<html lang>`, `xml:lang`).
    pub declared: Option<&'a str>,
    /// The detection over title and text.
    pub detected: Option<DetectedLanguage>,
    /// The detection over the feed's last documents.
    pub detected_in_feed: Option<DetectedLanguage>,
    /// The declaration of the feed.
    pub declared_by_feed: Option<&'a str>,
}

/// Detects the language of a text. Returns nothing if the text is short or the answer unreliable.
pub fn detect(text: &str) -> Option<DetectedLanguage> {
    let end = text.char_indices().nth(CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    if text.chars().filter(|c| c.is_alphabetic()).take(LETTERS_MIN).count() < LETTERS_MIN {
        return None;
    }
    let info = Detector::new().detect(text).filter(whatlang::Info::is_reliable)?;
    // Filler text (“lorem ipsum”) is the only Latin that pages show.
    if info.lang() == Lang::Lat {
        return None;
    }
    let confidence = (info.confidence().clamp(0.0, 1.0) * 1000.0) as u16;
    Some(DetectedLanguage { tag: tags::of(info.lang()), confidence_permille: confidence })
}

/// Decides between the claims. Nearer ones win. A declaration that the words of the text reliably
/// contradict is ignored: templates declare `en` for texts in every language.
pub fn decide(claims: &LanguageClaims<'_>) -> Option<TextLanguage> {
    let detected = |found: DetectedLanguage, source| TextLanguage {
        tag: found.tag.to_owned(),
        source,
        confidence_permille: Some(found.confidence_permille),
    };
    if let Some(tag) = claims.declared.and_then(language_tag)
        && claims.detected.is_none_or(|found| tags::agree(&tag, found.tag))
    {
        let source = LanguageSource::Declared;
        return Some(TextLanguage { tag, source, confidence_permille: None });
    }
    if let Some(found) = claims.detected {
        return Some(detected(found, LanguageSource::Detected));
    }
    if let Some(found) = claims.detected_in_feed {
        return Some(detected(found, LanguageSource::DetectedInFeed));
    }
    let tag = claims.declared_by_feed.and_then(language_tag)?;
    let source = LanguageSource::DeclaredByFeed;
    Some(TextLanguage { tag, source, confidence_permille: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: &str = "Der Bundestag hat am Donnerstag mit großer Mehrheit ein neues Gesetz \
        beschlossen, das den Ausbau der Windkraft beschleunigen soll.";

    fn decided(claims: LanguageClaims<'_>) -> Option<(String, LanguageSource)> {
        decide(&claims).map(|language| (language.tag, language.source))
    }

    #[test]
    fn sentences_are_detected_and_short_texts_stay_unknown() {
        assert_eq!(detect(GERMAN).map(|found| found.tag), Some("de"));
        assert!(detect(GERMAN).is_some_and(|found| found.confidence_permille > 500));
        let chinese =
            "人工智能公司开发出一款能够用自己的记忆学习新知识并利用这些知识来回答问题的计算机。"
                .repeat(2);
        assert_eq!(detect(&chinese).map(|found| found.tag), Some("zh"));
        for short in ["", "Breaking news", "Der Bundestag", "12345 ".repeat(100).as_str()] {
            assert_eq!(detect(short), None, "{short}");
        }
    }

    #[test]
    fn filler_text_has_no_language() {
        let filler = "Lorem ipsum dolor sit amet, consectetur adipisicing elit, sed do eiusmod \
            tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis \
            nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat.";
        assert_eq!(detect(filler), None);
    }

    #[test]
    fn nearer_claims_win_unless_the_words_contradict() {
        let german = detect(GERMAN);
        let all = LanguageClaims {
            declared: Some("en_US"),
            detected: german,
            detected_in_feed: german,
            declared_by_feed: Some("fr"),
        };
        let declared = |tag: &str, source| Some((tag.to_owned(), source));
        assert_eq!(decided(all), declared("de", LanguageSource::Detected));
        let agreeing = LanguageClaims { declared: Some("DE-AT"), ..all };
        assert_eq!(decided(agreeing), declared("de-AT", LanguageSource::Declared));
        let undetected = LanguageClaims { detected: None, ..all };
        assert_eq!(decided(undetected), declared("en-US", LanguageSource::Declared));
        let silent = LanguageClaims { declared: None, detected: None, ..all };
        assert_eq!(decided(silent), declared("de", LanguageSource::DetectedInFeed));
        let last = LanguageClaims { detected_in_feed: None, ..silent };
        assert_eq!(decided(last), declared("fr", LanguageSource::DeclaredByFeed));
        assert_eq!(decided(LanguageClaims::default()), None);
    }
}
