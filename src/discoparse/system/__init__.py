"""The transition system of the paper and its oracles (Section 2), and the systems that it replaces.

`transition` is Table 1, `oracle` Section 2.2; read them beside the paper.
"""

from discoparse.system.constituents import constituents_tree, tree_constituents
from discoparse.system.constraints import ConstraintError, Constraints, Required
from discoparse.system.dynamic_oracle import DynamicOracle
from discoparse.system.oracle import Gold, static_derivation
from discoparse.system.transition import Action, Combine, Configuration, IllegalAction, Item, Label, NoLabel, Shift

__all__ = [
    "Action",
    "Combine",
    "Configuration",
    "ConstraintError",
    "Constraints",
    "DynamicOracle",
    "Gold",
    "IllegalAction",
    "Item",
    "Label",
    "NoLabel",
    "Required",
    "Shift",
    "constituents_tree",
    "static_derivation",
    "tree_constituents",
]
