"""discoparse: discontinuous constituency parsing with a stack-free transition system and a dynamic oracle.

`__all__` is the public API; docs/reference/api.md says what is promised.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discoparse.errors import DiscoparseError
    from discoparse.evaluation import evaluate
    from discoparse.parser.finding import load, models
    from discoparse.parser.parser import Parser
    from discoparse.system.constraints import ConstraintError, Constraints
    from discoparse.tree import Node, Token, Tree
    from discoparse.treebank import read_trees, write_trees

    __version__: str

__all__ = [
    "ConstraintError",
    "Constraints",
    "DiscoparseError",
    "Node",
    "Parser",
    "Token",
    "Tree",
    "__version__",
    "evaluate",
    "load",
    "models",
    "read_trees",
    "write_trees",
]

# Where each public name is defined; imported on first use, so `import discoparse` never waits for PyTorch.
_HOMES = {
    "ConstraintError": "system.constraints",
    "Constraints": "system.constraints",
    "DiscoparseError": "errors",
    "Node": "tree",
    "Parser": "parser.parser",
    "Token": "tree",
    "Tree": "tree",
    "evaluate": "evaluation",
    "load": "parser.finding",
    "models": "parser.finding",
    "read_trees": "treebank",
    "write_trees": "treebank",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOMES:
        value = getattr(import_module(f"discoparse.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'discoparse' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _version() -> str:
    """The version in pyproject.toml, as it was installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("discoparse")
    except PackageNotFoundError:  # a checkout on PYTHONPATH
        return "0+unknown"
