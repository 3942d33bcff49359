"""The ASGI application: routes, who may ask, the headers that every answer has, and the page's files in memory."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import NamedTuple

from discoparse.serve.catalogue import Catalogue
from discoparse.serve.endpoints import Api
from discoparse.serve.exchange import Receive, Request, Response, Scope, Send
from discoparse.serve.metrics import Metrics
from discoparse.serve.problems import Refusal, as_refusal
from discoparse.serve.settings import Settings

PREFIX = "/api/v1"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Scripts and styles only from this server's files, nothing from other sites, and no page may frame this one.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

Handler = Callable[[Request], Awaitable[Response]]


class Route(NamedTuple):
    """An endpoint: its name in the metrics, its method, and what answers it."""

    name: str
    method: str
    handler: Handler
    open: bool = False  # answered without the token


class Application:
    """What uvicorn serves."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.token = api.settings.token
        self.page = _page_files()
        self.routes = {
            f"{PREFIX}/parse": Route("parse", "POST", api.parse),
            f"{PREFIX}/draw": Route("draw", "POST", api.draw),
            f"{PREFIX}/derive": Route("derive", "POST", api.derive),
            f"{PREFIX}/convert": Route("convert", "POST", api.convert),
            f"{PREFIX}/evaluate": Route("evaluate", "POST", api.evaluate),
            f"{PREFIX}/models": Route("models", "GET", api.models),
            f"{PREFIX}/health": Route("health", "GET", api.health, open=True),
            f"{PREFIX}/metrics": Route("metrics", "GET", api.show_metrics),
            f"{PREFIX}/openapi.json": Route("other", "GET", api.openapi, open=True),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self.api.queue.start()
        self.api.errands.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.api.queue.close()
        self.api.errands.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, receive)
        name = "other"
        try:
            route = self._route(request)
            name = route.name
            if self.token is not None and not route.open:
                self._check_token(request)
            response = await route.handler(request)
        except Exception as error:
            response = as_refusal(error).response()
        await response.send(send, _HEADERS)
        self.api.metrics.answered(name, response.status, time.perf_counter() - started)

    def _route(self, request: Request) -> Route:
        """What answers a request; a `Refusal` if nothing does."""
        path, method = request.path, request.method
        route = self.routes.get(path) or self._model_route(path) or self._page_route(path)
        if route is None:
            raise Refusal(404, f"there is nothing here: the API is under {PREFIX}, and {PREFIX}/docs describes it")
        if method != route.method and not (method == "HEAD" and route.method == "GET"):
            allowed = "GET, HEAD" if route.method == "GET" else route.method
            raise Refusal(405, f"use {route.method} here", {"Allow": allowed})
        return route

    def _model_route(self, path: str) -> Route | None:
        folder, _, name = path.rpartition("/")
        if folder != f"{PREFIX}/models" or not name:
            return None
        return Route("models", "GET", lambda request: self.api.model(request, name))

    def _page_route(self, path: str) -> Route | None:
        shown = self.page.get(path)
        if shown is None:
            return None

        async def show(request: Request) -> Response:
            headers = {"ETag": shown.tag, "Cache-Control": "no-cache"}
            if request.header(b"if-none-match") == shown.tag:
                return Response(status=304, headers=headers)
            return Response(shown.content, shown.kind, headers=headers)

        return Route("page", "GET", show, open=True)

    def _check_token(self, request: Request) -> None:
        kind, _, given = request.header(b"authorization").partition(" ")
        wanted = (self.token or "").encode("utf-8")
        if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("utf-8"), wanted):
            raise Refusal(
                401,
                "this server wants a token: send the header Authorization: Bearer …",
                {"WWW-Authenticate": "Bearer"},
            )


class PageFile(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str
    tag: str


def _page_files() -> dict[str, PageFile]:
    """The page's files by their paths, read once: no request opens a file."""
    found: dict[str, PageFile] = {}
    for entry in (files("discoparse.serve") / "page").iterdir():
        ending = entry.name[entry.name.rfind(".") :]
        if ending in _TYPES:
            content = entry.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
            found[f"/{entry.name}"] = PageFile(content, _TYPES[ending], tag)
    found["/"] = found["/index.html"]
    found[f"{PREFIX}/docs"] = found.pop("/docs.html")  # its links are relative to this place
    return found


def create_app(catalogue: Catalogue, settings: Settings | None = None, metrics: Metrics | None = None) -> Application:
    """The application of some models, for any ASGI server."""
    return Application(Api(catalogue, settings or Settings(), metrics or Metrics()))
