"""Published tables again: the papers by name, one entry each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mahrem import check
from mahrem.entries import Entry
from mahrem.errors import InvalidParameter
from mahrem.experiments._row import Bounds, FlatRow, Row, TableRun


@dataclass(frozen=True, kw_only=True)
class Paper(Entry):
    """A paper whose tables can be made again; its home gives the rows of one table after the other."""

    title: str
    tables: tuple[str, ...]
    pictures: str = ""  # where what draws its rows lives: "module:function" of this room
    methods: tuple[str, ...] = ()  # of a long experiment, whose runs can be bounded and taken up again

    def load(self) -> Callable[[TableRun], Iterator[Row]]:
        """Import what makes the rows."""
        return cast("Callable[[TableRun], Iterator[Row]]", super().load())

    def draw(self, rows: Sequence[FlatRow]) -> dict[str, str]:
        """Draw what flat rows allow: texts by the name of their file."""
        if not self.pictures:
            return {}
        home = f"mahrem.experiments.{self.pictures}"
        return cast("dict[str, str]", Entry(name=self.name, home=home).load()(rows))


def _paper(name: str, tables: str, title: str, pictures: str = "", methods: str = "") -> Paper:
    home = f"mahrem.experiments._{name.replace('-', '_')}:rows_of"
    return Paper(
        name=name,
        home=home,
        tables=tuple(tables.split()),
        title=title,
        pictures=pictures,
        methods=tuple(methods.split()),
    )


_CANBAY = (  # those that run on Spark come last: they share a session
    "4.7 4.15 4.23 4.31 5.1 6.7 4.1 4.2 4.3 4.4 4.5 4.6 4.9 4.10 4.11 4.12 4.13 4.14 4.17 4.18 4.19 4.20 "
    "4.21 4.22 4.25 4.26 4.27 4.28 4.29 4.30 6.1 6.2 6.3 6.4 6.5 6.6 7.6 7.1 7.2 7.3 7.4 7.5"
)
_SALEH = "education 5.1 5.2 5.3 5.4 5.5 curves 5.6 5.7 5.8 5.9 5.10 correlation 7.1 7.2 silos"
_PAPERS = (
    _paper(
        "buyuktanir2022",
        "3.2 left bytes times",
        "Buyuktanir: du-CBA, rules from many clients, thesis, 2022",
        "_buyuktanir2022_pictures:ducba_pictures",
    ),
    _paper(
        "canbay2019",
        _CANBAY,
        "Canbay: doctoral thesis on utility-aware k-anonymity, 2019",
        "_pictures:canbay_pictures",
    ),
    _paper(
        "dp-adult", "accuracy pure radius", "Private logistic regression on Adult, beside published figures"
    ),
    _paper(
        "dp-audit",
        "membership claims domain",
        "Adult attacked and audited: an overfitted network, its private twin, true and false claims",
    ),
    _paper("dp-load", "forecast", "Load forecasting, private and not"),
    _paper("dp-mnist", "full quick last-layer", "Private training on MNIST, beside published figures"),
    _paper("dp-pairs", "pairs triplets", "Siamese and triplet networks on MNIST, private and not"),
    _paper("dp-pate", "gnmax confident laplace semi sanitised", "PATE on MNIST at its data-independent cost"),
    _paper("dp-series", "forecast", "Synthetic days of a household by an LSTM, private and not"),
    _paper(
        "dp-synthesis",
        "accuracy epsilon",
        "Synthetic Adult at epsilon 1: train on made-up rows, test on real ones",
    ),
    _paper(
        "dp-synthetic-images",
        "epsilon-10 epsilon-3 without-noise",
        "Synthetic digits: train on made-up images, test on real ones",
    ),
    _paper(
        "dp-tables",
        "adult nursery bank california diabetes",
        "Private tables: workload error, learning, attacks and seconds of seven methods on five sets",
        methods="ours tree aim mst vae gan independent",
    ),
    _paper(
        "federated-attacks",
        "backdoor labels free-rider membership inversion vetted",
        "Hostile clients and curious servers against a federation on Adult; nothing printed to compare with",
    ),
    _paper(
        "federated-shapes",
        "shapes leaks",
        "Vertical, split, U-shaped, gossip and transfer learning on Adult, beside one place",
    ),
    _paper(
        "saleh",
        _SALEH,
        "Saleh: automatic generalisation and its effect on learning",
        "_saleh_pictures:saleh_pictures",
    ),
    _paper(
        "stoldt2019",
        "losses ratios histogram over-k runs",
        "Stoldt: microaggregation by clustering, talk, 2019",
        "_pictures:stoldt_pictures",
    ),
)
PAPERS: Mapping[str, Paper] = {paper.name: paper for paper in _PAPERS}


def reproduce(
    paper: str,
    tables: Sequence[str] | None = None,
    *,
    quick: bool = False,
    progress: Callable[[str], None] | None = None,
    only: Sequence[str] = (),
    seconds: float | None = None,
    folder: str | Path | None = None,
) -> list[Row]:
    """Run a paper's experiments again and put our figures beside the published ones.

    Args:
        paper: One of :data:`PAPERS`.
        tables: Which of its tables; all by default.
        quick: Smaller budgets and fewer settings: to see that it runs, not to quote.
        progress: Called with a sentence before each part.
        only: Which methods of a long experiment (``dp-tables``); all by default.
        seconds: That one run of a method there may take; an hour by default. What takes longer is stopped.
        folder: Where finished runs are kept there: what is in it is not run again.

    Raises:
        InvalidParameter: If there is no such paper or table.
        InvalidInput: If a benchmark file is not in the folder named by ``MAHREM_DATA``.

    Guarantees:
        - Equal calls give equal figures, but for times, budgets that are told in seconds and private noise.
        - Every published figure of a table gives a row; what is not run says so in its ``note``.
    """
    entry = PAPERS[check.one_of(tuple(PAPERS), paper=paper)]
    wanted = entry.tables if tables is None else [check.one_of(entry.tables, table=table) for table in tables]
    bounds = _bounds(entry, only, seconds, folder)
    step = progress or (lambda _: None)
    with ExitStack() as stack:
        runs = [TableRun(paper, table, quick, step, stack, bounds) for table in dict.fromkeys(wanted)]
        return [row for run in runs for row in entry.load()(run)]


def _bounds(entry: Paper, only: Sequence[str], seconds: float | None, folder: str | Path | None) -> Bounds:
    """Read how much is run; refused where runs cannot be bounded."""
    if not entry.methods and (only or seconds is not None or folder is not None):
        raise InvalidParameter(
            f"paper={entry.name!r} has no long runs: only, seconds and folder say nothing there"
        )
    named = tuple(check.one_of(entry.methods, only=one) for one in only)
    most = 3600.0 if seconds is None else check.above_zero(seconds=seconds)
    return Bounds(named or entry.methods, float(most), None if folder is None else Path(folder))
