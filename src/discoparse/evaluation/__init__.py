"""Evaluation: the field's own figures for discontinuous parsing, and an account of what went wrong."""

from discoparse.evaluation.breakdown import CLASSIFIERS, GroupScores, break_down
from discoparse.evaluation.mistakes import Mistakes, find_mistakes
from discoparse.evaluation.parameters import Parameters, read_parameters, standard_parameters
from discoparse.evaluation.report import html_report
from discoparse.evaluation.result import Result, Scores
from discoparse.evaluation.scoring import evaluate
from discoparse.evaluation.significance import Comparison, compare_results

__all__ = [
    "CLASSIFIERS",
    "Comparison",
    "GroupScores",
    "Mistakes",
    "Parameters",
    "Result",
    "Scores",
    "break_down",
    "compare_results",
    "evaluate",
    "find_mistakes",
    "html_report",
    "read_parameters",
    "standard_parameters",
]
