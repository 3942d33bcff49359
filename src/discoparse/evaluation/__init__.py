"""Evaluation: the field's own figures for discontinuous parsing, and an account of what went wrong."""

from discoparse.evaluation.parameters import Parameters, read_parameters, standard_parameters
from discoparse.evaluation.result import Result, Scores
from discoparse.evaluation.scoring import evaluate

__all__ = ["Parameters", "Result", "Scores", "evaluate", "read_parameters", "standard_parameters"]
