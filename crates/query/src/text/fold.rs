//! The role of each character in a search for words. A character is a letter (without case and
//! accent), a character of a script without spaces, invisible, or the end of a word.
//!
//! Folding follows readers, not the Unicode tables. The letter й differs from и, and vowel signs of
//! Indic scripts stay. But Ł is found as l, ı as i, أ as ا and ё as е. Folding does not know the
//! language.

use std::borrow::Cow;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The role of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ends a word.
    Break,
    /// Part of a word, folded.
    Letter(char),
    /// Part of a word that folds to several letters, which [`spell`] returns.
    Letters,
    /// A word of its own: a character of a script without spaces, or an emoji.
    Unit(char),
    /// Invisible: accents, soft hyphens, joiners.
    Nothing,
}

/// Most text is ASCII. The table gives the folded byte, or 0 where a word ends.
pub(super) static ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut c = 0;
    while c < 128 {
        if (c as u8).is_ascii_alphanumeric() {
            table[c] = (c as u8).to_ascii_lowercase();
        }
        c += 1;
    }
    table
};

/// Characters below this have their role in a table. Above it are mostly Han and Hangul, which fold
/// to themselves.
const TABLE_END: u32 = 0x2e80;

static TABLE: LazyLock<Vec<Role>> = LazyLock::new(|| {
    (0..TABLE_END).map(|code| char::from_u32(code).map_or(Role::Break, judge)).collect()
});

/// Returns the role of a character.
pub(super) fn role(c: char) -> Role {
    match c as u32 {
        // Unified ideographs and Hangul syllables: the bulk of East Asian text.
        0x4e00..=0x9fff => Role::Unit(c),
        0xac00..=0xd7a3 => Role::Letter(c),
        code if code < TABLE_END => TABLE[code as usize],
        _ => judge(c),
    }
}

fn judge(c: char) -> Role {
    if is_invisible(c) || is_accent(c) {
        return Role::Nothing;
    }
    if is_emoji(c) {
        return Role::Unit(c);
    }
    if !c.is_alphanumeric() && !is_combining_mark(c) {
        return Role::Break;
    }
    let spelled = spell(c);
    let mut letters = spelled.chars();
    match (letters.next(), letters.next()) {
        (None, _) => Role::Nothing,
        (Some(one), None) if is_without_spaces(one) => Role::Unit(one),
        (Some(one), None) => Role::Letter(one),
        (Some(_), Some(_)) => Role::Letters,
    }
}

/// Returns the letters to which a character folds.
pub(super) fn spell(c: char) -> String {
    if let '\u{400}'..='\u{52f}' = c {
        return cyrillic(c);
    }
    let mut spelled = String::new();
    for part in c.to_lowercase().nfkd() {
        if is_accent(part) || !(part.is_alphanumeric() || is_combining_mark(part)) {
            continue;
        }
        match plain(part) {
            Some(letters) => spelled.push_str(letters),
            None => spelled.push(digit(part).unwrap_or(part)),
        }
    }
    // Hangul and voiced kana were decomposed above and are composed again here.
    spelled.nfc().collect()
}

/// Cyrillic marks make separate letters (й, ї, ў), except over е and in school books.
fn cyrillic(c: char) -> String {
    let folded = match c.to_lowercase().next().unwrap_or(c) {
        'ё' | 'ѐ' => 'е',
        'ѝ' => 'и',
        '\u{483}'..='\u{489}' => return String::new(),
        lower => lower,
    };
    folded.to_string()
}

/// Letters that Unicode does not decompose, but that people without them on the keyboard write so.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ı' => "i",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ĸ' => "k",
        'ς' => "σ",
        'ٱ' => "ا",
        'ى' | 'ی' => "ي",
        'ة' | 'ہ' => "ه",
        'ک' => "ك",
        'ـ' => "",
        _ => return None,
    })
}

/// The zeros of decimal digits that people type instead of 0 to 9.
const ZEROS: [u32; 16] = [
    0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0,
    0xf20, 0x1040, 0x17e0,
];

fn digit(c: char) -> Option<char> {
    let code = c as u32;
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Marks over and under letters that readers do not search for. Vowel signs are not among them.
fn is_accent(c: char) -> bool {
    matches!(c as u32,
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x5bf | 0x5c1..=0x5c2 | 0x5c4..=0x5c5
        | 0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x6d6..=0x6dc | 0x6df..=0x6e4
        | 0x6e7..=0x6e8 | 0x6ea..=0x6ed | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20f0
        | 0xfe20..=0xfe2f)
}

/// Soft hyphens, joiners, directions, variation selectors and skin tones. Also zero-width spaces:
/// Khmer and Lao pages put them between words, but people do not type them.
fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0xad | 0x34f | 0x61c | 0x180b..=0x180e | 0x200b..=0x200f | 0x202a..=0x202e
        | 0x2060..=0x2064 | 0x2066..=0x2069 | 0xfe00..=0xfe0f | 0xfeff | 0x1f3fb..=0x1f3ff
        | 0xe0100..=0xe01ef)
}

fn is_emoji(c: char) -> bool {
    matches!(c as u32, 0x2600..=0x27bf | 0x1f000..=0x1faff)
}

/// Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Khmer, Myanmar.
fn is_without_spaces(c: char) -> bool {
    matches!(c as u32,
        0xe01..=0xe4e | 0xe81..=0xece | 0xedc..=0xedf | 0x1000..=0x109f | 0x1780..=0x17dd
        | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3021..=0x312f | 0x31a0..=0x31bf
        | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa9e0..=0xa9fe
        | 0xaa60..=0xaa7f | 0xf900..=0xfaff | 0x1b000..=0x1b16f | 0x20000..=0x3ffff)
}

/// Composes letters and their marks into one character each. Nearly all text is composed already
/// and is not copied.
pub(super) fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut halfwidth = false;
    let is_loose = |bytes: &[u8]| match *bytes {
        [0xcc | 0xcd, ..] | [0xe1, 0x84..=0x87, ..] | [0xe3, 0x82, 0x99 | 0x9a] => true,
        [0xef, 0xbe, 0x9e | 0x9f] => {
            halfwidth = true;
            true
        }
        _ => false,
    };
    let bytes = text.as_bytes();
    // A mark of two bytes may be at the very end, where no window of three bytes begins.
    let last_two = &bytes[bytes.len().saturating_sub(2)..];
    if !bytes.windows(3).chain([last_two]).any(is_loose) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(if halfwidth { text.nfkc().collect() } else { text.nfc().collect() })
}
