"""Questions as text: ``mean(cost) by sex where age >= 18``. Errors point at the place.

::

    query      = function "(" [column {"," number}] ")" {"by" columns | "where" conditions}
    columns    = column {"," column}
    conditions = condition {"and" condition}
    condition  = column ("=" | "!=" | "<" | "<=" | ">" | ">=") value | column "in" "(" value {"," value} ")"
    column     = word | '"' anything '"'
    value      = number | "'" text "'"
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from mahrem.dp._tally import Condition
from mahrem.dp.queries._entries import QUERIES, spellings
from mahrem.dp.queries._query import Query
from mahrem.errors import InvalidParameter

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r'|(?P<name>"(?:[^"]|"")+")'
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<mark><=|>=|!=|<>|=|<|>|\(|\)|,))"
)
_OPERATORS = {"=", "!=", "<>", "<", "<=", ">", ">="}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parse_query(text: str) -> Query:
    """Read a question.

    Args:
        text: For example ``mean(cost) by sex where age >= 18``.

    Guarantees:
        - What is no question is refused with the place marked.
        - ``parse_query(str(query)) == query``.

    Example:
        >>> parse_query("quantile(cost, 0.9) by sex")
        Quantiles(by=('sex',), where=(), column='cost', levels=(0.9,))
    """
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split()
        self.place = 0

    def _split(self) -> list[_Token]:
        tokens, place = [], 0
        while self.text[place:].strip():
            match = _TOKEN.match(self.text, place)
            if match is None:
                start = place + len(self.text[place:]) - len(self.text[place:].lstrip())
                self._fail("this cannot be read", _Token("", "", start, start + 1))
            kind = str(match.lastgroup)
            tokens.append(_Token(kind, match[kind], match.start(kind), match.end(kind)))
            place = match.end()
        return tokens

    def query(self) -> Query:
        function = self._take("word", "a function such as count() or mean(cost)")
        words = spellings()
        if function.text.lower() not in words:
            near = difflib.get_close_matches(function.text.lower(), words, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(words)}"
            self._fail(f"{function.text!r} is not a function; {hint}", function)
        entry = QUERIES[words[function.text.lower()]]
        self._mark("(")
        columns = [] if entry.needs == "no column" else [self._column()]
        numbers: list[float] = []
        while self._at(","):
            numbers.append(self._number())
        closing = self._mark(")")
        fewest, most = entry.numbers
        if not fewest <= len(numbers) <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            self._fail(f"{function.text.lower()} takes {wanted} numbers behind the column", closing)
        rest = self._rest(grouped=entry.grouped)
        if self.place < len(self.tokens):
            self._fail("nothing may follow here; by and where come once", self._here())
        try:
            return entry.load().read(columns, numbers, **rest)
        except InvalidParameter as error:
            self._fail(str(error), function)

    def _rest(self, *, grouped: bool) -> dict[str, object]:
        rest: dict[str, object] = {}
        while self._at_word("by") or self._at_word("where"):
            word = self.tokens[self.place]
            part = word.text.lower()
            if part in rest or not grouped:
                self._fail(f"{part} cannot stand here", word)
            self.place += 1
            rest[part] = self._columns() if part == "by" else self._conditions()
        return rest

    def _columns(self) -> tuple[str, ...]:
        names = [self._column()]
        while self._at(","):
            names.append(self._column())
        return tuple(names)

    def _conditions(self) -> tuple[Condition, ...]:
        conditions = [self._condition()]
        while self._at_word("and"):
            self.place += 1
            conditions.append(self._condition())
        return tuple(conditions)

    def _condition(self) -> Condition:
        column = self._column()
        operator: Any
        if self._at_word("in"):
            self.place += 1
            self._mark("(")
            values = [self._value()]
            while self._at(","):
                values.append(self._value())
            closing = self._mark(")")
            if len({type(value) for value in values}) > 1:
                self._fail("a list holds numbers or texts, not both", closing)
            return self._checked(closing, column, "in", tuple(values))
        token = self._here()
        if token.text not in _OPERATORS:
            self._fail("a comparison is expected: = != < <= > >= in", token)
        self.place += 1
        operator = "!=" if token.text == "<>" else token.text
        value = self._here()
        return self._checked(value, column, operator, self._value())

    def _checked(self, place: _Token, column: str, operator: Any, value: Any) -> Condition:
        try:
            return Condition(column, operator, value)
        except InvalidParameter as error:
            self._fail(str(error), place)

    def _value(self) -> object:
        token = self._here()
        if token.kind == "text":
            self.place += 1
            return token.text[1:-1].replace("''", "'")
        if token.kind in {"word", "name"}:
            self._fail("a number or a text in 'single quotes' is expected", token)
        return self._number()

    def _column(self) -> str:
        token = self._here()
        if token.kind not in {"word", "name"}:
            self._fail('a column is expected; write odd names in "double quotes"', token)
        self.place += 1
        return token.text if token.kind == "word" else token.text[1:-1].replace('""', '"')

    def _number(self) -> float:
        return float(self._take("number", "a number").text)

    def _take(self, kind: str, wanted: str) -> _Token:
        token = self._here()
        if token.kind != kind:
            self._fail(f"{wanted} is expected", token)
        self.place += 1
        return token

    def _mark(self, mark: str) -> _Token:
        token = self._here()
        if token.kind != "mark" or token.text != mark:
            self._fail(f"{mark!r} is expected", token)
        self.place += 1
        return token

    def _at(self, mark: str) -> bool:
        if self._here().kind == "mark" and self._here().text == mark:
            self.place += 1
            return True
        return False

    def _at_word(self, word: str) -> bool:
        return self._here().kind == "word" and self._here().text.lower() == word

    def _here(self) -> _Token:
        if self.place < len(self.tokens):
            return self.tokens[self.place]
        return _Token("end", "", len(self.text.rstrip()), len(self.text.rstrip()) + 1)

    def _fail(self, reason: str, token: _Token) -> NoReturn:
        line = self.text.replace("\n", " ").replace("\t", " ")
        marks = " " * token.start + "^" * max(1, token.end - token.start)
        raise InvalidParameter(f"query: {reason}\n  {line}\n  {marks}") from None
