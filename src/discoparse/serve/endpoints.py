"""The endpoints of the API: what each takes from a request, and who computes the answer."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from itertools import islice
from typing import Any
from urllib.parse import quote

from discoparse import __version__
from discoparse.parser.documents import ranked
from discoparse.parser.doubt import Doubt
from discoparse.serve.answers import as_json, decided, derived, evaluated, explained, parsed
from discoparse.serve.bodies import Fields, read_fields
from discoparse.serve.catalogue import Catalogue, Served
from discoparse.serve.errands import Errands
from discoparse.serve.exchange import Request, Response
from discoparse.serve.inputs import Sentences, trees_of
from discoparse.serve.lockstep_queue import Job, LockstepQueue, Method
from discoparse.serve.metrics import Metrics
from discoparse.serve.openapi import description
from discoparse.serve.pictures import FORMATS, PICTURES, drawing_options, drawn, media_type, written
from discoparse.serve.problems import Refusal
from discoparse.serve.settings import BEST, SAMPLES, Settings

_QUEUED = 64  # requests of the longest text that may wait together
_SOON = 0.1  # seconds in which nobody looks whether the client is still there
LEFT = 499  # the status of answers that nobody gets


class Api:
    """The endpoints over some models."""

    def __init__(self, catalogue: Catalogue, settings: Settings, metrics: Metrics) -> None:
        self.catalogue = catalogue
        self.settings = settings
        self.metrics = metrics
        self.queue = LockstepQueue(settings.queue, _QUEUED * settings.characters, metrics)
        self.errands = Errands(settings.queue, metrics)

    # -- what is computed ---------------------------------------------------------------------------------------

    async def parse(self, request: Request) -> Response:
        """Text or tokens to trees."""
        fields = await read_fields(request, self.settings)
        sentences = Sentences(fields, self.settings)
        name, served = self._model(fields, sentences)
        format = fields.choice("format", FORMATS, "json")
        options = drawing_options(fields)
        doubt = Doubt.asked(fields.number("probabilities", SAMPLES) or 0, fields.flag("consensus"))
        best = fields.number("best", BEST)
        fields.end()
        constrained = any(sentences.constraints)
        if constrained + (doubt is not None) + (best is not None) > 1:
            raise Refusal(
                422,
                "constraints, probabilities (or consensus) and best exclude each other: ask for one of them at a time",
            )

        method = Method(served.parser, doubt, best, constrained)

        def finish(found: list[Any]) -> bytes:
            if method.greedy and format == "json":
                return decided(name, served.writer, found, sentences)
            if method.greedy:
                trees = [served.writer.tree(passage, decisions) for passage, decisions in found]
            elif best is not None:
                trees = [tree for number, trees in enumerate(found, 1) for tree in ranked(number, trees)]
            else:
                trees = found
            if format == "json":
                return parsed(name, trees, sentences)
            return written(trees, format, options, self.settings)

        job = Job(method, sentences.passages(served.parser), finish, sentences.characters)
        content = await self.queue.at_once(job)
        if content is None:
            content = await self._unless_left(request, self.queue.submit(job))
        return Response(content, media_type(format), headers={"Discoparse-Model": quote(name)})  # headers are ASCII

    async def derive(self, request: Request) -> Response:
        """The derivation of a tree, or that of a sentence by a parser."""
        fields = await read_fields(request, self.settings)
        if "tree" in fields:
            return await self._errand(request, lambda: derived(fields, self.settings))
        sentences = Sentences(fields, self.settings)
        name, served = self._model(fields, sentences)
        number = fields.number("sentence", (1, self.settings.sentences)) or 1
        fields.end()

        def work() -> bytes:
            passage = next(islice(sentences.passages(served.parser), number - 1, None), None)
            if passage is None:
                raise Refusal(422, f"there is no sentence {number} in the text")
            return explained(name, served.parser, passage, self.settings)

        return await self._errand(request, work)

    async def draw(self, request: Request) -> Response:
        """Trees to pictures."""
        fields = await read_fields(request, self.settings)
        format = fields.choice("format", PICTURES, "svg")
        options = drawing_options(fields)

        def work() -> bytes:
            trees = trees_of(fields, "tree", "from", self.settings)
            others = trees_of(fields, "compare", "from", self.settings) if "compare" in fields else None
            fields.any("compare")
            fields.end()
            return drawn(trees, others, format, options, self.settings)

        return await self._errand(request, work, format)

    async def convert(self, request: Request) -> Response:
        """Trees to another format."""
        fields = await read_fields(request, self.settings)
        format = fields.choice("format", FORMATS, "discbracket")
        options = drawing_options(fields)

        def work() -> bytes:
            trees = trees_of(fields, "tree", "from", self.settings)
            fields.end()
            return written(trees, format, options, self.settings)

        return await self._errand(request, work, format)

    async def evaluate(self, request: Request) -> Response:
        """Scores of predicted against gold trees."""
        fields = await read_fields(request, self.settings)
        return await self._errand(request, lambda: evaluated(fields, self.settings))

    # -- what is known ------------------------------------------------------------------------------------------

    async def models(self, request: Request) -> Response:
        """The models, without their cards."""
        listed = [{**served.listed.to_json(), "name": name} for name, served in self.catalogue.models.items()]
        return Response(as_json({"models": listed, "defaults": self.catalogue.defaults}))

    async def model(self, request: Request, name: str) -> Response:
        """A model with its card, its labels and its tags."""
        served = self.catalogue.named(name)
        return Response(as_json({**served.to_json(), "name": name, "card": served.card}))

    async def health(self, request: Request) -> Response:
        """That the server answers, and what it allows."""
        limits = dataclasses.asdict(self.settings)
        secret = limits.pop("token")
        data = {
            "status": "ok",
            "version": __version__,
            "models": list(self.catalogue.models),
            "limits": limits,
            "token": secret is not None,
        }
        return Response(as_json(data))

    async def show_metrics(self, request: Request) -> Response:
        return Response(self.metrics.exposition().encode(), "text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, request: Request) -> Response:
        return Response(as_json(description(self.catalogue, self.settings)))

    # -- how ----------------------------------------------------------------------------------------------------

    def _model(self, fields: Fields, sentences: Sentences) -> tuple[str, Served]:
        return self.catalogue.choose(fields.text("model"), fields.text("language"), sentences.sample())

    async def _errand(self, request: Request, work: Callable[[], bytes], format: str = "json") -> Response:
        content = await self._unless_left(request, self.errands.submit(work))
        return Response(content, media_type(format))

    async def _unless_left(self, request: Request, answer: asyncio.Future[bytes]) -> bytes:
        """The answer; if the client leaves first, nobody computes it any more. Only long waits are watched."""
        watching: list[asyncio.Future[None]] = []
        alarm = asyncio.get_running_loop().call_later(
            _SOON, lambda: watching.append(asyncio.ensure_future(_cancel_if_left(request, answer)))
        )
        try:
            return await answer
        except asyncio.CancelledError:
            if not (watching and watching[0].done()):
                raise
            self.metrics.add("abandoned_total")
            raise Refusal(LEFT, "the client left") from None
        finally:
            alarm.cancel()
            for task in watching:
                task.cancel()
            answer.cancel()


async def _cancel_if_left(request: Request, answer: asyncio.Future[bytes]) -> None:
    await request.left()
    answer.cancel()
