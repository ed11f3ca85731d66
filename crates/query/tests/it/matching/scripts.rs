//! Texts of many scripts: a query finds the entries that a person would expect, and no others.

use crate::sample::{Sample, keeps};

/// Checks that the text is found in the first title and not in the second.
#[track_caller]
fn check(text: &str, found_in: &[&str], not_in: &[&str]) {
    let query = format!("ALL FEEDS WHERE ITEM CONTAINS \"{text}\"");
    for title in found_in {
        assert!(keeps(&query, &Sample::titled(title)), "{text} should be found in {title}");
        let mut body = Sample::titled("-");
        body.content = Some(format!("<p>{title}</p>"));
        assert!(keeps(&query, &body), "{text} should be found in the content {title}");
    }
    for title in not_in {
        assert!(!keeps(&query, &Sample::titled(title)), "{text} should not be found in {title}");
    }
}

#[test]
fn latin() {
    check("Málaga", &["malaga", "MALAGA!", "Ma\u{301}laga"], &["Malagasy"]);
    check("Strasse", &["Straße 5", "STRASSE", "STRAẞE"], &["Straßenbahn"]);
    check("Lodz", &["Łódź", "łódź-Poland"], &["Lod"]);
    check("København", &["KOBENHAVN", "københavn"], &["København1"]);
    check("naïve", &["naive", "NAÏVE"], &["naively"]);
    check("Islande", &["l'Islande", "L’ISLANDE"], &["Irlande"]);
    check("İstanbul", &["istanbul", "ISTANBUL", "İSTANBUL", "ıstanbul"], &["stanbul"]);
    check("Việt Nam", &["Viet Nam", "VIỆT NAM", "Vie\u{323}\u{302}t Nam"], &["Vietnam"]);
    check("ﬁre", &["fire", "FIRE", "ﬁre"], &["fir"]);
}

#[test]
fn cyrillic() {
    check("вулкан", &["Вулкан в Исландии", "ВУЛКАН"], &["вулканы"]);
    check("вулкан*", &["вулканы", "Вулкан"], &["вулк"]);
    check("ёлка", &["елка", "ЁЛКА", "Елка"], &["елки"]);
    check("мой", &["МОЙ дом", "мо\u{438}\u{306} дом"], &["мои дома"]);
    check("Київ", &["київ", "КИЇВ"], &["Киив", "Киев"]);
    check("замок", &["за\u{301}мок"], &["замка"]);
    check("извержение вулкана", &["Извержение вулкана началось"], &["вулкана извержение"]);
}

#[test]
fn greek() {
    check("ηφαίστειο", &["ΗΦΑΙΣΤΕΙΟ", "Ηφαίστειο της Σαντορίνης"], &["ηφαίστεια"]);
    check("Οδυσσέας", &["ΟΔΥΣΣΕΑΣ", "οδυσσέας", "Οδυσσέασ"], &["Οδυσσέα"]);
    check("ἀρχή", &["αρχη", "ΑΡΧΗ", "αρχή"], &["αρχ"]);
}

#[test]
fn arabic_persian_hebrew() {
    check("أخبار", &["اخبار اليوم", "أَخْبَار", "إخبار"], &["الأخبار"]);
    check("بركان", &["ثوران بركان في آيسلندا", "بُرْكَان", "بـــركان"], &["براكين"]);
    check("آيسلندا", &["ايسلندا", "أيسلندا"], &["ايسلند"]);
    check("مكتبة", &["مكتبه"], &["مكتب"]);
    check("می‌خواهم", &["ميخواهم", "می‌خواهم"], &["می خواهم"]);
    check("۲۰۲۴", &["2024", "٢٠٢٤"], &["2025"]);
    check("שלום", &["שָׁלוֹם"], &["שלומי"]);
}

#[test]
fn scripts_without_spaces_match_the_sequence() {
    check(
        "火山",
        &["冰岛火山喷发", "火山灰", "活火山", "火 山"],
        &["山火", "火。山", "大火在山上"],
    );
    check("アイス", &["アイスランドの火山", "ｱｲｽ"], &["アイ"]);
    check("ガス", &["ｶﾞｽ", "カ\u{3099}ス", "天然ガス"], &["カス"]);
    check("火山の噴火", &["昨日の火山の噴火は"], &["火山噴火"]);
    check("ภูเขาไฟ", &["การปะทุของภูเขาไฟในไอซ์แลนด์"], &["ภูเขา"]);
    check("ភ្នំភ្លើង", &["បន្ទុះភ្នំ\u{200b}ភ្លើងនៅ"], &["ភ្នំ"]);
    check("ພູເຂົາໄຟ", &["ການລະເບີດຂອງພູເຂົາໄຟ"], &["ພູເຂົາ"]);
    check("မီးတောင်", &["အိုက်စလန်မီးတောင်ပေါက်"], &["မီး"]);
    check("AI技術", &["最新のAI技術", "ＡＩ技術"], &["技術AI"]);
    check("第3章", &["第3章を読む", "第３章"], &["第4章"]);
    check("火山*", &["火山灰"], &["火"]);
}

#[test]
fn other_scripts_keep_their_vowels() {
    check("ज्वालामुखी", &["आइसलैंड में ज्वालामुखी फटा"], &["ज्वाला", "ज्वालामुख"]);
    check("எரிமலை", &["ஐஸ்லாந்து எரிமலை"], &["எரி"]);
    check("화산", &["아이슬란드 화산", "\u{1112}\u{116a}\u{1109}\u{1161}\u{11ab}"], &["화산이"]);
    check("화산*", &["화산이 폭발했다"], &["산"]);
    check("ვულკანი", &["ისლანდიის ვულკანი"], &["ვულკან"]);
    check("հրաբուխ", &["ՀՐԱԲՈՒԽ Իսլանդիայում"], &["հրաբ"]);
}

#[test]
fn emoji_are_words() {
    check("🌋", &["🌋 again", "Iceland🌋", "🌋\u{fe0f}!"], &["🏔"]);
    check("👍", &["👍🏽"], &["👎"]);
}
