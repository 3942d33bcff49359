"""discoparse: discontinuous constituency parsing with a stack-free transition system and a dynamic oracle."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discoparse.evaluation import evaluate
    from discoparse.parser.finding import load
    from discoparse.parser.parser import Parser
    from discoparse.tree import Node, Token, Tree
    from discoparse.treebank import read_trees, write_trees

__version__ = "0.1.0"
__all__ = ["Node", "Parser", "Token", "Tree", "evaluate", "load", "read_trees", "write_trees"]

# Where each public name lives; imported on first use, so that `import discoparse` never waits for PyTorch.
_HOMES = {
    "Node": "tree",
    "Parser": "parser.parser",
    "Token": "tree",
    "Tree": "tree",
    "evaluate": "evaluation",
    "load": "parser.finding",
    "read_trees": "treebank",
    "write_trees": "treebank",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discoparse' has no attribute {name!r}")
    value = getattr(import_module(f"discoparse.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
