//! Short lines around a text that say nothing of its subject: how long reading takes, “3 hours
//! ago”, “12 comments”, “1 of 5”, buttons, handles and the posts of authors. Pure: lines in,
//! answers out.

use super::spoken::phrases::{counted, has, phrases};

/// Characters of such a line.
const LINE_CHARS_MAX: usize = 60;

/// Beginnings and parts of a line with a reading time.
const READING: &str = "\
    reading time|read time|time to read|lesezeit|lesedauer|temps de lecture|tiempo de lectura|\
    tempo di lettura|tempo de leitura|leestijd|læsetid|lesetid|lästid|lukuaika|czas czytania|\
    doba čtení|время чтения|час читання|okuma süresi|waktu baca|阅读时间|閱讀時間|読了時間";
const READ_IN: &str = "\
    min read|mins read|minute read|minutes read|min lesezeit|min. lesezeit|minuten lesezeit|\
    min de lecture|minutes de lecture|min de lectura|minutos de lectura|min di lettura|\
    minuti di lettura|min de leitura|minutos de leitura|min leestijd|min lesen|мин чтения|\
    мин. чтения|minuten gelesen|dk okuma";

/// Words before and after an age, such as “3 hours ago”.
const AGE_BEGINS: &str = "vor|il y a|hace|há|acum|před|pred|منذ|قبل";
const AGE_ENDS: &str = "\
    ago|fa|geleden|temu|назад|тому|sedan|siden|sitten|önce|पहले|yang lalu|trước|ที่แล้ว|前|전";
const AGE_UNITS: &str = "\
    sec|min|hour|hr|day|week|month|year|stunde|tag|woche|monat|jahr|heure|jour|semaine|mois|an|\
    hora|día|dia|semana|mes|mês|año|ano|or|giorn|settiman|ann|uur|dag|wek|maand|jaar|godz|dni|\
    tyg|час|мин|дн|день|день|недел|tim|time|uke|veck|vik|tunti|päiv|saat|dakika|gün|ساع|دق|يوم|\
    घंट|मिनट|दिन|jam|menit|hari|giờ|phút|ngày|ชั่วโมง|นาที|วัน|小时|小時|分|時間|天|日|시간|분|일|oră|\
    ore|zile|hodin|dny|dnů";

/// Things that sites count.
const COUNTERS: &str = "\
    view|read|share|like|clap|retweet|aufruf|mal gelesen|mal geteilt|vue|partage|vista|visita|\
    lectura|visualizza|condivision|visualiza|compartilhament|weergave|visning|просмотр|перегляд|\
    görüntülenme|okunma|lượt xem|阅读|閱讀|浏览|瀏覽|次";

/// Buttons, as they stand alone.
const BUTTONS: &str = "\
    facebook|twitter|linkedin|pinterest|whatsapp|telegram|reddit|flipboard|tumblr|email|e-mail|\
    mail|messenger|bluesky|threads|mastodon|pocket|weibo|wechat|tweet|pin|pin it|share|\
    copy|copy link|copy url|link|print|save|more|comment|comments|listen|follow|subscribe|\
    facebook twitter|share tweet|text size|reset|a a|aa|a- a+|by|von|par|teilen|twittern|\
    drucken|merken|vorlesen|hören|kommentieren|partager|tweeter|envoyer|imprimer|écouter|\
    enregistrer|réagir|compartir|\
    tuitear|imprimir|guardar|escuchar|comentar|condividi|stampa|salva|ascolta|compartilhar|\
    compartilhe|salvar|ouvir|delen|bewaren|luister|dela|del|jaa|lyssna|lytt|udostępnij|\
    drukuj|zapisz|sdílet|tisk|megosztás|distribuie|поделиться|печать|слушать|поділитися|paylaş|\
    dinle|شارك|طباعة|مشاركة|شیئر|שתף|साझा करें|शेयर करें|シェア|ツイート|印刷|保存|分享|打印|列印|收藏|\
    공유|인쇄|글자크기|แชร์|chia sẻ|bagikan|cetak";

/// Posts of authors, as they follow a name.
const ROLES: &str = "\
    reporter|correspondent|editor|columnist|contributor|writer|journalist|critic|staff|producer|\
    redakteur|redakteurin|korrespondent|korrespondentin|autor|autorin|journaliste|rédacteur|\
    rédactrice|correspondant|correspondante|redactor|redactora|corresponsal|periodista|\
    giornalista|inviato|redattore|repórter|jornalista|redacteur|verslaggever|redaktör|\
    journalist|dziennikarz|korespondent|корреспондент|журналист|обозреватель|muhabir|記者|记者|기자";

/// Whether a line says how long reading takes, such as “5 min read”.
pub fn is_reading_time(line: &str) -> bool {
    let line = line.to_lowercase();
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let has_digit = line.bytes().any(|byte| byte.is_ascii_digit());
    let starts = line.starts_with(|c: char| c.is_ascii_digit());
    is_short(line)
        && has_digit
        && (phrases(READING).any(|words| line.starts_with(words))
            || starts
                && (phrases(READ_IN).chain(phrases(READING)).any(|words| line.contains(words)))
            || line.starts_with("この記事は") && line.ends_with("読めます"))
}

/// Whether a line is an age, such as “Updated 3 hours ago”.
pub fn is_age(line: &str) -> bool {
    let line = line.to_lowercase();
    let trimmed = line.trim_matches(|c: char| !c.is_alphanumeric());
    let updated = ["updated ", "last updated ", "published ", "posted ", "aktualisiert "];
    let age = updated.iter().find_map(|word| trimmed.strip_prefix(word)).unwrap_or(trimmed);
    if !is_short(age) || age.split_whitespace().count() > 6 || line.ends_with(['.', '!', '?']) {
        return false;
    }
    let begins = |word: &str| age.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '));
    let ends = |word: &str| {
        let is_joined = matches!(word, "前" | "전" | "ที่แล้ว");
        age.strip_suffix(word).is_some_and(|rest| is_joined || rest.ends_with(' '))
    };
    let is_age = phrases(AGE_BEGINS).any(begins) || phrases(AGE_ENDS).any(ends);
    let number = age.bytes().any(|byte| byte.is_ascii_digit());
    let one = ["a ", "an ", "einer ", "einem ", "une ", "un ", "una ", "uma ", "een ", "en "];
    let has_number = number || one.iter().any(|word| age.contains(word));
    let words = age.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| !phrases(AGE_ENDS).any(|end| end == *word));
    let is_unit = |word: &str| phrases(AGE_UNITS).any(|unit| word.starts_with(unit));
    is_age && has_number && (words.any(is_unit) || age.ends_with(['前', '전']))
}

/// Whether a line is a number of comments, views or the like.
pub fn is_count(line: &str) -> bool {
    let line = line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '\u{a0}');
    let rest = line.trim_start_matches(is_number);
    let rest = match rest.strip_prefix(['k', 'm']) {
        Some(after) if !after.starts_with(char::is_alphabetic) => after,
        _ => rest,
    };
    let what = rest.trim_start();
    rest.len() < line.len()
        && what.split_whitespace().count() <= 2
        && (counted(what) || phrases(COUNTERS).any(|word| what.starts_with(word)))
}

/// Whether a line is the number of a picture, such as “1 of 12”.
pub fn is_picture_number(line: &str) -> bool {
    let line = line.to_lowercase();
    let words = ["image ", "photo ", "slide ", "picture ", "bild ", "foto ", "slide: "];
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    let line = words.iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    let between = ["/", " of ", " von ", " sur ", " de ", " di ", " из ", " van ", " av "];
    between.iter().any(|word| {
        line.split_once(word).is_some_and(|(one, all)| {
            let number = |text: &str| text.trim().parse::<u16>().ok();
            number(one).zip(number(all)).is_some_and(|(one, all)| one <= all && all < 400)
        })
    })
}

/// Whether a line is a button and nothing else, perhaps with a number.
pub fn is_button(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_edge = |c: char| !c.is_alphabetic() && c != '+';
    let line = line.trim_matches(is_edge);
    is_short(line) && has(BUTTONS, line)
}

/// Whether a line is the name of an account or an address of mail.
pub fn is_handle(line: &str) -> bool {
    let line = line.trim();
    let is_one_word = is_short(line) && !line.contains(char::is_whitespace);
    is_one_word
        && match line.split_once('@') {
            Some(("", name)) => name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.'),
            Some((_, host)) => host.contains('.'),
            None => false,
        }
}

/// Whether a line names the post of an author, such as “Political correspondent”.
pub fn is_role(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    is_short(line)
        && line.split_whitespace().count() <= 6
        && !line.ends_with(['.', '!', '?', ':'])
        && words.any(|word| has(ROLES, word))
}

fn is_short(line: &str) -> bool {
    !line.is_empty() && line.chars().count() <= LINE_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: impl Fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        let wrong = yes.iter().filter(|line| !is(line)).chain(no.iter().filter(|line| is(line)));
        assert_eq!(wrong.collect::<Vec<_>>(), [&""; 0]);
    }

    #[test]
    fn reading_times_are_known_in_many_languages() {
        let yes = [
            "5 min read",
            "Reading time: 4 minutes",
            "Lesezeit: 3 Min.",
            "Temps de lecture : 4 min",
            "4 min de lectura",
            "Время чтения: 2 минуты",
            "この記事は約5分で読めます",
            "阅读时间 3 分钟",
            "· 6 minuti di lettura",
        ];
        check(is_reading_time, &yes, &["Reading time and again", "5 minutes later he read it"]);
    }

    #[test]
    fn ages_are_known_in_many_languages() {
        let yes = [
            "3 hours ago",
            "Updated an hour ago",
            "vor 2 Stunden",
            "il y a 3 heures",
            "hace 5 minutos",
            "há 2 horas",
            "2 ore fa",
            "3 uur geleden",
            "2 godziny temu",
            "5 часов назад",
            "3小时前",
            "5時間前",
            "3시간 전",
            "منذ 3 ساعات",
            "2 saat önce",
            "for 3 timer siden",
        ];
        let no = [
            "Long ago",
            "It all began three years ago.",
            "Vor dem Haus",
            "10 things that he said long ago",
            "2 Fast",
            "戦前",
        ];
        check(is_age, &yes, &no);
    }

    #[test]
    fn counts_pictures_buttons_handles_and_posts() {
        let counts =
            ["12 Comments", "1.2K views", "3 Kommentare", "0 commentaires", "1,204 shares"];
        check(
            is_count,
            &counts,
            &["12 angry men", "3 reasons", "1984", "5 likely causes of it all", "3 response plans"],
        );
        let pictures = ["1 of 12", "2/5", "Image 1 of 3", "Bild 2 von 9"];
        check(is_picture_number, &pictures, &["24/7 rescue", "9 of 5", "One of 12", "1/2018"]);
        let buttons = ["Share", "Tweet 12", "Facebook", "A- A+", "Partager", "分享", "Поделиться"];
        check(is_button, &["By:"], &[]);
        check(is_button, &buttons, &["Share prices", "Facebook fined", "1984", "…"]);
        check(is_handle, &["@janeroe", "jane@roe.example"], &["@ noon", "a@b", "@home, alone"]);
        let posts = ["Political correspondent", "Staff Writer, Boston", "Redakteurin Politik"];
        check(is_role, &posts, &["The editor fell.", "Reported losses", "Written in the stars"]);
    }
}
