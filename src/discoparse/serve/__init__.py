"""`discoparse serve`: parsing over HTTP, and a page on top of it. Needs the extra `serve`.

`create_app` makes the ASGI application of some parsers; `run_server` serves it until it is told to end.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.serve.app import create_app
    from discoparse.serve.catalogue import Catalogue
    from discoparse.serve.server import run_server
    from discoparse.serve.settings import Settings

__all__ = ["Catalogue", "Settings", "create_app", "run_server"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"Catalogue": "catalogue", "Settings": "settings", "create_app": "app", "run_server": "server"},
)
