"""The paper's tables and figures on any treebank, and the benchmark: plan and train, measure, report."""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.experiment.benchmark import run_benchmark
    from discoparse.experiment.experiment import run_experiment

__all__ = ["run_benchmark", "run_experiment"]

__getattr__, __dir__ = lazy_names(__name__, {"run_benchmark": "benchmark", "run_experiment": "experiment"})
