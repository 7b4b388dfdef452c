"""Published tables again: the papers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mahrem import check
from mahrem.experiments import (
    _buyuktanir2022,
    _canbay2019,
    _dp_adult,
    _dp_audit,
    _dp_last_layer,
    _dp_load,
    _dp_mnist,
    _dp_pairs,
    _dp_pate,
    _dp_series,
    _dp_synthesis,
    _dp_synthetic_images,
    _federated_attacks,
    _federated_shapes,
    _saleh,
    _stoldt2019,
)
from mahrem.experiments._row import Row

__all__ = ["PAPERS", "Paper", "reproduce"]


class _Runs(Protocol):
    def __call__(
        self, tables: Sequence[str], *, quick: bool, step: Callable[[str], None]
    ) -> Iterator[Row]: ...


@dataclass(frozen=True)
class Paper:
    """A paper whose tables can be made again."""

    title: str
    tables: tuple[str, ...]
    rows_of: _Runs = field(repr=False)


PAPERS: Mapping[str, Paper] = {
    "buyuktanir2022": Paper(
        "Buyuktanir: du-CBA, rules from many clients, thesis, 2022",
        _buyuktanir2022.TABLES,
        _buyuktanir2022.rows_of,
    ),
    "canbay2019": Paper(
        "Canbay: doctoral thesis on utility-aware k-anonymity, 2019", _canbay2019.TABLES, _canbay2019.rows_of
    ),
    "dp-adult": Paper(
        "Private logistic regression on Adult, beside published figures", _dp_adult.TABLES, _dp_adult.rows_of
    ),
    "dp-audit": Paper(
        "Adult attacked and audited: an overfitted network, its private twin, true and false claims",
        _dp_audit.TABLES,
        _dp_audit.rows_of,
    ),
    "dp-load": Paper("Load forecasting, private and not", _dp_load.TABLES, _dp_load.rows_of),
    "dp-mnist": Paper(
        "Private training on MNIST, beside published figures",
        (*_dp_mnist.TABLES, *_dp_last_layer.TABLES),
        _dp_last_layer.rows_of,
    ),
    "dp-pairs": Paper(
        "Siamese and triplet networks on MNIST, private and not", _dp_pairs.TABLES, _dp_pairs.rows_of
    ),
    "dp-pate": Paper("PATE on MNIST at its data-independent cost", _dp_pate.TABLES, _dp_pate.rows_of),
    "dp-series": Paper(
        "Synthetic days of a household by an LSTM, private and not", _dp_series.TABLES, _dp_series.rows_of
    ),
    "dp-synthesis": Paper(
        "Synthetic Adult at epsilon 1: train on made-up rows, test on real ones",
        _dp_synthesis.TABLES,
        _dp_synthesis.rows_of,
    ),
    "dp-synthetic-images": Paper(
        "Synthetic digits: train on made-up images, test on real ones",
        _dp_synthetic_images.TABLES,
        _dp_synthetic_images.rows_of,
    ),
    "federated-attacks": Paper(
        "Hostile clients and curious servers against a federation on Adult; nothing printed to compare with",
        _federated_attacks.TABLES,
        _federated_attacks.rows_of,
    ),
    "federated-shapes": Paper(
        "Vertical, split, U-shaped, gossip and transfer learning on Adult, beside one place",
        _federated_shapes.TABLES,
        _federated_shapes.rows_of,
    ),
    "saleh": Paper(
        "Saleh: automatic generalisation and its effect on learning", _saleh.TABLES, _saleh.rows_of
    ),
    "stoldt2019": Paper(
        "Stoldt: microaggregation by clustering, talk, 2019", _stoldt2019.TABLES, _stoldt2019.rows_of
    ),
}


def reproduce(
    paper: str,
    tables: Sequence[str] | None = None,
    *,
    quick: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[Row]:
    """Run a paper's experiments again and put our figures beside the published ones.

    Args:
        paper: One of :data:`PAPERS`.
        tables: Which of its tables; all by default.
        quick: Smaller budgets and fewer settings: to see that it runs, not to quote.
        progress: Called with a sentence before each part.

    Raises:
        InvalidParameter: If there is no such paper or table.
        InvalidInput: If a benchmark file is not in the folder named by ``MAHREM_DATA``.

    Guarantees:
        - Equal calls give equal figures, but for times, budgets that are told in seconds and private noise.
        - Every published figure of a table gives a row; what is not run says so in its ``note``.
    """
    found = PAPERS[check.one_of(tuple(PAPERS), paper=paper)]
    wanted = found.tables if tables is None else [check.one_of(found.tables, table=table) for table in tables]
    return list(found.rows_of(list(dict.fromkeys(wanted)), quick=quick, step=progress or (lambda _: None)))
