"""The compiled network under the address and undefined-behaviour sanitizers: `native/driver.cpp` runs all of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from discoparse.neural.compiled.build import NATIVE, compile_sources, compiler, kinds
from discoparse.neural.compiled.library import supported

DRIVER = Path(__file__).parent / "native" / "driver.cpp"
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")


@pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("kind", kinds())
def test_nothing_is_read_or_written_out_of_bounds(kind, tmp_path):
    if kind not in (*supported(), "plain"):
        pytest.skip(f"this CPU cannot run {kind}")
    empty = tmp_path / "empty.cpp"
    empty.write_text("int main() {}\n")
    try:
        compile_sources(tmp_path / "empty", [empty], SANITIZERS)
    except OSError as error:
        pytest.skip(f"the compiler has no sanitizers: {error}")
    program = tmp_path / "driver"
    compile_sources(program, [DRIVER], (*SANITIZERS, "-I", str(NATIVE), *kinds()[kind]))
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run([program, "40"], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr[-3000:]
