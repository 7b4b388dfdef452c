"""Built kernels do what their Python says and take only the types, shapes and layouts they were built for."""

from __future__ import annotations

import ast
import contextlib
import copy
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rehearsal
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem
from mahrem.arrays import _kernel
from mahrem.arrays.averaging import mdav_groups, squared_error
from mahrem.arrays.cutting._groups import reduce_extremes
from mahrem.arrays.cutting._grow import grow_segment
from mahrem.arrays.growing import class_costs
from mahrem.arrays.sketching import hash_texts
from mahrem.partition.judging._cell_costs import pack_costs, plain_costs
from mahrem.partition.judging._class_promises import pack_promises

HOUSE = Path(mahrem.__file__).parent
LIBRARY = _kernel._way()[1]
BUILT = _kernel.kernels_in_use() in {"v3", "baseline"}
Call = tuple[Any, tuple[Any, ...]]

needs_built = pytest.mark.skipif(not BUILT and not os.environ.get("CI"), reason="no kernels are built here")


def kernels() -> dict[str, Any]:
    """Every built kernel by name, found where the house keeps it."""
    for path in sorted((HOUSE / "arrays").rglob("_[!_]*.py")):
        __import__(".".join(path.relative_to(HOUSE.parent).with_suffix("").parts))
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("mahrem.arrays."):
            found |= {one.__name__: one for one in vars(module).values() if type(one).__name__ == "Kernel"}
    return found


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    """What the rehearsal hands to every kernel, as it was before the kernel wrote to it."""
    recorded: list[Call] = []

    def watch(kernel: Any) -> Any:
        def run(*arguments: Any) -> Any:
            recorded.append((kernel, copy.deepcopy(arguments)))
            return kernel(*arguments)

        return run

    with pytest.MonkeyPatch.context() as patch:
        watched = {id(kernel): watch(kernel) for kernel in kernels().values()}
        for name, module in list(sys.modules.items()):
            if name == "rehearsal" or name.startswith("mahrem.arrays"):
                for attribute, value in list(vars(module).items()):
                    if id(value) in watched and not name.endswith("_kernel"):
                        patch.setattr(module, attribute, watched[id(value)])
        rehearsal.rehearse()
    return recorded


def arrays_in(thing: Any) -> Iterator[Any]:
    if isinstance(thing, tuple):
        for part in thing:
            yield from arrays_in(part)
    else:
        yield thing


def same(one: Any, other: Any) -> None:
    for left, right in zip(arrays_in(one), arrays_in(other), strict=True):
        # only what is fused (an exchange of two records in mosaic) may differ in the last places
        np.testing.assert_allclose(np.asarray(left), np.asarray(right), rtol=1e-12, atol=1e-12)


@needs_built
def test_the_rehearsal_calls_every_kernel(calls: list[Call]) -> None:
    assert {kernel.__name__ for kernel, _ in calls} == set(kernels())


@needs_built
def test_every_kernel_does_what_its_python_does(calls: list[Call]) -> None:
    for kernel, arguments in calls:
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        built = kernel(*mine)
        with np.errstate(all="ignore"):  # registers overflow without a word
            plain = kernel.__wrapped__(*theirs)
        if built is not None:
            same(built, plain)
        same(mine, theirs)


def mended(thing: Any, place: int, change: Any) -> tuple[Any, int]:
    """Change the leaf at a place inside nested tuples; gives the thing and how many leaves it has."""
    if not isinstance(thing, tuple):
        return (change(thing) if place == 0 else thing), 1
    parts, seen = [], 0
    for part in thing:
        new, leaves = mended(part, place - seen, change)
        parts.append(new)
        seen += leaves
    kind = type(thing)
    return (kind(*parts) if hasattr(kind, "_fields") else tuple(parts)), seen


def other_type(leaf: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):  # what is only room holds anything
        return leaf.astype(np.float32 if leaf.dtype != np.float32 else np.int64)


CHANGES = {
    "none": lambda _: None,
    "text": lambda _: "text",
    "object": lambda leaf: leaf.astype(object) if isinstance(leaf, np.ndarray) else object(),
    "list": lambda leaf: leaf.tolist() if isinstance(leaf, np.ndarray) else [leaf],
    "huge": lambda leaf: 2**70 if isinstance(leaf, int | np.integer) else "huge",
    "other type": lambda leaf: other_type(leaf) if isinstance(leaf, np.ndarray) else 1j,
    "one dimension more": lambda leaf: leaf[None] if isinstance(leaf, np.ndarray) else (leaf,),
    "other bytes": lambda leaf: (
        leaf.astype(leaf.dtype.newbyteorder()).view(leaf.dtype.newbyteorder())
        if isinstance(leaf, np.ndarray) and leaf.itemsize > 1
        else None
    ),
    "a gap": lambda leaf: (
        np.repeat(leaf, 2, axis=-1)[..., ::2]
        if isinstance(leaf, np.ndarray) and leaf.shape[-1] > 1 and leaf.size
        else None
    ),
    "dates": lambda leaf: np.zeros(np.shape(leaf), "M8[s]"),
}


@needs_built
@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_what_a_kernel_was_not_built_for_is_refused(calls: list[Call], data: st.DataObject) -> None:
    kernel, arguments = data.draw(st.sampled_from(calls))
    _, leaves = mended(arguments, -1, None)
    change = CHANGES[data.draw(st.sampled_from(sorted(CHANGES)))]
    wrong, _ = mended(copy.deepcopy(arguments), data.draw(st.integers(0, leaves - 1)), change)
    with pytest.raises(TypeError, match=r"must be|takes"):
        kernel(*wrong)


@needs_built
def test_what_is_only_read_may_be_read_only_and_what_is_written_may_not(calls: list[Call]) -> None:
    refused = 0
    for kernel, arguments in calls:
        frozen = copy.deepcopy(arguments)
        for leaf in arrays_in(frozen):
            if isinstance(leaf, np.ndarray):
                leaf.flags.writeable = False
        before = copy.deepcopy(frozen)
        takes = next(row[1] for row in LIBRARY.listed() if row[0].endswith(f".{kernel.__name__}"))
        writes = "w" in takes
        with pytest.raises(TypeError, match="writable") if writes else contextlib.nullcontext():
            kernel(*frozen)
        refused += writes
        same(before, frozen)  # nobody wrote to what may not be written
    assert refused > 0
    positions, labels = np.arange(3.0), np.zeros(3, np.int64)
    positions.flags.writeable = labels.flags.writeable = False
    low, high, missing = np.full(1, np.inf), np.full(1, -np.inf), np.zeros(1, np.int64)
    reduce_extremes(positions, labels, low, high, missing)
    assert (low[0], high[0]) == (0.0, 2.0)


@needs_built
def test_a_kernel_is_called_by_position_with_the_right_number_of_arguments() -> None:
    with pytest.raises(TypeError, match="takes 11 arguments, got 0"):
        grow_segment()
    with pytest.raises(TypeError, match="by position"):
        grow_segment(work=None)
    with pytest.raises(TypeError, match="takes 3 arguments, got 4"):
        hash_texts(np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros(2, np.uint64), 1)


class Moody:
    """A number that changes its mind."""

    def __init__(self, *moods: object) -> None:
        self.moods = list(moods)

    def __index__(self) -> int:
        mood = self.moods.pop(0)
        if isinstance(mood, BaseException):
            raise mood
        return int(str(mood))


@needs_built
def test_an_argument_is_asked_once_and_its_own_errors_come_through() -> None:
    points, labels = np.zeros((2, 2)), np.zeros(2, np.int64)
    with pytest.raises(TypeError, match="must be a whole number"):
        squared_error(points, labels, Moody(TypeError("not now"), 1))
    for error in (KeyboardInterrupt(), MemoryError(), RecursionError()):
        with pytest.raises(type(error)):
            squared_error(points, labels, Moody(error, 1))
    assert squared_error(points, labels, Moody(1)) == 0.0


@needs_built
def test_results_are_of_numpys_own_types(calls: list[Call]) -> None:
    for kernel, arguments in calls:
        given = kernel(*copy.deepcopy(arguments))
        for leaf in arrays_in(given if isinstance(given, tuple) else (given,)):
            if isinstance(leaf, np.ndarray):
                assert leaf.dtype.num == np.dtype(leaf.dtype.name).num, kernel


@needs_built
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nm and ELF")
def test_the_extension_shows_nothing_but_its_door_and_knows_no_address() -> None:
    for file in (HOUSE / "arrays").glob("_built_*.so"):
        shown = subprocess.run(
            ["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True
        )
        assert [line.split()[-1] for line in shown.stdout.splitlines()] == [
            f"PyInit_{file.name.split('.')[0]}"
        ]
        wanted = subprocess.run(
            ["nm", "-D", "--undefined-only", file], capture_output=True, text=True, check=True
        )
        assert "PyUnicode_FromKindAndData" not in wanted.stdout  # not in the stable ABI


@needs_built
def test_results_own_their_memory_and_give_it_back() -> None:
    content, offsets, key = np.zeros(8, np.uint8), np.arange(9), np.zeros(2, np.uint64)
    first = hash_texts(content, offsets, key)
    kept = first.copy()
    import resource

    for _ in range(2_000):
        hash_texts(content, offsets, key)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wide = np.zeros(100_001, np.int64)
    for _ in range(300):  # 240 MB if none of it came back
        hash_texts(content, wide, key)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
    assert (first == kept).all()
    assert first.flags.writeable


@needs_built
def test_what_kernels_make_for_themselves_is_given_back_in_every_thread() -> None:
    import resource

    points = np.random.default_rng(0).random((40_000, 4))
    costs, promises = pack_costs(points, plain_costs(points)), pack_promises(5, (), len(points))
    labels = np.arange(40_000) % 4

    def look() -> None:
        class_costs(costs, promises, labels, 4, threads=4)

    look()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):  # 400 MB and more if none of it came back
        look()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


@needs_built
def test_other_threads_go_on_while_a_kernel_runs() -> None:
    points = np.random.default_rng(0).random((30_000, 3))  # some hundred milliseconds
    done = threading.Event()
    worker = threading.Thread(target=lambda: (mdav_groups(points, 3), done.set()))
    worker.start()
    turns = 0
    while not done.is_set():
        turns += 1
        done.wait(0.001)
    worker.join()
    assert turns > 3


def probe(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


SMALL = """
import numpy as np
from mahrem.arrays.cutting import class_extremes
from mahrem.arrays._kernel import kernels_in_use
print(kernels_in_use(), *map(list, class_extremes(np.array([1.0, 5.0, np.nan]), np.zeros(3, np.int64), 1)))
"""


@pytest.mark.parametrize("way", ["v3", "baseline", "jit", "python"])
def test_every_way_can_be_asked_for(way: str) -> None:
    if way == "v3" and _kernel.kernels_in_use() != "v3":
        pytest.skip("this processor or platform has no v3")
    done = probe(SMALL, MAHREM_KERNELS=way)
    assert done.stdout.split()[0] == way, done.stderr
    assert "1.0" in done.stdout
    assert done.stderr == ""


def test_a_way_that_does_not_exist_is_refused() -> None:
    done = probe(SMALL, MAHREM_KERNELS="fast")
    assert "MAHREM_KERNELS=fast must be one of v3, baseline, jit, python" in done.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package in a folder of its own, as an install has it."""
    shutil.copytree(HOUSE, tmp_path / "mahrem", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@needs_built
@pytest.mark.parametrize("harm", ["missing", "cut", "changed", "empty", "no manifest", "bad manifest"])
def test_a_broken_extension_is_found_out_and_replaced(copied: Path, harm: str) -> None:
    folder = copied / "mahrem" / "arrays"
    manifest = folder / "_built.json"
    for file in (folder / name for name in json.loads(manifest.read_text())["files"]):
        content = file.read_bytes()
        match harm:
            case "missing":
                file.unlink()
            case "cut":
                file.write_bytes(content[: len(content) // 2])
            case "changed":
                file.write_bytes(content[:9_000] + bytes(64) + content[9_064:])
            case "empty":
                file.write_bytes(b"")
            case "no manifest":
                manifest.unlink(missing_ok=True)
            case "bad manifest":
                manifest.write_text("{")
    done = probe(SMALL, PYTHONPATH=str(copied), MAHREM_KERNELS="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "jit"
    assert len(done.stderr.splitlines()) == 1  # said once
    assert done.stderr.startswith("mahrem: ")


@needs_built
def test_a_broken_file_for_newer_processors_leaves_the_other(copied: Path) -> None:
    (copied / "mahrem" / "arrays" / "_built_v3.abi3.so").write_bytes(b"no such thing")
    done = probe(SMALL, PYTHONPATH=str(copied), MAHREM_KERNELS="")
    assert done.stdout.split()[0] == "baseline"
    assert len(done.stderr.splitlines()) == (_kernel.kernels_in_use() == "v3")


@needs_built
def test_without_numba_and_without_built_kernels_plain_python_is_used_and_said(copied: Path) -> None:
    (copied / "mahrem" / "arrays" / "_built.json").unlink()
    (copied / "sitecustomize.py").write_text(
        "import importlib.util as u\nkeep = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'numba' else keep(name, *rest)\n"
    )
    done = probe(SMALL, PYTHONPATH=str(copied), MAHREM_KERNELS="")
    assert done.stdout.split()[0] == "python", done.stderr
    assert "mahrem[jit]" in done.stderr


@needs_built
def test_a_read_only_home_without_caches_is_no_obstacle(copied: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    variables = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copied)}
    done = probe(SMALL, **variables, MAHREM_KERNELS="")
    assert done.stdout.split()[0] in {"v3", "baseline"}
    assert done.stderr == ""


def marked(path: Path) -> dict[str, str]:
    """Which functions of a file are kernels, and which are inner."""
    names = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                word = ast.unparse(decorator).split("(")[0]
                if word in {"kernel", "inner", "inner_with", "lean"}:
                    names[node.name] = word
    return names


def test_nothing_but_kernels_calls_what_is_inner() -> None:
    """Where kernels are built, an inner function is plain Python: calling it would be slow without a word."""
    files = sorted((HOUSE / "arrays").rglob("_[!_]*.py"))
    homes = {path: marked(path) for path in files}
    for path in files:
        tree = ast.parse(path.read_text())
        inner = {name for name, word in homes[path].items() if word != "kernel"}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mahrem.arrays"):
                where = HOUSE.parent.joinpath(*node.module.split("."))  # a module, or a room's door
                there = [homes[home] for home in files if where in {home.with_suffix(""), home.parent}]
                kinds = {name: word for words in there for name, word in words.items()}
                inner |= {one.name for one in node.names if kinds.get(one.name, "kernel") != "kernel"}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in homes[path]:
                continue
            used = {
                one.id
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
            }
            assert not used & inner, f"{path.name}: {sorted(used & inner)}"
