"""Compile the C++ of this directory, once for each kind of CPU: part of the package's build, which needs nothing else.

Where there is no compiler the build goes on without it. `python -m discoparse.neural.compiled.build` compiles for a
package that is installed already.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATIVE = HERE / "native"
SOURCES = (NATIVE / "api.cpp",)
_OPTIONS = ("-std=c++17", "-O3", "-ffp-contract=fast", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512vnni")


def kinds() -> dict[str, tuple[str, ...]]:
    """The compiler's options for each kind of CPU of this machine's family, by the names in `library.KINDS`."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"plain": (), "avx2": ("-mavx2", "-mfma"), "avx512": _AVX512}
    return {"plain": ()}  # with NEON on ARM


def compiler() -> str | None:
    """GCC or Clang, whose vectors the code is written with."""
    names = (os.environ.get("CXX", ""), "c++", "g++", "clang++")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def compile_sources(output: Path, sources: Sequence[Path], options: Sequence[str]) -> None:
    """Run the compiler; an OSError says what went wrong."""
    found = compiler()
    if found is None:
        raise OSError("no C++ compiler")
    command = [found, *_OPTIONS, *options, *map(str, sources), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}\n{done.stderr[-2000:]}")


def build(folder: Path = HERE) -> list[str]:
    """Put the libraries into a folder; returns the problems of those that could not be compiled."""
    problems = []
    for kind, options in kinds().items():
        output = folder / f"discoparse-{kind}.so"
        partial = output.with_suffix(f".{os.getpid()}")
        try:
            compile_sources(partial, SOURCES, ("-shared", *options))
            os.replace(partial, output)  # whoever has loaded the old one keeps it
        except OSError as error:
            problems.append(f"discoparse-{kind}.so: {error}")
            partial.unlink(missing_ok=True)
    return problems


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("usage: python -m discoparse.neural.compiled.build: compile the network for this machine")
    found = build()
    print("\n".join(found) if found else f"compiled into {HERE}")
    sys.exit(1 if found else 0)
