"""Models that were learnt with dummies, read without them by whoever has the clients' key."""

from __future__ import annotations

from pathlib import Path

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.flower._federation import Federation
from mahrem.federated.rules import Disguise, ItemTable
from mahrem.federated.runs import RulesTask, WeightsTask
from mahrem.federated.weights import DISGUISED, SharedModel
from mahrem.federated.wire.certificates import read_secret, write_private
from mahrem.learning.rules import RuleList
from mahrem.table import Reading


def reveal_model(
    file: Path, model: Path, source: object, key: Path, *, reading: Reading | None = None
) -> RuleList:
    """Take the dummies out of a model that was learnt with them, and give its cells again.

    Args:
        file: The federation file.
        model: ``model.json`` of the run.
        source: A client's table; rules about cells that are not in it go with the dummies.
        key: The clients' key of dummy rules.
        reading: How to read the table.

    Raises:
        InvalidInput: If one of them cannot be read.
    """
    task = Federation.read(file).task
    if not isinstance(task, RulesTask):
        raise InvalidParameter("federation: it learns weights or trees, and no rules")
    try:
        merged = RuleList.from_json(model.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"file={model.name!r} cannot be read: {error.strerror}") from None
    except UnicodeError:
        raise InvalidInput(f"model={model.name!r} is no model") from None
    cells = task.read_cells(source, reading)
    items = ItemTable.read(cells, task.schema.target).items
    return Disguise(read_secret(key)).reveal(
        merged, [(items.columns[place], cell) for place, cell in items.pairs()]
    )


def reveal_weights(file: Path, model: Path, key: Path, output: Path) -> SharedModel:
    """Take the dummies out of weights that were learnt with them, and write them to a private file.

    Args:
        file: The federation file.
        model: ``model.npz`` of the run.
        key: The clients' key of dummies.
        output: A new file.

    Raises:
        InvalidInput: If one of them cannot be read, or the model is not one of this federation with dummies.
    """
    task = Federation.read(file).task
    if not isinstance(task, WeightsTask):
        raise InvalidParameter("federation: it learns rules, and neither weights nor trees")
    try:
        disguised = SharedModel.from_bytes(model.read_bytes())
    except OSError as error:
        raise InvalidInput(f"file={model.name!r} cannot be read: {error.strerror}") from None
    disguised.refuse_other(task.schema, task.plan)
    if DISGUISED not in disguised.arrays:
        raise InvalidInput(f"model={model.name!r} was learnt without dummies; there is nothing to reveal")
    opened = disguised.reveal(task.decoys(key))
    write_private(output, opened.to_bytes())
    return opened
