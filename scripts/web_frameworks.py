"""What a web framework would cost `discoparse serve`: one endpoint written three times, on the same uvicorn.

python scripts/web_frameworks.py plain|starlette|fastapi     (taskset -c 0 for the server; the client takes core 1)

The endpoint takes the words of a sentence as JSON, checks their types and answers with a tree as JSON of usual size.
Printed are the time to import everything and the median time of a request from a lone client, in three rounds.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

_PORT = 8766
_REQUESTS = 3000
_WORDS = [f"word{k}" for k in range(20)]
_ANSWER = {
    "tokens": [
        {"word": word, "tag": "n", "span": [8 * k, 8 * k + 7], "parent": k // 2} for k, word in enumerate(_WORDS)
    ],
    "nodes": [{"label": "np", "label_probability": 0.987, "tokens": list(range(k)), "parent": 0} for k in range(10)],
}


def plain():
    """An ASGI application by hand, as discoparse's is."""
    import orjson

    async def app(scope, receive, send):
        message = await receive()
        words = json.loads(message["body"])["tokens"]
        "".join(words).encode()
        content = orjson.dumps(_ANSWER)
        headers = [(b"content-length", b"%d" % len(content)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return app


def starlette():
    import orjson
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def parse(request):
        words = (await request.json())["tokens"]
        "".join(words).encode()
        return Response(orjson.dumps(_ANSWER), media_type="application/json")

    return Starlette(routes=[Route("/parse", parse, methods=["POST"])])


def fastapi():
    import orjson
    import pydantic
    from fastapi import FastAPI, Response

    Sentence = pydantic.create_model("Sentence", tokens=(list[str], ...))
    app = FastAPI()

    @app.post("/parse")
    async def parse(sentence: Sentence):  # type: ignore[valid-type]
        return Response(orjson.dumps(_ANSWER), media_type="application/json")

    return app


def _client() -> None:
    """Three rounds of requests, one after the other."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {1})
    body = json.dumps({"tokens": _WORDS}).encode()
    head = f"POST /parse HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", _PORT)) as connection:
        for _ in range(3):
            times = []
            for _ in range(_REQUESTS):
                started = time.perf_counter()
                connection.sendall(head.encode() + body)
                answer = b""
                while not answer.endswith(b"}]}"):
                    answer += connection.recv(1 << 16)
                times.append(time.perf_counter() - started)
                if not answer.startswith(b"HTTP/1.1 200 "):
                    raise SystemExit(answer.decode())
            print(f"{1e6 * statistics.median(times):.0f} µs a request")


def main(name: str) -> None:
    started = time.perf_counter()
    import httptools  # noqa: F401
    import uvicorn

    app = {"plain": plain, "starlette": starlette, "fastapi": fastapi}[name]()
    print(f"{name}: imported in {1000 * (time.perf_counter() - started):.0f} ms")
    config = uvicorn.Config(app, port=_PORT, loop="asyncio", log_level="error", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    subprocess.run([sys.executable, __file__, "client"], check=True)


if __name__ == "__main__":
    _client() if sys.argv[1:] == ["client"] else main(*sys.argv[1:])
