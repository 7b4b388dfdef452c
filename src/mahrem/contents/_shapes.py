"""Content that its writing alone gives away: addresses of machines and mailboxes, plates, coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from mahrem.contents._distinct import DistinctCells, contains, portion, read_lists, surprise
from mahrem.contents._findings import ContentFinding
from mahrem.types import Mask

FEW = 4  # distinct values below which a loose shape proves nothing


@dataclass(frozen=True)
class Shape:
    """Recognise values by a pattern that little else fits.

    Guarantees:
        - The share is that of rows whose value fits the pattern.
    """

    kind: str
    pattern: str
    within: str = ""  # the same inside a longer text
    least: float = 0.0  # share below which nothing is said
    distinct: int = 1  # values that must fit

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds these values."""
        fits = cells.matches(self.pattern)
        inside = cells.also(fits, self.within) if self.within else fits
        if inside.sum() < self.distinct or cells.share(inside) <= self.least:
            return None
        reason = "shaped" if fits.sum() * 2 >= inside.sum() else "within"
        return cells.finding(self.kind, inside, 0.98 if cells.share(inside) >= 0.5 else 0.9, reason)


SIXTH = (  # version 6
    r"(?i)^\[?(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|"
    r"(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?(?:\d{1,3}(?:\.\d{1,3}){3})?)"
    r"\]?(?:%\w+)?(?:/\d{1,3})?(?::\d{1,5})?$"
)


@dataclass(frozen=True)
class IpAddress:
    """Recognise addresses of machines, of both versions; numbers of program versions are none."""

    kind: str = "ip"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds such addresses."""
        octet = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
        four = cells.matches(
            rf"^(?:[Ii][Pp]\s*[:=]?\s*)?(?:{octet}\.){{3}}{octet}(?:/\d{{1,2}}|:\d{{1,5}})?$"
        )
        if four.any():
            large = (
                cells.texts.filter(pl.Series(four))
                .head(2000)
                .str.contains(r"(?:^|\.|\D)(?:[4-9]\d|[12]\d\d)(?:\.|$|/|:)")
            )
            if portion(large) < 0.3:  # 2.14.0.3: a version
                four = np.zeros_like(four)
        either = cells.also(four, SIXTH) & ~cells.matches(r"^\W*$")
        return cells.finding(self.kind, either, 0.97, "shaped") if either.any() else None


@dataclass(frozen=True)
class VehicleNumber:
    """Recognise vehicle identification numbers by check digit, or where there is none by make."""

    kind: str = "vin"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds such numbers."""
        from mahrem.contents._numbers import VIN  # tables without such numbers do without

        checked = VIN(cells)
        if checked is not None:
            return checked
        # Makers outside North America and China use the ninth place as they like: makers' codes are left.
        maker = (
            r"^(?:W(?:VW|V[12]|DB|DD|DC|BA|BS|BY|AU|A1|P0|P1|0L|F0|V2|MW)|VF[13678]|VSS|ZF[AF]|ZAR|TMB|"
            r"NM[0T4]|"
            r"NLH|SAL|SAJ|SCC|YV1|JT[DEHMN]|KMH|KNA|UU1)"
        )
        by_maker = contains(cells.compact, maker + r"[A-HJ-NPR-Z0-9]{11}\d{3}$")
        if by_maker.sum() < FEW or cells.share(by_maker) < 0.5:
            return None
        return cells.finding(self.kind, by_maker, 0.85, "shaped")


TURKISH = (
    r"^(?:0[1-9]|[1-7]\d|8[01])[ -]?"
    r"(?:[A-PR-VYZ][ -]?\d{4,5}|[A-PR-VYZ]{2}[ -]?\d{3,4}|[A-PR-VYZ]{3}[ -]?\d{2,3})$"
)
BRITISH = r"^[A-Z]{2}\d{2} ?[A-Z]{3}$"
OTHER_PLATES = (
    r"^[A-Z]{2}[ -]?\d{3}[ -]?[A-Z]{2}$|^\d{1,4}[ -][A-Z]{2,3}[ -]\d{2}$",  # France, Italy
    r"^\d{4} ?[A-Z]{3}$|^[A-Z]{1,2} \d{4} [A-Z]{1,2}$",  # Spain
    (
        r"^[A-Z]{1,2}-\d{2,3}-[A-Z]{1,2}$|^\d{1,2}-[A-Z]{2,3}-(?:\d{1,2}|[A-Z]{2})$|"  # Netherlands
        r"^[A-Z]{2}-[A-Z]{2}-\d{2}$"
    ),
    r"^[A-Z]{3} \d{2}[A-Z\d]$|^[A-Z]{3}[ -]\d{4}$",  # Sweden, North America
    r"^[A-Z]{2,3} [A-Z]{0,2}\d[A-Z\d]{2,4}$",  # Poland
)


@cache
def _german() -> str:
    """Give the pattern of German plates, which begin with a district."""
    districts = sorted(read_lists()["districts"].split(), key=len, reverse=True)
    return rf"^(?:{'|'.join(districts)})(?:-| - | )[A-Z]{{1,2}}[ -]?[1-9]\d{{0,3}} ?[EH]?$"


@dataclass(frozen=True)
class Plate:
    """Recognise number plates of Turkey, Germany, the United Kingdom and some neighbours."""

    kind: str = "plate"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds number plates."""
        capitals = cells.texts.str.to_uppercase()
        own = (TURKISH, _german(), BRITISH)
        for pattern in (*own, *OTHER_PLATES):
            fits: Mask = contains(capitals, pattern)
            shaped = cells.matches(r"(?i)^[\dA-ZÄÖÜ]{1,4}[ -]*[A-Z]{0,3}[ -]*\w{1,5}$")
            hits, tries = int(fits.sum()), int((shaped | fits).sum())
            if hits < FEW or cells.share(fits) < 0.5 or surprise(hits, tries, 0.25) < 5:
                continue
            # One beginning for all is a series of codes; looser shapes must begin in many ways.
            least = min(3, hits // 2) if pattern in own else max(3, min(10, hits // 3))
            if capitals.filter(fits).str.slice(0, 2).n_unique() >= least:
                return cells.finding(self.kind, fits, 0.85, "shaped")
        return None


MAIL = (
    r"[A-Za-z0-9._%+\-çğıöşüÇĞİÖŞÜäÄßéèêàâñ']{1,64}@"
    r"(?:[A-Za-z0-9çğıöşüäß](?:[A-Za-z0-9çğıöşüäß\-]{0,62})\.)+[A-Za-z]{2,24}"
)
HIDDEN_MAIL = (
    r"[a-z0-9._\-]+ ?[\[({] ?(?:at|ät|et|@) ?[\])}] ?[a-z0-9\-]+(?:\.| ?[\[({])"  # ada [at] example [dot] org
)
EMAIL = Shape(
    "email",
    rf"^(?:mailto:)?{MAIL}$",
    rf"(?i)(?:^|[\s<(\[:;,\"'=/]){MAIL}(?:$|[\s>)\],;:.!?\"'/])|{HIDDEN_MAIL}",
)


@dataclass(frozen=True)
class WebAddress:
    """Recognise web addresses, and names that people go by there."""

    address: Shape
    handles: str = r"(?i)^@[a-z0-9_.]{3,30}$"
    stems: int = 5  # fewer different words behind the sign are categories

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds such addresses or names."""
        handles = cells.texts.filter(pl.Series(cells.matches(self.handles)))
        if handles.str.replace_all(r"[0-9_.]", "").n_unique() >= self.stems:
            return cells.finding("url", cells.matches(self.handles), 0.8, "shaped")
        return self.address(cells)


URL = WebAddress(
    Shape(
        "url",
        r"(?i)^<?(?:(?:https?|ftp|sftp|file|ws)://\S+|www\.[a-z0-9\-]+\.\S+)$",
        r"(?i)(?:^|[\s<(\"':=])(?:https?://[^\s]{3,}|www\.[a-z0-9\-]+\.[a-z]{2,}|(?:[a-z0-9\-]+\.)+(?:com|org|net|edu|gov|de|tr|uk|io|info|fr|it|es|nl|pl|eu|biz)/\S*)",
    )
)
MAC = Shape(
    "mac",
    r"(?i)^(?:mac\s*[:=]?\s*)?(?:[0-9a-f]{2}([:\-])(?:[0-9a-f]{2}[:\-]){4}[0-9a-f]{2}|"
    r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})$",
)


@dataclass(frozen=True)
class Hash:
    """Recognise UUIDs, and what was hashed or encoded: whoever has the ids can make the same again.

    Guarantees:
        - Numbers and words alone are none: letters and digits must be mixed as chance mixes them.
    """

    kind: str = "uuid"
    mixed: float = 0.85  # of values so long in which letters and digits take turns

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds UUIDs or hashes."""
        whole = cells.matches(
            r"(?i)^(?:urn:uuid:)?[{(]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[)}]?$|"
            r"^0x[0-9a-f]{32,64}$|^(?:bc1|ltc1|tb1)[02-9ac-hj-np-z]{11,71}$|"  # purses
            r"^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64})$"
        )
        for pattern, signs in (
            # One letter in front or behind is an account or a number of somebody.
            (r"^(?:[0-9a-f]{12,128}|[0-9A-F]{12,128})$", (r"[a-fA-F].*[0-9].*[a-fA-F].*[0-9]",)),
            (r"^[A-Za-z0-9+/_\-]{16,}={0,2}$", (r"[a-z]", r"[A-Z]", r"\d")),
        ):
            shaped = cells.matches(pattern)
            several = np.logical_and.reduce([cells.matches(sign) for sign in signs])
            if shaped.sum() >= FEW and (shaped & several).sum() >= self.mixed * shaped.sum():
                whole |= shaped & several
        return cells.finding(self.kind, whole, 0.95, "shaped") if whole.any() else None


UUID = Hash()
_DEGREES = r"[-+]?\d{1,3}[.]\d{3,}\s*°?\s*[NSEWnsewOoKkDdBbGg]?"
_ROUGH = r"[-+]?\d{1,3}[.]\d{2,}"
_COMMA = r"[-+]?\d{1,3},\d{2,}"
WRITTEN_PLACES = Shape(
    "coordinates",
    rf"^[(\[]?(?:lat\w*\s*[:=]?\s*)?{_DEGREES}\s*(?:[,;|/]\s*|\s+)(?:l\w+\s*[:=]?\s*)?{_DEGREES}[)\]]?$|"
    rf"^[(\[]?{_ROUGH}\s*[,;|/]\s*{_ROUGH}[)\]]?$|^[(\[]?{_COMMA}\s*[;|/]\s*{_COMMA}[)\]]?$|"
    r"(?i)^(?:srid=\d+;)?point\s*z?\s*\(|"
    r"^\d{1,3}\s*°\s*\d{1,2}\s*['′’]\s*(?:\d{1,2}(?:[.,]\d+)?\s*(?:[\"″”]|''))?\s*[NSEWOKDBG]?",
    least=0.2,
)
DOCUMENT = Shape(  # lines that machines read in passports and identity cards
    "document",
    r"(?i)^[A-Z0-9<]{30}(?:[A-Z0-9<]{6}|[A-Z0-9<]{14})?$",
    r"(?i)\b[PIACV][A-Z<][A-Z]{3}[A-Z]+<[A-Z<]{8,}",
)
IP = IpAddress()
VEHICLE = VehicleNumber()
PLATE = Plate()
