//! The words in dates: months in the languages of publishing software, zone names, a.m. and p.m.
//! The table of zones is our own, because a library that takes unknown names for UTC is wrong by
//! hours.

/// Returns the text in lower case. Accents are removed as far as the tables need, and foreign date
/// signs are replaced.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '年' | '년' | '月' | '월' => out.push('-'),
            '日' | '일' | '\u{a0}' => out.push(' '),
            '時' | '时' | '點' => out.push(':'),
            _ => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// Months by the first letters that distinguish them, in English, German, French, Italian, Spanish,
/// Portuguese, Dutch, Danish, Swedish, Polish, Czech, Hungarian, Greek, Russian and Turkish.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän", "gen", "ene", "sty", "led", "ιαν", "янв", "oca"],
    &["feb", "fév", "fev", "lut", "úno", "φεβ", "фев", "şub"],
    &["mar", "mär", "mrz", "maa", "mrt", "bře", "már", "μαρ", "μάρ", "мар"],
    &["apr", "avr", "abr", "kwi", "dub", "ápr", "απρ", "апр", "nis"],
    &["may", "mai", "mei", "mag", "maj", "kvě", "máj", "μαι", "μαϊ", "мая", "май"],
    &["jun", "juin", "giu", "cze", "čer", "jún", "ιουν", "ιούν", "июн", "haz"],
    &["jul", "juil", "lug", "lip", "čvc", "júl", "ιουλ", "ιούλ", "июл", "tem"],
    &["aug", "aoû", "aou", "ago", "sie", "srp", "αυγ", "αύγ", "авг", "ağu"],
    &["sep", "set", "wrz", "zář", "szept", "σεπ", "сен", "eyl"],
    &["oct", "okt", "out", "ott", "paź", "říj", "οκτ", "окт", "eki"],
    &["nov", "lis", "νοε", "νοέ", "ноя", "kas"],
    &["dec", "dez", "déc", "dic", "gru", "pro", "δεκ", "дек", "ara"],
];

pub(super) fn month(word: &str) -> Option<i64> {
    // Czech: červen is June, červenec July.
    if word.starts_with("červenec") {
        return Some(7);
    }
    if word.chars().count() < 3 {
        return None;
    }
    let found = MONTHS.iter().position(|names| names.iter().any(|name| word.starts_with(name)))?;
    i64::try_from(found + 1).ok()
}

pub(super) fn half_of_day(word: &str) -> Option<bool> {
    match word {
        "am" | "오전" | "上午" | "午前" => Some(false),
        "pm" | "오후" | "下午" | "午後" => Some(true),
        _ => None,
    }
}

/// Whether a word between or after the numbers has no meaning for the date.
pub(super) fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "t" | "st"
            | "nd"
            | "rd"
            | "th"
            | "de"
            | "of"
            | "at"
            | "um"
            | "uhr"
            | "à"
            | "h"
            | "le"
            | "om"
            | "kl"
            | "alle"
            | "ore"
            | "il"
            | "del"
            | "standard"
            | "daylight"
            | "summer"
            | "time"
            | "the"
            | "on"
    ) || WEEKDAYS.iter().any(|day| word.starts_with(day))
}

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Returns the zone in seconds east of Greenwich. An ambiguous name means the zone that feeds use:
/// CST and EST are American, IST is Indian, BST is British.
pub(super) fn zone(name: &str) -> Option<i64> {
    let quarter_hours: i64 = match name {
        "z" | "gmt" | "ut" | "utc" | "wet" | "zulu" => 0,
        "bst" | "cet" | "met" | "mez" | "wat" | "west" => 4,
        "cest" | "mest" | "mesz" | "cedt" | "eet" | "cat" | "sast" => 8,
        "eest" | "msk" | "eat" | "trt" | "idt" => 12,
        "irst" => 14,
        "msd" | "gst" | "samt" => 16,
        "irdt" | "aft" => 18,
        "pkt" | "yekt" | "uzt" => 20,
        "ist" | "slst" => 22,
        "npt" => 23,
        "bdt" | "omst" | "almt" => 24,
        "mmt" => 26,
        "ict" | "wib" | "krat" | "novt" => 28,
        "hkt" | "sgt" | "awst" | "myt" | "pht" | "irkt" | "wita" | "ulat" => 32,
        "jst" | "kst" | "wit" | "yakt" => 36,
        "acst" => 38,
        "aest" | "vlat" | "chst" => 40,
        "acdt" => 42,
        "aedt" | "magt" => 44,
        "nzst" | "pett" | "fjt" => 48,
        "nzdt" => 52,
        "azot" | "cvt" => -4,
        "brst" => -8,
        "brt" | "art" | "adt" | "clst" | "uyt" => -12,
        "nst" => -14,
        "ndt" => -10,
        "ast" | "at" | "edt" | "clt" | "bot" | "vet" | "pyt" => -16,
        "est" | "et" | "cdt" | "pet" | "cot" | "ect" | "eastern" => -20,
        "cst" | "ct" | "mdt" | "central" => -24,
        "mst" | "mt" | "pdt" | "mountain" => -28,
        "pst" | "pt" | "akdt" | "pacific" => -32,
        "akst" => -36,
        "hst" | "hast" => -40,
        "sst" => -44,
        // Military letters were used with either sign. Mail (RFC 2822) reads all of them as zero.
        _ if name.len() == 1 && name != "j" && name.is_ascii() => 0,
        _ => return None,
    };
    Some(quarter_hours * 900)
}
