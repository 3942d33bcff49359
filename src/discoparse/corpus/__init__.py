"""Corpora of any size: documents in, Parquet or JSON lines out, by processes here or by the workers of a Ray cluster.

A job is a list of units, each a run of documents (`plan`), which is sealed before work begins (`job`). A worker turns a
unit into one file of output (`work`); `scheduling` hands units to workers and survives their deaths, whether they are
processes of this machine (`local_pool`) or actors of a cluster (`ray_pool`). `run` ties this together.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.corpus.documents import Fields
    from discoparse.corpus.run import Engine, Result, parse_corpus

__all__ = ["Engine", "Fields", "Result", "parse_corpus"]

__getattr__, __dir__ = lazy_names(
    __name__, {"Engine": "run", "Fields": "documents", "Result": "run", "parse_corpus": "run"}
)
