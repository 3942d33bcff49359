"""Reading and transforming the files of a source, with everything that users should know about it collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from discoparse.transform import TransformNotes, Transforms, transform_trees
from discoparse.tree import Tree
from discoparse.treebank import Report, read_trees

Watch = Callable[[Iterator[Tree]], Iterable[Tree]]


@dataclass
class Reader:
    """How the files of one treebank are read."""

    encoding: str | None = None
    on_error: str | None = None  # None: what the recipe says
    report: Report = field(default_factory=Report)
    notes: TransformNotes = field(default_factory=TransformNotes)
    watch: Watch = iter  # called with every stream of trees, for a progress bar

    def trees(
        self,
        paths: str | Iterable[str],
        format: str | None,
        transforms: Transforms,
        *,
        encoding: str | None = None,
        on_error: str = "fail",
        lemmas: bool = False,
    ) -> Iterator[Tree]:
        """The transformed trees of files or a directory; the user's encoding and `on_error` come first."""
        trees = read_trees(
            paths,
            format,
            encoding=self.encoding or encoding,
            on_error=self.on_error or on_error,
            report=self.report,
            lemmas=lemmas,
        )
        return transform_trees(self.watch(trees), transforms, self.notes)

    def quiet(self) -> Reader:
        """The same for another pass over the same files, without reporting everything again."""
        return Reader(self.encoding, self.on_error, watch=self.watch)
