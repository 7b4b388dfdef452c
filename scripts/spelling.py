"""Words of pages that look misspelt: slips of the hand beside words that are written often.

No dictionary knows the words of privacy, so the pages are their own: a word that is rare here but differs
from a frequent one by one slip (two letters exchanged, one doubled, dropped, added or replaced) is looked at
by a person, who mends it or writes it into ``ACCEPTED``. Endings are no slips: ``row`` and ``rows`` are both
words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEAST_LETTERS = 6  # shorter words have too many neighbours that are words
FREQUENT, RARE = 8, 2
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ENDING = 2  # letters at the end that may make another word
_CODE = re.compile(
    r"^```.*?^```$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)|https?://\S+|\$[^$]*\$", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"(?<![\w.'/-])[A-Za-z]?[a-z]+(?![\w/'-])")
# Words that are right although a frequent one is near. Entries leave with their pages.
ACCEPTED = {
    *(
        "charged",
        "decoded",
        "farther",
        "latter",
        "locked",
        "marked",
        "planes",
        "poison",
        "premise",
        "serves",
        "shaped",
    ),
    *("picked", "shaved", "spared", "spares", "stores", "though", "titles"),
}
# Slips that people make everywhere, whatever else a page says.
COMMON = {
    *("accomodate", "acheive", "accross", "adress", "alot", "apparant", "arguement", "begining", "beleive"),
    *("calender", "catagory", "commited", "concious", "definately", "dependant", "dissapear", "embarass"),
    *("enviroment", "existance", "foriegn", "goverment", "grammer", "guarantie", "happend", "independant"),
    *("knowlege", "lenght", "liase", "maintainance", "millenium", "neccessary", "noticable", "occassion"),
    *("occured", "occurence", "paralel", "persistant", "posession", "prefered", "privelege", "proceedure"),
    *("publically", "recieve", "recomend", "refered", "relevent", "seperate", "seperately", "similiar"),
    *("succesful", "supress", "supressed", "supression", "tommorow", "transfered", "treshold", "truely"),
    *("untill", "usefull", "wich", "withold"),
}


def pages() -> list[Path]:
    """Give the English pages."""
    written = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in written if not re.search(r"\.(de|tr)\.md$", path.name)]


def words_of(text: str) -> Counter[str]:
    """Count the words of a page that are not code."""
    return Counter(word.lower() for word in _WORD.findall(_CODE.sub(" ", text)))


def slips(word: str) -> Iterator[str]:
    """Give what a hand may have meant: one slip away, before the ending."""
    for place in range(1, len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        if place < len(word) - _ENDING:
            yield word[:place] + word[place + 1 :]
            yield from (word[:place] + letter + word[place + 1 :] for letter in _LETTERS)
            yield from (word[:place] + letter + word[place:] for letter in _LETTERS)


def misspelt(counts: Counter[str], known: Counter[str]) -> dict[str, str]:
    """Give rare words of a page that lie beside a frequent one of all pages, and that one."""
    found: dict[str, str] = {}
    for word in counts:
        if word in COMMON:
            found[word] = "a slip that many make"
        if len(word) < LEAST_LETTERS or known[word] > RARE or word in ACCEPTED:
            continue
        near = next((one for one in slips(word) if one != word and known[one] >= FREQUENT), None)
        if near is not None:
            found[word] = near
    return found


def known_words() -> Counter[str]:
    """Count the words of all pages."""
    return sum((words_of(path.read_text("utf-8")) for path in pages()), Counter())
