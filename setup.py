"""The part of the build that pyproject.toml cannot describe: the compiled network, where there is a compiler."""

import importlib.util
import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

COMPILED = Path("discoparse", "neural", "compiled")
specification = importlib.util.spec_from_file_location("build_compiled", Path("src", COMPILED, "build.py"))
compiled = importlib.util.module_from_spec(specification)
specification.loader.exec_module(compiled)


class BuildLibraries(build_ext):
    """Plain libraries, which `ctypes` loads, instead of extension modules."""

    def run(self) -> None:
        folder = Path("src" if self.inplace or self.editable_mode else self.build_lib, COMPILED)
        folder.mkdir(parents=True, exist_ok=True)
        for problem in compiled.build(folder):
            print(f"not compiled, PyTorch will do its work: {problem}", file=sys.stderr)

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class AnyPython(bdist_wheel):
    """The libraries depend on the system, but not on the version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        _, _, system = super().get_tag()
        return "py3", "none", system


wanted = compiled.compiler() is not None and os.environ.get("DISCOPARSE_COMPILED") != "off"
extension = Extension(str(COMPILED).replace(os.sep, "."), [str(Path("src", COMPILED, "native", "api.cpp"))])
setup(
    ext_modules=[extension] if wanted else [],
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": AnyPython},
)
