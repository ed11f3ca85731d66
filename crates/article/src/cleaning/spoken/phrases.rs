//! Words that introduce what is not the article, in lower case, in the languages of most pages.
//! Each table is one text, with `|` between the phrases.

/// Headings above lists of links.
pub const HEADS: &str = "\
    related|related articles|related stories|related story|related posts|related content|\
    related topics|related news|related links|related reading|related coverage|\
    related article|related items|read more|read next|read also|also read|see also|see more|\
    more|more info|more from|more on this|more on this story|more on this topic|\
    more stories|more news|more about|more articles|further reading|most read|most popular|\
    most viewed|popular|popular stories|popular posts|trending|trending now|\
    trending stories|recommended|recommended for you|recommended stories|\
    recommended reading|you may also like|you might also like|you may like|you might like|\
    you may also be interested in|up next|next|next article|previous article|don't miss|\
    don’t miss|editor's picks|editors' picks|editor’s picks|top stories|latest news|\
    latest stories|latest posts|recent posts|in this article|share|share this|\
    share this article|share this story|share this post|share on|share this:|tags|tagged|\
    topics|filed under|filed in|categories|keywords|comments|leave a comment|leave a reply|\
    join the conversation|newsletter|sign up|follow us|from around the web|\
    from our partners|sponsored links|mehr zum thema|zum thema|lesen sie auch|\
    auch interessant|weitere artikel|das könnte sie auch interessieren|\
    das könnte dich auch interessieren|verwandte artikel|verwandte themen|meistgelesen|\
    schlagwörter|themen|teilen|artikel teilen|kommentare|mehr|weiterlesen|lesetipp|\
    lire aussi|à lire aussi|a lire aussi|sur le même sujet|sur le même thème|voir aussi|\
    articles liés|articles similaires|partager|partager cet article|commentaires|\
    les plus lus|lea también|lee también|lee más|te puede interesar|te recomendamos|\
    noticias relacionadas|artículos relacionados|más noticias|más información|lo más leído|\
    compartir|comentarios|etiquetas|temas|leggi anche|potrebbe interessarti|\
    potrebbe interessarti anche|articoli correlati|condividi|commenti|i più letti|\
    leia também|leia mais|veja também|notícias relacionadas|saiba mais|mais lidas|\
    compartilhe|comentários|lees ook|lees meer|meer over|gerelateerd|gerelateerde artikelen|\
    reacties|læs også|les også|läs också|läs mer|czytaj także|zobacz także|zobacz też|\
    читайте также|ещё по теме|ilgili haberler|関連記事|関連リンク|相关阅读|相关新闻|延伸阅读";

/// Words before a link to another article.
pub const LEAD_INS: &str = "\
    read more|read next|read also|also read|read|see also|see more|related|related story|\
    related stories|related article|related articles|more|more on|more from|watch|\
    watch more|watch also|listen|don't miss|don’t miss|must read|you may also like|\
    you might also like|recommended|next|previous|click here|explore|keep reading|\
    lesen sie auch|lesen sie mehr|mehr dazu|mehr zum thema|siehe auch|auch interessant|\
    lire aussi|à lire aussi|a lire aussi|lire également|voir aussi|lea también|lee también|\
    lee más|leer más|te puede interesar|ver también|leggi anche|leia também|leia mais|\
    veja também|saiba mais|lees ook|læs også|les også|läs också|czytaj także|zobacz także|\
    читайте также|tags|tagged|filed under|topics|posted in|categories|more about";

/// Verbs of a request.
pub const ACTIONS: &str = "\
    sign up|signup|subscribe|follow|join our|join us|register for|like us|get our|\
    get the latest|download our|download the|abonnieren|folgen sie|folge uns|\
    melden sie sich|abonnez-vous|inscrivez-vous|suivez|suscríbete|suscribite|síguenos|\
    seguinos|regístrate|iscriviti|seguici|inscreva-se|assine|siga|schrijf je in|volg ons";

/// Targets of a request.
pub const OBJECTS: &str = "\
    newsletter|inbox|mailing list|email alert|email updates|our app|on twitter|on facebook|\
    on instagram|on linkedin|on youtube|on telegram|on whatsapp|on tiktok|on x|us on|\
    our channel|google news|auf twitter|auf facebook|auf instagram|sur twitter|sur facebook|\
    en twitter|en facebook|boletín|su twitter|su facebook|no twitter|no facebook|\
    nieuwsbrief|op twitter|push notification|breaking news alerts";

/// Lines that stand alone around advertisements and buttons.
pub const ADS: &str = "\
    advertisement|advertisements|advertising|story continues below advertisement|\
    article continues below|article continues after advertisement|sponsored|\
    sponsored content|continue reading|continue reading below|\
    continue reading the main story|scroll to continue|share this article|share this story|\
    share this post|share this|share on facebook|share on twitter|tweet this|reuse content|\
    print this article|email this article|this story continues after the advertisement|\
    anzeige|werbung|publicité|publicidad|pubblicità|publicidade|advertentie|mostrar más|\
    artikel teilen|report this ad|skip advertisement|back to top|loading";

/// Headings above the comments of readers.
pub const COMMENTS: &str = "\
    comments|comment|leave a comment|leave a reply|post a comment|add a comment|\
    write a comment|join the discussion|join the conversation|reader comments|discussion|\
    cancel reply|kommentare|kommentar schreiben|commentaires|laisser un commentaire|\
    comentarios|deja un comentario|commenti|lascia un commento|comentários|\
    deixe um comentário|reacties|komentarze|комментарии|コメント|评论";

/// Words after the number of comments in such a heading, as in “2 comments on this article”.
pub const COUNTED: &str = "\
    comment|response|repl|thoughts on|kommentar|commentaire|comentario|comentário|commenti|\
    reacties";

/// Headings above a text about the author.
pub const AUTHORS: &str = "\
    about the author|about the authors|about the writer|about author|author information|\
    author bio|written by|über den autor|über die autorin|zur person|à propos de l'auteur|\
    à propos de l’auteur|sobre el autor|sobre o autor|sull'autore|over de auteur";

/// Whether a table has this phrase.
pub fn has(table: &str, phrase: &str) -> bool {
    phrases(table).any(|known| known == phrase)
}

pub fn phrases(table: &str) -> impl Iterator<Item = &str> {
    table.split('|')
}
