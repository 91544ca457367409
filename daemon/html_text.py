"""The readable text of a web page, for a process of its own: a hostile page can keep a parser busy for hours.

Importing this imports nothing else of Millpond, and ``text_of`` imports the parser, an extra.
"""

import codecs

MAIN_MIN_CHARS = 200
"""A shorter main part is no article: then the text of the whole page is taken."""


def text_of(body: bytes, charset: str, is_html: bool, links: bool) -> tuple[str, str]:
    """Title and text of a page.

    Args:
        body: the page.
        charset: as the server named it; empty: it named none.
        is_html: whether it is HTML; else the text is the whole body, without a title.
        links: whether the address of each link stands behind its text.
    """
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - an extra
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5  # noqa: PLC0415
    from resiliparse.parse.html import HTMLTree  # noqa: PLC0415

    named = map_encoding_to_html5(charset, fallback_utf8=False) if charset else None
    name = named or detect_encoding(body, from_html_meta=is_html) or "utf-8"
    try:
        # A page that was cut may end inside a character, which this leaves out.
        text = codecs.getincrementaldecoder(name)().decode(body).removeprefix("\ufeff")
    except (LookupError, UnicodeError):
        text = bytes_to_str(body, name, "replace")
    if not is_html:
        return "", text
    tree = HTMLTree.parse(text)
    main = extract_plain_text(tree, main_content=True, links=links)
    whole = main if len(main) >= MAIN_MIN_CHARS else extract_plain_text(tree, links=links)
    return " ".join((tree.title or "").split()), whole.strip()
