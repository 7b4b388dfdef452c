"""Build the kernels of ``mahrem.arrays`` into extension modules: no compiler is needed where they run.

The kernels stay what they are: Python functions. Here Numba (a build dependency, pinned) translates every
function under ``@kernel`` for the types that its annotations name, once for each kind of processor. Around
each stands an entry of plain C types that reads its arguments from a list of 64-bit slots; ``guard.c``
fills that list after checking what Python handed over. So nothing in the machine code depends on a version
of Python or NumPy, and one wheel serves all of them.

    python native/build_kernels.py FOLDER      # writes _built_*.so and _built.json there

Numba's doors used here: ``compile_extra`` and the ahead-of-time code generator, as its own ``pycc`` uses
them. If they close, only this file changes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import typing
import zlib
from importlib.metadata import version
from pathlib import Path
from types import FunctionType, UnionType
from typing import Any, NamedTuple, Union

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
SOURCES = ROOT / "src" / "mahrem" / "arrays"
INTEL = platform.machine().lower() in {"x86_64", "amd64"}
# The processor that each build is for; "" is the least that the platform promises.
PROCESSORS = {"baseline": "x86-64", "v3": "x86-64-v3"} if INTEL else {"baseline": ""}
SHARES = 2  # processes that compile, each a part of the kernels
SUFFIX = ".pyd" if os.name == "nt" else ".abi3.so"


class Variant(NamedTuple):
    """One kernel for one combination of types."""

    name: str  # as in "cutting._grow.grow_segment"
    function: FunctionType
    types: tuple[
        Any, ...
    ]  # Numba's; an array that is only read is a read-only one: Numba refuses to write to it


def kernels() -> list[tuple[str, FunctionType]]:
    """Import every module of kernels; gives name and function of all that Python may call."""
    from numba.core.dispatcher import Dispatcher

    Dispatcher.enable_caching = lambda _: None  # a cache knows one file at a time: what it keeps may be stale
    from mahrem.arrays import _kernel

    for path in sorted(SOURCES.rglob("_[!_]*.py")):
        if path.stem != "_kernel":
            importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    return sorted(_kernel.MARKED, key=lambda one: one[0])


def numba_types(annotation: Any, *, written: bool = False) -> list[Any]:
    """Give Numba's types for an annotation: several for a union."""
    import numpy as np
    from numba import from_dtype, types

    marks: tuple[Any, ...] = ()
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *rest = typing.get_args(annotation)
        marks = tuple(rest)
    written = written or "written" in marks
    if typing.get_origin(annotation) in {Union, UnionType}:
        return [one for part in typing.get_args(annotation) for one in numba_types(part, written=written)]
    plain = {int: types.int64, float: types.float64, bool: types.boolean, np.uint64: types.uint64}
    if annotation in plain:
        return [plain[annotation]]
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        hints = typing.get_type_hints(annotation, include_extras=True)
        fields = [numba_types(hints[name], written=written) for name in annotation._fields]
        return [types.NamedTuple(chosen, annotation) for chosen in itertools.product(*fields)]
    if typing.get_origin(annotation) is np.ndarray:
        dimensions = next((mark for mark in marks if isinstance(mark, int)), 1)
        item = typing.get_args(typing.get_args(annotation)[1])[0]
        return [types.Array(from_dtype(np.dtype(item)), dimensions, "C", readonly=not written)]
    raise TypeError(f"{annotation!r} is no type that a kernel can take")


def variants() -> list[Variant]:
    """Give every kernel with every combination of types that its annotations allow."""
    found = []
    for name, function in kernels():
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        combinations = itertools.product(*(numba_types(hints[one]) for one in parameters))
        found += [Variant(name, function, types) for types in combinations]
    return found


LETTERS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}


def spelled(one: Any) -> str:
    """Write a type the way guard.c reads it."""
    from numba import types

    one = types.unliteral(one)
    if isinstance(one, types.Array):
        return f"[{one.ndim}{LETTERS[str(one.dtype)]}{'w' if one.mutable else '-'}"
    if isinstance(one, types.BaseTuple):
        return f"({''.join(spelled(part) for part in one.types)})"
    if isinstance(one, types.NoneType):
        return "n"
    if isinstance(one, types.Integer):
        return "q" if one.signed else "Q"
    return LETTERS[str(one)]


def compile_kernels(wanted: list[Variant], prefix: str) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """Compile variants; gives an object file for each processor, and the rows of the table in guard.c.

    Python is translated once. Only the last step, LLVM's, knows the processor.
    """
    from llvmlite import binding
    from numba.core import callconv, codegen, cpu
    from numba.core.compiler import Flags, compile_extra
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target
    from numba.core.runtime import nrtdynmod

    # Inner functions are linked in and optimised with what calls them: nothing of them is run or kept here.
    optimize = codegen.CPUCodeLibrary._optimize_final_module
    codegen.CPUCodeLibrary._optimize_final_module = lambda _: None
    callconv.CPUCallConv.build_excinfo_struct = lambda _, kind, given, *__: (
        kind,
        given,
        None,
    )  # no paths of ours
    cpu.CPUContext.get_executable = lambda *_: [].append  # any builtin, each time another
    # What a kernel makes no other thread sees: references are counted without locking the bus.
    nrtdynmod._define_atomic_inc_dec = count_plainly
    context = cpu_target.target_context.with_aot_codegen(prefix)
    rows = []
    with global_compiler_lock:
        library = context.codegen().create_library(prefix)
        library.add_ir_module(nrtdynmod.create_nrt_module(context)[0])
        for number, variant in enumerate(wanted):
            flags = Flags()
            flags.nrt = flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            result = compile_extra(
                cpu_target.typing_context,
                context,
                variant.function,
                variant.types,
                None,
                flags,
                {},
                library=library,
            )
            entry = f"{prefix}_{number}"
            module = library.create_ir_module(entry)
            Entry(context, module, entry).call(result)
            library.add_ir_module(module)
            rows.append(
                {
                    "name": variant.name,
                    "parameters": ",".join(variant.function.__code__.co_varnames[: len(variant.types)]),
                    "takes": "".join(spelled(one) for one in variant.types),
                    "gives": spelled(result.signature.return_type),
                    "entry": entry,
                }
            )
        library.finalize()
        entries = {row["entry"] for row in rows}
        for variable in library._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):  # nobody sets them: what would use them is left out
                variable.linkage = "internal"
        for function in library.get_defined_functions():
            if function.linkage.name not in {"private", "internal"}:
                function.visibility = "hidden"
                if function.name not in entries:
                    function.linkage = (
                        "internal"  # what is inlined everywhere goes, and no name meets another
                    )
        plain = library.emit_bitcode()
        objects = {}
        for variant_name, processor in PROCESSORS.items():
            made = codegen.AOTCPUCodegen(prefix, processor).create_library(prefix)
            made._final_module.link_in(binding.parse_bitcode(plain))
            optimize(made)
            objects[variant_name] = made._codegen._tm.emit_object(made._final_module)
    return objects, rows


def count_plainly(module: Any, step: str, ordering: str) -> Any:  # noqa: ARG001 - as Numba calls it
    """Define the function that counts a reference ``step``, "add" or "sub"; it gives the new number."""
    from llvmlite import ir

    word = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), f"nrt_atomic_{step}")
    builder = ir.IRBuilder(function.append_basic_block())
    count = getattr(builder, step)(builder.load(function.args[0]), word(1))
    builder.store(count, function.args[0])
    builder.ret(count)
    return function


class Entry:
    """``int name(raised, taken, given)`` around a compiled function: slots are read, slots are written."""

    def __init__(self, context: Any, module: Any, name: str) -> None:
        from llvmlite import ir
        from numba.core.callconv import excinfo_ptr_t

        self.context, self.module, self.word = context, module, ir.IntType(64)
        slots = self.word.as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [excinfo_ptr_t.as_pointer(), slots, slots])
        function = ir.Function(module, kind, name)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.raised, self.taken, self.given = function.args
        self.reading, self.writing = itertools.count(), itertools.count()

    def call(self, result: Any) -> None:
        """Read the arguments, call, and write what comes back, or say what was raised."""
        from llvmlite import ir

        builder, convention = self.builder, self.context.call_conv
        takes, gives = result.signature.args, result.signature.return_type
        kind = convention.get_function_type(gives, takes)
        callee = ir.Function(self.module, kind, result.fndesc.llvm_func_name)
        arguments = [self.read(one) for one in takes]
        status, value = convention.call_function(builder, callee, gives, takes, arguments)
        with builder.if_then(status.is_error):
            builder.store(status.excinfoptr, self.raised)
            builder.ret(status.code)
        self.write(gives, value)
        builder.ret(ir.IntType(32)(0))

    def next_slot(self) -> Any:
        """Load the next slot."""
        return self.builder.load(self.builder.gep(self.taken, [self.word(next(self.reading))]))

    def read(self, one: Any) -> Any:
        """Read a value of a type of Numba's."""
        from llvmlite import ir
        from numba.core import types

        if isinstance(one, types.BaseTuple):
            return self.context.make_tuple(self.builder, one, [self.read(part) for part in one.types])
        if isinstance(one, types.Array):
            return self.read_array(one)
        value = self.next_slot()
        if isinstance(one, types.Boolean):
            return self.builder.icmp_unsigned("!=", value, self.word(0))
        return self.builder.bitcast(value, ir.DoubleType()) if isinstance(one, types.Float) else value

    def read_array(self, one: Any) -> Any:
        """Read an array: where it begins and its shape; in C order the rest follows."""
        from numba.np import arrayobj

        array = self.context.make_array(one)(self.context, self.builder)
        data = self.builder.inttoptr(self.next_slot(), array.data.type)
        shape = [self.next_slot() for _ in range(one.ndim)]
        itemsize = self.word(self.context.get_abi_sizeof(self.context.get_data_type(one.dtype)))
        strides = [itemsize]
        for length in shape[:0:-1]:
            strides.insert(0, self.builder.mul(strides[0], length))
        arrayobj.populate_array(array, data, shape, strides, itemsize, None)
        return array._getvalue()

    def write_slot(self, value: Any) -> None:
        """Store into the next slot."""
        self.builder.store(value, self.builder.gep(self.given, [self.word(next(self.writing))]))

    def write(self, one: Any, value: Any) -> None:
        """Write a value of a type of Numba's."""
        from numba.core import types

        one, builder = types.unliteral(one), self.builder
        if isinstance(one, types.BaseTuple):
            for i, part in enumerate(one.types):
                self.write(part, builder.extract_value(value, i))
        elif isinstance(one, types.Array):
            array = self.context.make_array(one)(self.context, builder, value=value)
            self.write_slot(builder.ptrtoint(array.meminfo, self.word))
            self.write_slot(builder.ptrtoint(array.data, self.word))
            for several, i in itertools.product((array.shape, array.strides), range(one.ndim)):
                self.write_slot(builder.extract_value(several, i))
        elif isinstance(one, types.Float):
            self.write_slot(builder.bitcast(value, self.word))
        elif isinstance(one, types.Integer | types.Boolean):
            longer = builder.sext if getattr(one, "signed", False) else builder.zext
            self.write_slot(value if value.type == self.word else longer(value, self.word))
        elif not isinstance(one, types.NoneType):
            raise TypeError(f"{one} is no type that a kernel can give")


def table(rows: list[dict[str, str]]) -> str:
    """Write the C table of what was built, if guard.c has room for it (MOST_ARRAYS there)."""
    for row in rows:
        if row["takes"].count("[") > 96 or len(row["takes"]) > 400 or row["gives"].count("[") > 7:
            raise SystemExit(f"{row['name']} takes or gives more than guard.c has room for")
    lines = [
        "#include <stddef.h>",
        "#include <stdint.h>",
        "typedef int32_t (*Entry)(const void **, const int64_t *, int64_t *);",
        "typedef struct { const char *name, *parameters, *takes, *gives; Entry run; } Built;",
    ]
    lines += [f"extern int32_t {row['entry']}(const void **, const int64_t *, int64_t *);" for row in rows]
    lines.append("extern const Built mahrem_built[];")
    lines.append("const Built mahrem_built[] = {")
    for row in rows:
        words = ", ".join(json.dumps(row[key]) for key in ("name", "parameters", "takes", "gives"))
        lines.append(f"    {{{words}, {row['entry']}}},")
    lines += ["    {NULL, NULL, NULL, NULL, NULL},", "};", ""]
    return "\n".join(lines)


def reach(function: FunctionType) -> dict[FunctionType, int]:
    """Give a kernel and all inner functions that it calls, each with the length of its code."""
    found, waiting = {}, [function]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = len(one.__code__.co_code)
            called = (one.__globals__.get(name) for name in one.__code__.co_names)
            waiting += [called.py_func for called in called if hasattr(called, "py_func")]
    return found


def divide(wanted: list[Variant], shares: int) -> list[list[Variant]]:
    """Give every process about the same work; kernels that call the same functions go together."""
    known: list[dict[FunctionType, int]] = [{} for _ in range(shares)]
    divided: list[list[Variant]] = [[] for _ in range(shares)]
    for variant in sorted(wanted, key=lambda one: -sum(reach(one.function).values())):
        loads = [sum((mine | reach(variant.function)).values()) for mine in known]
        place = loads.index(min(loads))
        known[place] |= reach(variant.function)
        divided[place].append(variant)
    return divided


def compile_share(share: int, shares: int, work: Path) -> None:
    """Compile one share of the kernels into a folder; run in a process of its own."""
    objects, rows = compile_kernels(divide(variants(), shares)[share], f"mahrem_{share}")
    for name, code in objects.items():
        (work / f"{share}-{name}.o").write_bytes(code)
    (work / f"{share}.json").write_text(json.dumps(rows))


def link(variant: str, work: Path, folder: Path) -> None:
    """Make the extension module for one kind of processor of what was compiled."""
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    module = f"_built_{variant}"
    compiler = new_compiler()
    customize_compiler(compiler)
    for include in {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}:
        compiler.add_include_dir(include)
    microsoft = compiler.compiler_type == "msvc"
    objects = compiler.compile(
        ["guard.c", "table.c"],
        output_dir=variant,
        macros=[("MAHREM_INIT", f"PyInit_{module}")],
        extra_preargs=["/std:c11", "/experimental:c11atomics"]
        if microsoft
        else ["-O2", "-fvisibility=hidden"],
    )
    if microsoft:
        compiler.add_library_dir(str(Path(sys.base_prefix) / "libs"))
    options = {"linux": ["-Wl,-Bsymbolic", "-Wl,-s"], "darwin": ["-undefined", "dynamic_lookup"]}
    compiler.link_shared_object(
        [*objects, *(str(path) for path in sorted(work.glob(f"*-{variant}.o")))],
        str(folder / f"{module}{SUFFIX}"),
        libraries=[] if microsoft else ["m"],
        export_symbols=[f"PyInit_{module}"],
        extra_preargs=options.get(sys.platform, []),
    )


def build(folder: Path) -> list[Path]:
    """Build for every kind of processor; gives the files made. What is up to date stays."""
    from mahrem.arrays._kernel import fingerprint

    folder = folder.resolve()
    manifest = folder / "_built.json"
    files = [folder / f"_built_{variant}{SUFFIX}" for variant in PROCESSORS]
    made_from = {
        "sources": fingerprint(ROOT),
        "numba": version("numba"),
        "platform": sysconfig.get_platform(),
    }
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(manifest.read_text())
        if kept == {**made_from, "files": {path.name: checked(path) for path in files}}:
            return [*files, manifest]
    folder.mkdir(parents=True, exist_ok=True)
    manifest.unlink(missing_ok=True)
    # Nothing of this machine gets in: the same sources give the same files.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"MAHREM_KERNELS": "jit", "PYTHONHASHSEED": "0"}
    environment |= {"NUMBA_CPU_NAME": PROCESSORS["baseline"] or "generic", "NUMBA_CPU_FEATURES": ""}
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        work = Path(scratch)
        commands = [[sys.executable, __file__, str(work), "--share", f"{i}/{SHARES}"] for i in range(SHARES)]
        running = [subprocess.Popen(command, env=environment) for command in commands]
        codes = [one.wait() for one in running]
        if any(codes):
            raise SystemExit("the kernels could not be built; the lines above say why")
        rows = [row for i in range(SHARES) for row in json.loads((work / f"{i}.json").read_text())]
        shutil.copy(ROOT / "native" / "guard.c", work)
        (work / "table.c").write_text(table(sorted(rows, key=lambda row: row["name"])))
        for variant in PROCESSORS:
            link(variant, work, folder)
            # a name that nobody defines is found when it is loaded
            subprocess.run([sys.executable, "-c", f"import _built_{variant}"], cwd=folder, check=True)
    kept = {**made_from, "files": {path.name: checked(path) for path in files}}
    manifest.write_text(json.dumps(kept, indent=1) + "\n")
    return [*files, manifest]


def checked(path: Path) -> list[int]:
    """Give size and checksum of a file: a damaged one is found out before it is loaded."""
    content = path.read_bytes()
    return [len(content), zlib.crc32(content)]


def main() -> None:
    """Build into a folder."""
    parser = argparse.ArgumentParser(description="Build the kernels into extension modules.")
    parser.add_argument("folder", type=Path, nargs="?", default=SOURCES)
    parser.add_argument("--share", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.share:
        share, shares = given.share.split("/")
        compile_share(int(share), int(shares), given.folder)
    else:
        build(given.folder)


if __name__ == "__main__":
    main()
