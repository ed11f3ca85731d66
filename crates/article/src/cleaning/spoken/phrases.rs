//! Words that introduce what is not the article, in lower case, in the languages of most pages.
//! Each table is one text, with `|` between the phrases.

/// Headings above lists of links.
pub const HEADS: &str = "\
        related|related articles|related stories|related story|related posts|related content|\
    related topics|related news|related links|related reading|related coverage|related article|\
    related items|read more|read next|read also|also read|see also|see more|more|more info|\
    more from|more on this|more on this story|more on this topic|more stories|more news|\
    more about|more articles|further reading|most read|most popular|most viewed|popular|\
    popular stories|popular posts|trending|trending now|trending stories|recommended|\
    recommended for you|recommended stories|recommended reading|you may also like|\
    you might also like|you may like|you might like|you may also be interested in|up next|next|\
    next article|previous article|don't miss|don’t miss|editor's picks|editors' picks|\
    editor’s picks|top stories|latest news|latest stories|latest posts|recent posts|\
    in this article|share|share this|share this article|share this story|share this post|share on|\
    share this:|tags|tagged|topics|filed under|filed in|categories|keywords|comments|\
    leave a comment|leave a reply|join the conversation|newsletter|sign up|follow us|\
    from around the web|from our partners|sponsored links|mehr zum thema|zum thema|lesen sie auch|\
    auch interessant|weitere artikel|das könnte sie auch interessieren|\
    das könnte dich auch interessieren|verwandte artikel|verwandte themen|meistgelesen|\
    schlagwörter|themen|teilen|artikel teilen|kommentare|mehr|weiterlesen|lesetipp|lire aussi|\
    à lire aussi|a lire aussi|sur le même sujet|sur le même thème|voir aussi|articles liés|\
    articles similaires|partager|partager cet article|commentaires|les plus lus|lea también|\
    lee también|lee más|te puede interesar|te recomendamos|noticias relacionadas|\
    artículos relacionados|más noticias|más información|lo más leído|compartir|comentarios|\
    etiquetas|temas|leggi anche|potrebbe interessarti|potrebbe interessarti anche|\
    articoli correlati|condividi|commenti|i più letti|leia também|leia mais|veja também|\
    notícias relacionadas|saiba mais|mais lidas|compartilhe|comentários|lees ook|lees meer|\
    meer over|gerelateerd|gerelateerde artikelen|reacties|læs også|les også|läs också|läs mer|\
    czytaj także|zobacz także|zobacz też|читайте также|ещё по теме|ilgili haberler|関連記事|関連リンク|\
    相关阅读|相关新闻|延伸阅读|contents|table of contents|on this page|jump to|jump to section|inhalt|\
    inhaltsverzeichnis|sommaire|contenido|índice|目次|目录|目錄|share via|tell us what you think|\
    relaterte saker|relaterade artiklar|relaterede artikler|lue myös|čtěte také|přečtěte si|\
    kapcsolódó|citește și|citiți și|читайте також|по теме|теги|метки|διαβάστε επίσης|\
    σχετικά άρθρα|اقرأ أيضا|اقرأ أيضًا|اقرأ أيضاً|اقرأ المزيد|الوسوم|بیشتر بخوانید|כתבות נוספות|\
    यह भी पढ़ें|ये भी पढ़ें|あわせて読みたい|合わせて読みたい|おすすめ記事|人気記事|関連キーワード|推荐阅读|推薦閱讀|相关文章|相關文章|相關新聞|延伸閱讀|\
    热门文章|阅读下一篇|猜你喜欢|标签|관련기사|관련 기사|많이 본 뉴스|인기기사|추천 기사|เรื่องที่เกี่ยวข้อง|ข่าวที่เกี่ยวข้อง|\
    xem thêm|tin liên quan|bài viết liên quan|baca juga|artikel terkait|berita terkait|lasi arī|\
    taip pat skaitykite|benzer haberler|like this|like this:|share this page|seguir leyendo|\
    les mer|lue lisää|przeczytaj także|przeczytaj też|czytaj też|čtěte více|läs även|\
    ezt is olvasd|şunlar da ilginizi çekebilir|شاهد أيضا|baca selengkapnya|更多阅读|看更多";

/// Headings that no section of an article has. They go also without links under them, and with the
/// short texts between the links.
pub const SURE_HEADS: &str = "\
    related articles|related stories|related posts|related content|related news|\
    related coverage|most popular|most read|most viewed|popular stories|popular posts|\
    popular articles|trending now|trending stories|recommended for you|recommended stories|\
    recommended articles|you may also like|you might also like|you may also be interested in|\
    up next|read next|editor's picks|editors' picks|editor’s picks|latest stories|latest posts|\
    recent posts|more stories|more articles|from around the web|from our partners|\
    sponsored links|share this article|share this story|share this post|das könnte sie auch \
    interessieren|das könnte dich auch interessieren|das könnte ihnen auch gefallen|\
    auch interessant|weitere artikel|verwandte artikel|ähnliche artikel|ähnliche beiträge|\
    meistgelesen|meistgelesene artikel|articles liés|articles similaires|sur le même sujet|\
    sur le même thème|à lire aussi|à lire également|les plus lus|les articles les plus lus|\
    vous aimerez aussi|noticias relacionadas|artículos relacionados|te puede interesar|\
    también te puede interesar|lo más leído|las más leídas|articoli correlati|leggi anche|\
    potrebbe interessarti|potrebbe interessarti anche|i più letti|notícias relacionadas|\
    artigos relacionados|leia também|veja também|mais lidas|gerelateerde artikelen|lees ook|\
    meest gelezen|relaterade artiklar|relaterte saker|mest läst|mest lest|czytaj także|\
    zobacz także|zobacz również|najczęściej czytane|čtěte také|mohlo by vás zajímat|\
    související články|nejčtenější|kapcsolódó cikkek|articole similare|читайте также|\
    похожие статьи|материалы по теме|самое читаемое|читайте також|ilgili haberler|\
    bunlar da ilginizi çekebilir|مواضيع ذات صلة|مقالات ذات صلة|أخبار ذات صلة|الأكثر قراءة|\
    مطالب مرتبط|संबंधित खबरें|関連記事|関連ニュース|おすすめ記事|人気記事|あわせて読みたい|相关阅读|\
    相关新闻|相关文章|推荐阅读|热门文章|猜你喜欢|相關新聞|相關文章|延伸閱讀|관련기사|관련 기사|많이 본 뉴스|\
    인기기사|เรื่องที่เกี่ยวข้อง|ข่าวที่เกี่ยวข้อง|tin liên quan|bài viết liên quan|artikel terkait|\
    berita terkait|berita terpopuler";

/// Words before a link to another article.
pub const LEAD_INS: &str = "\
        read more|read next|read also|also read|read|see also|see more|related|related story|\
    related stories|related article|related articles|more|more on|more from|watch|watch more|\
    watch also|listen|don't miss|don’t miss|must read|you may also like|you might also like|\
    recommended|next|previous|click here|explore|keep reading|lesen sie auch|lesen sie mehr|\
    mehr dazu|mehr zum thema|siehe auch|auch interessant|lire aussi|à lire aussi|a lire aussi|\
    lire également|voir aussi|lea también|lee también|lee más|leer más|te puede interesar|\
    ver también|leggi anche|leia também|leia mais|veja também|saiba mais|lees ook|læs også|\
    les også|läs också|czytaj także|zobacz także|читайте также|tags|tagged|filed under|topics|\
    posted in|categories|more about|leggi di più|per approfondire|lue myös|čtěte také|citește și|\
    читайте також|по теме|теги|διαβάστε επίσης|اقرأ أيضا|اقرأ أيضًا|اقرأ أيضاً|بیشتر بخوانید|\
    यह भी पढ़ें|関連記事|相关阅读|延伸阅读|延伸閱讀|阅读下一篇|관련기사|xem thêm|đọc thêm|baca juga|lasi arī|schlagworte|\
    schlagwörter|mots-clés|etiquetas|photos|in pictures|video|lea además|lee además|mira también|\
    le puede interesar|no te pierdas|te recomendamos|leia ainda|confira|confira também|veja mais|\
    lire plus|à voir aussi|à lire sur le même sujet|pour aller plus loin|lesen sie dazu auch|\
    lesen sie dazu|lesen sie hier|lies auch|mehr lesen|lesetipp|leggi qui|guarda anche|\
    lees verder|bekijk ook|przeczytaj także|przeczytaj też|czytaj też|czytaj więcej|zobacz też|\
    читать также|смотрите также|подробнее|čtěte více|přečtěte si také|läs även|läs mer|les mer|\
    læs mere|lue lisää|ilgili haber|ezt is olvasd|شاهد أيضا|إقرأ أيضا|طالع أيضا|ये भी पढ़ें|\
    इसे भी पढ़ें|baca selengkapnya|simak juga|あわせて読みたい|更多阅读|看更多|查看更多";

/// Verbs of a request. `*` stands for the rest of a word.
pub const ACTIONS: &str = "\
        sign up|signup|subscribe|follow|join our|join us|register for|like us|get our|\
    get the latest|get the best|download our|download the|abonniere*|folgen sie|folge uns|\
    melden sie sich|jetzt anmelden|abonnez-vous|inscrivez-vous|suivez|recevez|suscríbete|\
    suscribite|síguenos|seguinos|regístrate|recibe|iscriviti|seguici|inscreva-se|assine|siga|\
    receba|schrijf je in|volg ons|meld je aan|prenumerera|följ oss|anmäl dig|tilmeld dig|følg os|\
    meld deg på|følg oss|tilaa|zapisz się|obserwuj|polub nas|subskrybuj|přihlaste se|odebírejte|\
    sledujte nás|iratkozz*|abonează-te|urmărește*|abone ol*|takip edin|подпи*|следите|підпи*|\
    ακολουθήστε|εγγραφείτε|اشترك*|تابعونا|تابعنا|تابعوا|登録*|フォロー*|購読*|关注*|關注*|订阅*|訂閱*|扫码*|구독*|\
    팔로우*|ติดตาม*|đăng ký|theo dõi|ikuti|berlangganan|dapatkan|find us|add us|connect with us";

/// Targets of a request.
pub const OBJECTS: &str = "\
    newsletter|newsletters|inbox|mailing list|email alert|email alerts|email updates|\
    our app|on twitter|on facebook|on instagram|on linkedin|on youtube|on telegram|\
    on whatsapp|on tiktok|on bluesky|on mastodon|on threads|on x|us on|our channel|\
    whatsapp channel|telegram channel|google news|auf twitter|auf facebook|auf instagram|\
    auf whatsapp|auf x|kanal|sur twitter|sur facebook|sur instagram|sur whatsapp|\
    notre chaîne|infolettre|en twitter|en facebook|en instagram|en whatsapp|en x|\
    nuestro canal|boletín|boletines|su twitter|su facebook|su instagram|su whatsapp|\
    no twitter|no facebook|no instagram|no whatsapp|nieuwsbrief|op twitter|op facebook|\
    nyhetsbrev*|nyhedsbrev*|uutiskirje*|biuletyn*|hírlev*|bülten*|push notification|\
    push notifications|breaking news alerts|telegram*|телеграм*|рассылк*|розсилк*|канал*|\
    newsletter*|النشرة|نشرتنا|فيسبوك|تويتر|تلغرام|يوتيوب|واتساب|メルマガ*|メールマガジン*|\
    ニュースレター*|公式アカウント*|チャンネル*|公众号*|微信*|微博*|电子报*|電子報*|粉絲*|채널*|뉴스레터*|\
    네이버*|카카오*|เฟซบุ๊ก*|ทวิตเตอร์*|ไลน์*|zalo";

/// Beginnings of lines that speak of the page and not of its subject.
pub const ABOUT_PAGE: &str = "\
            if you find an error|if you spot an error|spotted an error|spotted a mistake|\
    found a mistake|found an error|report an error|report a typo|see a typo|pokud jste v článku|\
    našli jste chybu|fehler gefunden|haben sie einen fehler|une erreur dans l|signaler une erreur|\
    has encontrado un error|¿has encontrado un error|hai notato un errore|нашли ошибку|\
    если вы нашли ошибку|kļūda rakstā|we use cookies|this site uses cookies|\
    this website uses cookies|our website uses cookies|by continuing to use this|\
    wir verwenden cookies|wir nutzen cookies|diese website verwendet|nous utilisons des cookies|\
    ce site utilise des cookies|utilizamos cookies|este sitio utiliza cookies|\
    utilizziamo i cookie|questo sito utilizza|wij gebruiken cookies|vi bruger cookies|\
    мы используем cookie|already a subscriber|already have an account|subscribe to continue|\
    subscribe to read|sign in to continue|log in to continue|this article is for subscribers|\
    this content is for subscribers|you have reached your limit|click to share|video ad feedback|\
    hide caption|toggle caption|enlarge this image|view comments|show comments|\
    listen to this article|your browser does not support|to view this video|\
    please enable javascript|javascript is disabled|was this article helpful|\
    was this page helpful|war dieser artikel hilfreich|cet article vous a-t-il|\
    support independent journalism|support our journalism|この記事は会員限定|この記事をシェア|分享到|扫一扫|责任编辑|責任編輯|\
    you must be logged in|please log in|please sign in|log in to comment|login to comment|\
    sign in or register|comments are closed|comments are moderated|let us know in the comments|\
    tell us in the comments|have your say|share your thoughts in the comments|do you have a story|\
    do you have a tip|have a tip?|got a tip|got a story|this entry was posted in|\
    this post was filed under|by signing up|by subscribing|by submitting your|\
    you can unsubscribe at|unsubscribe at any time|enter your email|your email address will not|\
    this site is protected by recaptcha|mit der anmeldung stimmen|en vous inscrivant|\
    al suscribirte|iscrivendoti|ao se inscrever|story continues below|article continues below|\
    article continues after|story continues after|wenn ihnen dieser artikel gefallen|\
    der artikel geht nach der|reszta artykułu pod|dalsza część artykułu pod|\
    this is a modal window|video player is loading|click here to subscribe|click here to sign up|\
    to read this article in full|to continue reading,|video herunterladen|copyrights ⓒ|무단 전재|무단전재|\
    read or share this story|sign in with|sign in to share|follow us on|suivez-nous sur|\
    folgen sie uns|síguenos en|seguici su|siga-nos|volg ons op|följ oss på|følg oss på|takip edin|\
    подписывайтесь на|підписуйтесь на|obserwuj nas";

/// Lines that stand alone around advertisements and buttons.
pub const ADS: &str = "\
            advertisement|advertisements|advertising|story continues below advertisement|\
    article continues below|article continues after advertisement|sponsored|sponsored content|\
    continue reading|continue reading below|continue reading the main story|scroll to continue|\
    share this article|share this story|share this post|share this|share on facebook|\
    share on twitter|tweet this|reuse content|print this article|email this article|\
    this story continues after the advertisement|anzeige|werbung|publicité|publicidad|pubblicità|\
    publicidade|advertentie|mostrar más|artikel teilen|report this ad|skip advertisement|\
    back to top|loading|ad feedback|scroll down to continue|read full story|\
    article continues after ad|partager sur facebook|nach oben|annonce|annons|reklama|реклама|\
    إعلان|広告|广告|廣告|광고|iklan|reklam|oglas|copy link|link copied|copied to clipboard|print|save|\
    bookmark|listen|gift this article|share full article|reply|zum seitenanfang|teilen|drucken|\
    merken|imprimer|partager|like loading|subscribe|subscribe now|sign in|log in|\
    copy link to clipboard|view gallery|view image in fullscreen|open image in gallery|\
    click to enlarge|enlarge image|play video|bild vergrößern|agrandir l'image|\
    la suite après la publicité|lire la suite après la publicité|continua após a publicidade|\
    continua depois da publicidade|continua a leggere dopo la pubblicità|\
    lees verder onder de advertentie|artikel gaat verder onder de advertentie|\
    artikkelen fortsetter under annonsen|artikeln fortsätter under annonsen|\
    artikeln fortsätter efter annonsen|artiklen fortsætter under annoncen|\
    artiklen fortsætter efter annoncen|juttu jatkuu mainoksen jälkeen|mainos|\
    článek pokračuje pod reklamou|hirdetés|publicitate|διαφήμιση|פרסומת|विज्ञापन|โฆษณา|quảng cáo|\
    scroll to continue with content|продолжение после рекламы|haberin devamı|jetzt abonnieren|\
    suscríbete|abbonati|bookmark the permalink|top of page|watch live|live updates|enlarge";

/// Headings above the comments of readers.
pub const COMMENTS: &str = "\
            comments|comment|leave a comment|leave a reply|post a comment|add a comment|\
    write a comment|join the discussion|join the conversation|reader comments|\
    cancel reply|kommentare|kommentar schreiben|commentaires|laisser un commentaire|comentarios|\
    deja un comentario|commenti|lascia un commento|comentários|deixe um comentário|reacties|\
    komentarze|комментарии|コメント|评论|0 comments|no comments|comments (0)|comments are closed|\
    join the debate|schreiben sie einen kommentar|kommentare lesen|laissez un commentaire|réagir|\
    escribe un comentario|ver comentarios|scrivi un commento|deixe seu comentário|\
    plaats een reactie|kommentarer|skriv en kommentar|dodaj komentarz|komentáře|hozzászólások|\
    yorumlar|yorum yap|التعليقات|댓글|ความคิดเห็น|bình luận|komentar|add your comment";

/// Words after the number of comments, as in “2 comments on this article”.
pub const COUNTED: &str = "\
    comment|comments|response|responses|reply|replies|thoughts on|thought on|kommentar|kommentare|\
    kommentarer|kommentit|kommentti|commentaire|commentaires|comentario|comentarios|comentário|\
    comentários|commento|commenti|reactie|reacties";

/// Words between such a number and the article.
const COUNTED_ON: &str = "on|to|for|in|zu|zum|sur|à|en|a|su|em|op|till|til";

/// Words of the link below a comment.
pub const REPLIES: &str = "\
    reply|reply to this|antworten|répondre|responder|rispondi|beantwoorden|reageer|svar|svara|\
    odpowiedz|odpovědět|ответить|відповісти|返信|回复|回覆|답글|yanıtla|رد";

/// Headings above a text about the author.
pub const AUTHORS: &str = "\
    about the author|about the authors|about the writer|about author|author information|\
    author bio|written by|über den autor|über die autorin|zur person|à propos de l'auteur|\
    à propos de l’auteur|sobre el autor|sobre o autor|sull'autore|over de auteur";

/// Whether a table has this phrase.
pub fn has(table: &str, phrase: &str) -> bool {
    phrases(table).any(|known| known == phrase)
}

/// Whether the words after a number count comments, and nothing else.
pub fn counted(what: &str) -> bool {
    phrases(COUNTED).any(|word| {
        what.strip_prefix(word).is_some_and(|rest| {
            let on = rest.strip_prefix(' ').and_then(|rest| rest.split(' ').next());
            rest.is_empty()
                || rest.starts_with(' ') && word.ends_with(" on")
                || on.is_some_and(|on| has(COUNTED_ON, on))
        })
    })
}

pub fn phrases(table: &str) -> impl Iterator<Item = &str> {
    table.split('|')
}

/// Returns the first place where a phrase of the table stands as whole words.
pub fn place(table: &str, line: &str) -> Option<usize> {
    phrases(table).filter_map(|phrase| place_of(phrase, line)).min()
}

fn place_of(phrase: &str, line: &str) -> Option<usize> {
    let (phrase, is_part) = match phrase.strip_suffix('*') {
        Some(part) => (part, true),
        None => (phrase, false),
    };
    // Scripts without spaces have no ends of words that one could see.
    let is_spaced = phrase.chars().all(|c| c < '\u{0e00}');
    let is_whole = |at: &usize| {
        let before = line[..*at].chars().next_back();
        let after = line[*at + phrase.len()..].chars().next();
        !is_spaced
            || !before.is_some_and(char::is_alphanumeric)
                && (is_part || !after.is_some_and(char::is_alphanumeric))
    };
    line.match_indices(phrase).map(|(at, _)| at).find(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words() {
        assert_eq!(place("us on|newsletter", "doctors follow the virus on its way"), None);
        assert_eq!(place("us on|newsletter", "follow us on mastodon"), Some(7));
        assert_eq!(place("канал*", "на наш каналах"), Some("на наш ".len()));
        assert_eq!(place("follow", "the following day"), None);
        assert_eq!(place("微信*", "请关注我们的微信号"), Some("请关注我们的".len()));
    }

    #[test]
    fn every_phrase_is_in_lower_case_and_trimmed() {
        let tables = [
            HEADS, SURE_HEADS, LEAD_INS, ACTIONS, OBJECTS, ADS, ABOUT_PAGE, COMMENTS, COUNTED,
            COUNTED_ON, REPLIES, AUTHORS,
        ];
        for phrase in tables.into_iter().flat_map(phrases) {
            assert_eq!(phrase, phrase.to_lowercase());
            assert_eq!(phrase, phrase.trim());
            assert!(!phrase.is_empty());
        }
    }
}
