"""Where people live: street addresses and postcodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from mahrem.contents._distinct import DistinctCells, ascii_digits, contains, portion
from mahrem.contents._findings import ContentFinding
from mahrem.contents._shapes import WRITTEN_PLACES, Shape
from mahrem.types import Floats, Mask

# Words of streets, folded; with the number of a house or flat beside them.
TURKISH = (
    r"\b(?:sokak|sokagi|sok|sk|cadde|caddesi|cad|cd|mahalle|mahallesi|mah|mh|bulvar|bulvari|blv|"
    r"bulv|apartmani|apt|sitesi|meydani|koyu|yolu)\b"
)
GERMAN = (
    r"(?:strasse|str\.|str\b|\bstr |weg\b|allee\b|platz\b|gasse\b|ring\b|damm\b|ufer\b|chaussee\b|"
    r"steig\b|pfad\b|promenade\b|"
    r"\bam |\ban der |\bim |\bauf dem |\bzum |\bzur |\bunter den |hof\b|berg\b|markt\b|wall\b|"
    r"graben\b|park\b|stieg\b|kamp\b)"
)
ENGLISH = (
    r"\b(?:street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|court|ct|boulevard|blvd|way|place|pl|"
    r"close|crescent|cres|terrace|"
    r"ter|highway|hwy|parkway|pkwy|square|sq|gardens|gdns|grove|mews|walk|row|hill|circle|cir|"
    r"trail|trl|loop|green|view|rise|alley|bend|branch|bridge|brook|burg|bypass|camp|canyon|cape|causeway|"
    r"center|centre|chase|circuit|cliff|common|copse|corner|course|cove|creek|crest|crossing|dale|dell|divide|"
    r"driveway|estate|expressway|extension|fall|ferry|field|flat|ford|forest|forge|fork|fort|freeway|frontage|"
    r"garden|gate|gateway|glen|ground|harbor|harbour|haven|heath|heights|hollow|inlet|island|isle|junction|key|"
    r"knoll|lake|landing|light|link|loaf|lock|lodge|mall|manor|meadow|mill|mission|motorway|mount|mountain|"
    r"neck|nook|orchard|oval|overpass|park|parade|pass|passage|path|pike|pine|plain|plaza|point|port|prairie|"
    r"promenade|quay|radial|ramp|ranch|rapid|rest|ridge|river|roundabout|round|route|run|shoal|shore|skyway|"
    r"spring|spur|station|stravenue|stream|summit|throughway|trace|track|trafficway|tunnel|turnpike|underpass|"
    r"union|valley|viaduct|village|ville|vista|wall|wells?|wharf|wood|yard)s?\b"
)
OTHER = (
    r"\b(?:rue|avenue|boulevard|bd|place|route|cours|square|chemin|impasse|allee|quai|via|viale|vicolo|piazza|piazzale|corso|largo|contrada|"
    r"strada|borgo|stretto|salita|calle|c/|avenida|avda?|paseo|plaza|camino|pasaje|carrer|ronda|glorieta|vial|"
    r"cuesta|callejon|rua|travessa|praca|ulica|ul|aleja|al|plac|pl|osiedle|os)\b\.?"
)
# Languages that write the word for a street as an end.
ENDED = (
    r"\b[a-z]{2,}(?:vagen|gatan|grand|stigen|veien|gata|vej|gade|straat|laan|singel|steeg|plein|gracht|kade|"
    r"dijk|baan|hof|pad) \d{1,4}\b"
)
UNITED_STATES_MAIL = r"\b(?:apo|fpo|dpo),? a[aep]\b"
ADDRESS = (
    rf"(?:{TURKISH}.*\d|\d.*{TURKISH})|"
    rf"^(?:[a-z]{{0,2}}-?\d{{4,5}} [^\d,]+, )?[a-z .'\-]*{GERMAN}[a-z .'\-]{{0,25}}\s?\d{{1,4}}\s?[a-z]?\b|"
    rf"^(?:flat|apt|unit|suite|no|the [a-z]+|#)?[\s.:]*\d{{1,5}}[a-z]?(?:[/-]\d{{1,4}})?,? "
    rf"(?:[a-z0-9'\-]+\.? ){{1,4}}?{ENGLISH}|"
    rf"(?:[a-z0-9'\-]+ ){{1,3}}{ENGLISH}[ ,]+(?:no|apt|unit|flat|suite|ste|#)[ .:#]*\d|"
    rf"\bp\.? ?o\.? ?box \d|\bpostfach \d|{UNITED_STATES_MAIL}|{ENDED}|"
    rf"{OTHER} [a-z'’ .\-]+,? \d{{1,4}}\b|\d{{1,4}}(?: ?(?:bis|ter|quater))?,? {OTHER} [a-z]"
)
POSTCODES = (  # the Netherlands, Canada, Poland, Sweden, Portugal
    r"(?i)^[1-9]\d{3} ?[A-Z]{2}$",
    r"(?i)^[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d$",
    r"^\d{2}-\d{3}$",
    r"^[1-9]\d{2} \d{2}$",
    r"^[1-9]\d{3}-\d{3}$",
)
UK = r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}$"


@dataclass(frozen=True)
class StreetAddress:
    """Recognise street addresses: a word for a street and a number, in three languages and a few others."""

    kind: str = "address"
    least: float = 0.3

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds street addresses."""
        if cells.numeric:
            return None
        likely = (
            cells.matches(r"\d")
            & cells.matches(r"\p{L}{2}")
            & (cells.texts.str.len_chars() <= 150).to_numpy()
        )
        if cells.share(likely) < self.least:
            return None
        fits = contains(cells.folded, ADDRESS) & likely & (cells.words <= 18)
        if fits.sum() < 3 or cells.share(fits) < self.least:
            return None
        # A sentence may name a street; an address has few words that are not part of one.
        return cells.finding(self.kind, fits, 0.5 + 0.45 * cells.share(fits), "shaped")


@dataclass(frozen=True)
class Postcode:
    """Recognise postcodes: British ones by shape; Turkish, German and American ones by spread."""

    kind: str = "postcode"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds postcodes."""
        british = contains(cells.texts.str.to_uppercase(), UK)
        if british.sum() >= 3 and cells.share(british) >= 0.5:
            return cells.finding(self.kind, british, 0.93, "shaped")
        for pattern in (r"^(?:D|DE|TR|US)[- ]\d{5}$|^\d{5}-\d{4}$", *POSTCODES):
            fits = cells.matches(pattern)
            if fits.sum() >= 3 and cells.share(fits) >= 0.5 and not _is_scale(cells.texts.filter(fits)):
                return cells.finding(self.kind, fits, 0.9, "shaped")
        return self._five_digits(cells)

    def _five_digits(self, cells: DistinctCells) -> ContentFinding | None:
        five = cells.matches(r"^\d{5}(?:-\d{4})?$")
        short = cells.matches(r"^[1-9]\d{3}$") if cells.numeric else np.zeros_like(five)
        either = five | short
        if five.sum() < 4 or cells.share(either) < 0.9 or cells.share(five) < 0.8:
            return None
        numbers = cells.texts.filter(pl.Series(either)).str.slice(0, 5).cast(pl.Int64)
        regions = (numbers // 1000).n_unique()
        zeros = bool(cells.matches(r"^0\d{4}$").any())
        # Amounts crowd at the low end and are rarely shared; a counter fills its range.
        dense = int(numbers.max()) - int(numbers.min()) < 4 * len(numbers)  # type: ignore[arg-type]
        low_end = portion(numbers < 20_000)
        shared = cells.unique <= 1 / 1.3
        if not zeros and (portion(numbers % 1000 == 0) > 0.5 or portion(numbers % 100 == 0) > 0.9):  # amounts
            return None
        if dense or regions < min(8, 0.4 * len(numbers)) or low_end > 0.6:
            return None
        # Codes of a whole country begin with every digit alike; amounts of five digits begin low.
        spread = portion(numbers >= 60_000) >= 0.25 and low_end <= 0.25 and cells.share(five) >= 0.98
        if not zeros and not ((shared or spread) and regions >= 8):
            return None
        return cells.finding(self.kind, either, 0.85 if zeros else 0.55, "spread", regions=regions)


def _is_scale(texts: pl.Series) -> bool:
    """Tell whether values are ranges, or letters with a degree behind each: T1N0M0."""
    letters = texts.str.replace_all("[^A-Za-z]", "")
    return are_bands(texts) or (letters.n_unique() == 1 and len(letters[0]) >= 2 and len(texts) >= 5)


def are_bands(texts: pl.Series) -> bool:
    """Tell whether two numbers in each value are the ends of a range: one range begins where others end.

    Example:
        >>> are_bands(pl.Series(["10-100", "50-250", "75-500"])), are_bands(pl.Series(["30-120", "02-797"]))
        (True, False)
    """
    ends = texts.str.extract_groups(r"^(\d+) ?[-–] ?(\d+)$").struct.unnest().cast(pl.Int64, strict=False)
    low, high = ends.drop_nulls().to_numpy().T
    if len(low) < max(2, len(texts)) or not (low < high).all():
        return False
    rising = bool((np.diff(high[np.argsort(low)]) >= 0).all())
    return rising and (len(low) >= 6 or bool(np.isin(high % 10, (0, 5, 9)).all()))


# South, north, west, east of lands that many tables speak of.
LANDS = (
    (35.8, 42.2, 25.6, 44.9), (47.2, 55.1, 5.8, 15.1), (49.8, 60.9, -8.7, 1.8), (24.5, 49.4, -125.0, -66.9),
    (41.3, 51.1, -5.2, 9.6), (36.0, 43.8, -9.5, 3.4), (36.6, 47.1, 6.6, 18.6), (46.3, 49.1, 9.5, 17.2),
    (49.0, 54.9, 14.1, 24.2), (50.7, 53.6, 3.3, 7.3), (54.5, 71.2, 4.6, 31.6), (43.0, 60.0, -141.0, -52.6),
    (8.0, 35.5, 68.1, 97.4), (-34.0, 5.3, -74.0, -34.7), (-43.7, -10.6, 113.0, 153.7),
    (22.0, 31.7, 24.7, 36.9),
)  # fmt: skip


def coordinate_pairs(frame: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Give neighbouring columns that together are places on earth, in either order."""
    fine = [name for name in frame.columns if _fine(frame[name])]
    order = {name: place for place, name in enumerate(frame.columns)}
    yield from _metric_pairs(frame, order)
    for first, second in pairwise(fine):
        if order[second] - order[first] > 2:
            continue
        pair = frame.select(pl.col(first, second).cast(pl.Float64, strict=False)).drop_nulls()
        for latitude, longitude in ((first, second), (second, first)):
            points = pair.select(latitude, longitude).to_numpy()
            inside = max(_inside(points, land) for land in LANDS) if len(points) >= 5 else 0.0
            if inside >= 0.9:
                yield latitude, longitude
                break


def _metric_pairs(frame: pl.DataFrame, order: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Give neighbouring columns that are metres east and north on a map, in either order."""
    east = [name for name in frame.columns if _metres(frame[name], r"^[1-8]\d{5}(?:\.\d+)?$")]
    north = [name for name in frame.columns if _metres(frame[name], r"^[1-9]\d{6}(?:\.\d+)?$")]
    for first in east:
        for second in north:
            if abs(order[first] - order[second]) == 1:
                yield first, second


def _metres(column: pl.Series, shape: str) -> bool:
    """Tell whether a column holds metres on a map of one country: so long, not round, and not far apart."""
    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    text = column.drop_nulls().cast(pl.String).unique()
    if len(text) < 20 or portion(contains(text, ascii_digits(shape))) < 0.98:
        return False
    numbers = text.cast(pl.Float64, strict=False).drop_nulls()
    low, high = (float(numbers.quantile(at) or 0) for at in (0.02, 0.98))
    return high - low <= 1_700_000 and portion(contains(text, r"00(?:\.0)?$")) < 0.1


def _fine(column: pl.Series) -> bool:
    """Tell whether a column holds numbers with the decimals that coordinates have."""
    if not (column.dtype.is_float() or column.dtype == pl.String):
        return False
    text = column.drop_nulls().cast(pl.String).str.strip_chars()
    return len(text) >= 5 and portion(contains(text, r"^-?\d{1,3}\.\d{3,15}$")) >= 0.9


def _inside(points: Floats, land: tuple[float, float, float, float]) -> float:
    south, north, west, east = land
    inside = (
        (points[:, 0] >= south) & (points[:, 0] <= north) & (points[:, 1] >= west) & (points[:, 1] <= east)
    )
    return float(inside.mean())


ADDRESSES, POSTCODE = StreetAddress(), Postcode()

# Places that are written as codes of a grid: whoever has the code has the door.
CODES = (
    r"(?i)^[2-9CFGHJMPQRVWX]{4,8}\+[2-9CFGHJMPQRVWX]{2,5}(?:[ ,].*)?$",  # plus codes
    r"(?i)^\d{1,2} ?[C-HJ-NP-X] ?[A-HJ-NP-Z]{2} ?(?:\d{3} ?\d{3}|\d{4} ?\d{4}|\d{5} ?\d{5})$",  # armies
    r"(?i)^\d{1,2} ?[C-HJ-NP-X][ ,]+\d{6}(?:\.\d+)?(?: ?m ?E)?[ ,]+\d{6,7}(?:\.\d+)?(?: ?m ?N)?$",  # UTM
    r"(?i)^[A-R]{2}\d{2}[A-X]{2}(?:\d{2})?$",  # squares of radio amateurs
)
THREE_WORDS = r"^(?:/{0,3}|https://w3w\.co/)\p{L}{2,}\.\p{L}{2,}\.\p{L}{2,}$"
GEOHASH = r"^(?:[0-9b-hjkmnp-z]{5,12}|[0-9B-HJKMNP-Z]{5,12})$"


@dataclass(frozen=True)
class PlaceOnEarth:
    """Recognise places on earth: degrees, and codes of grids.

    Guarantees:
        - A code of a grid without a sign of its own is believed only where signs that the grid leaves out
          would have come by chance, and codes begin alike, as those of one country do.
    """

    degrees: Shape
    kind: str = "coordinates"
    least: float = 0.5
    few: int = 5  # different codes
    many: int = 15  # where only signs that are left out tell
    unread: float = 0.06  # of values may lack digits or letters: so many geohashes do by chance
    alike: float = 0.2  # of the codes begin with the same sign

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds places on earth."""
        in_degrees = self.degrees(cells)
        if in_degrees is not None or cells.numeric or not any(map(str.isalpha, cells.signs)):
            return in_degrees
        for pattern in CODES:
            fits = cells.matches(pattern)
            if fits.sum() >= self.few and cells.share(fits) >= self.least:
                return cells.finding(self.kind, fits, 0.85, "shaped")
        if "." in cells.signs:
            words = cells.matches(THREE_WORDS)
            if words.sum() >= self.few and cells.share(words) >= self.least and self._vary(cells, words):
                return cells.finding(self.kind, words, 0.8, "shaped")
        hashed = cells.matches(GEOHASH)
        if cells.share(hashed) >= 0.98 and self._hashes(cells.texts.filter(pl.Series(hashed))):
            return cells.finding(self.kind, hashed, 0.8, "shaped")
        return None

    def _vary(self, cells: DistinctCells, fits: Mask) -> bool:
        """Tell whether three words vary each by itself: parts of programs and of domains share some."""
        parts = cells.texts.filter(pl.Series(fits)).str.strip_chars("/").str.split(".")
        return all(parts.list.get(place).n_unique() >= 0.7 * len(parts) for place in range(3))

    def _hashes(self, texts: pl.Series) -> bool:
        if len(texts) < self.many:
            return False
        lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
        mixed = portion(texts.str.contains("[0-9]") & texts.str.contains("[A-Za-z]"))
        # By chance every ninth sign of a code of letters and digits would be an a, i, l or o.
        expected = (32 / 36) ** float(lengths.mean())
        if len(np.unique(lengths)) > 2 or mixed < 1 - self.unread - 0.7 ** (int(lengths.min()) - 2):
            return False
        first = texts.str.slice(0, 1).value_counts(name="codes")["codes"].to_numpy().max()
        inner = texts.str.slice(1).str.contains("[A-Za-z]")  # a letter in front of digits is a series
        turns = (portion(contains(texts.str.slice(place, 1), "[0-9]")) for place in range(lengths.min()))
        if not any(0.05 < share < 0.95 for share in turns):  # T1N0M0: letters have places of their own
            return False
        placed = texts.str.slice(1, 4).str.contains("[A-Za-z].*[0-9]|[0-9].*[A-Za-z]")
        return (
            expected ** len(texts) < 1e-3
            and int(first) >= self.alike * len(texts)
            and portion(inner) >= 0.9
            and portion(placed) >= 0.4
        )


COORDINATES = PlaceOnEarth(WRITTEN_PLACES)
