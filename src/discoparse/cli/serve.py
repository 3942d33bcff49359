"""`discoparse serve`: an HTTP API and a page, on this machine or for others."""

from __future__ import annotations

from importlib.util import find_spec

import click

from discoparse.cli.options import device_option, tell
from discoparse.errors import UsageError

_LOCAL = "127.0.0.1"


@click.command()
@click.option("--host", default=_LOCAL, show_default=True, help="Address to listen on; 0.0.0.0 is open to the network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="NAME|DIR",
    help="A model to serve; repeatable [all installed ones without a transformer].",
)
@device_option
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU cores of a worker.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that parse.")
@click.option(
    "--max-tokens", type=click.IntRange(1, 2000), default=400, show_default=True, help="Tokens of a sentence, at most."
)
@click.option(
    "--queue", type=click.IntRange(min=1), default=512, show_default=True, help="Requests that may wait in a worker."
)
@click.option(
    "--token",
    envvar="DISCOPARSE_TOKEN",
    metavar="SECRET",
    help="Answer only requests that bring this [$DISCOPARSE_TOKEN, or everybody's].",
)
def command(
    host: str,
    port: int,
    models: tuple[str, ...],
    device: str,
    threads: int,
    workers: int,
    max_tokens: int,
    queue: int,
    token: str | None,
) -> None:
    """Serve a page for parsing, looking, stepping and correcting, and an HTTP API.

    Ctrl-C or SIGTERM ends it when all requests that it has accepted are answered.
    """
    missing = [name for name in ("uvicorn", "httptools", "orjson") if find_spec(name) is None]
    if missing:
        raise UsageError(f"serve needs {' and '.join(missing)}: pip install 'discoparse[serve]'")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token != ""):
        raise UsageError("the token must consist of ASCII characters, without spaces around it")
    from discoparse.serve import Catalogue, Settings, run_server  # here, since it needs an extra

    catalogue = Catalogue.load(models, device, threads, tell)
    settings = Settings(tokens=max_tokens, queue=queue, token=token)

    def announce(address: str) -> None:
        tell(f"serving {', '.join(catalogue.models)} at {address} (Ctrl-C ends it)")

    run_server(catalogue, settings, host, port, announce, workers, tell)
