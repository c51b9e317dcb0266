"""Families of meaning: words that may name the same kind of value. They carry the weak rules of `binding`.

The families are small on purpose: what they miss is missed, not guessed.
"""

from __future__ import annotations

FAMILIES: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "date": "date day month year today week weekday deadline birthday period quarter dob",
        "time": "time hour minute timestamp datetime moment",
        "place": """location place address destination origin city region country town area venue position latitude
            longitude coordinate zip postal street airport station departure arrival coordinates geolocation from to""",
        "party": """sender recipient receiver owner user participant attendee member contact person assignee author
            customer client guest friend employee cast crew actor director creator artist staff manager player
            people mention follower host speaker organizer""",
        "money": "price cost amount value fee fare budget balance payment sum charge total limit salary rate income",
        "quantity": "number value quantity amount distance volume weight height length speed count score figure size",
        "text": """content text body message description note comment caption subject title summary line transcript
            output article paragraph post""",
        "file": "file folder directory path document attachment filename item content",
        "address": "email recipient sender participant attendee contact cc bcc mail owner to",
        "language": "language locale",
        "company": "company organization network brand vendor supplier merchant studio publisher firm business",
        "show": "movie film tv show series season episode media",
        "song": "song track album music playlist",
        "secret": "token credential session password auth access",
        "security": "stock symbol ticker share security",
        "picture": "image picture photo logo icon poster avatar",
        "measure": "unit kg cm lb lbs mile km meter gram inch feet celsius fahrenheit liter gallon",
        "link": "url link website webpage site page href uri",
    }.items()
}
_FAMILY_OF: dict[str, tuple[str, ...]] = {}
for _name, _words in FAMILIES.items():
    for _word in _words:
        _FAMILY_OF[_word] = (*_FAMILY_OF.get(_word, ()), _name)


def families(word: str) -> tuple[str, ...]:
    """The families of meaning that a singular word belongs to."""
    return _FAMILY_OF.get(word, ())
