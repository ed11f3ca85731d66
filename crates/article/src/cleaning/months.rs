//! The names of months, in the languages of most pages. They tell a date from other lines with
//! numbers, such as “7 things we learned in 2024”.

/// Short names, and those that other words begin with.
const WHOLE: &str = "\
    jan feb mar apr may jun jul aug sep sept oct nov dec june july juni juli juin mars mart marts \
    mär maj maja mai mei mayo maio ene abr ago dic gen mag giu lug ott okt dez fev févr janv avr \
    juil déc enero junio julio giugno luglio junho julho març janv abril april avril aprile ekim \
    ocak nisan ledna dubna lipca srpna září máj maggio янв фев мар апр мая май июн июл авг сен окт \
    ноя дек июня июля lutego marca marzo märz march maart mars marec مايو مارس";

/// Beginnings of long names.
const BEGINNINGS: &str = "\
    januar febru septem octob novem decem august augusti janvier févri août octobre décem oktob \
    dezem febrer agosto septiem setiem noviem diciem genna febbr settem ottob dicem janeir fever \
    março setem outub dezemb января феврал марта апрел август сентябр октябр ноябр декабр січн \
    лютог березн квітн травн червн липн серпн вересн жовтн листопад грудн styczn kwietn czerw \
    sierpn wrześn październ listopad grudn února březn květn června července října prosin tammik \
    helmik maalisk huhtik toukok kesäk heinäk elok syysk lokak marrask jouluk şubat mayıs haziran \
    temmuz ağustos eylül kasım aralık márc ápril júni júli szept október novemb ianuar martie \
    aprilie iunie iulie septembrie noiemb ιανουαρ φεβρουαρ μαρτ απριλ μαΐου μαίου ιουν ιουλ αυγ \
    σεπτ οκτωβρ νοεμβρ δεκεμβρ يناير فبراير أبريل يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر";

/// Whether a word is the name of a month.
pub fn is_month(word: &str) -> bool {
    let word = word.to_lowercase();
    WHOLE.split_whitespace().any(|name| word == name)
        || BEGINNINGS.split_whitespace().any(|begin| word.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_known_in_many_languages() {
        for word in ["March", "mars", "März", "marzo", "марта", "aralık", "Sept", "września"]
        {
            assert!(is_month(word), "{word}");
        }
        for word in ["marketing", "maybe", "mayor", "set", "out", "junior", "decisions", "led"] {
            assert!(!is_month(word), "{word}");
        }
    }
}
