"""Watch the memory of `discoparse serve` over many requests, with words that it has never seen before:

python scripts/soak_test.py --model nl [--requests 100000] [--clients 16]

Most requests are for parsing; of each hundred, one is for probabilities, one has constraints, and one each are for a
derivation and a picture. Printed is the resident memory of the server and its workers.
Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from load_test import Client, family

_STEPS = 20  # figures that are printed
_LETTERS = "abcdefghijklmnoprstuvwz"


def new_sentence(chance: random.Random) -> list[str]:
    """Up to a dozen words, hardly any of which ever occurs twice."""
    return ["".join(chance.choices(_LETTERS, k=chance.randrange(4, 12))) for _ in range(chance.randrange(3, 12))]


def requests(count: int, model: str) -> Iterator[tuple[str, bytes]]:
    """Endpoints and bodies."""
    chance = random.Random(1)
    for number in range(count):
        tokens = new_sentence(chance)
        fields = {"tokens": tokens, "model": model}
        endpoint = "parse"
        if number % 100 == 0:
            fields["probabilities"] = 8
        elif number % 100 == 25:
            fields["constraints"] = {"constituents": [[0, len(tokens) - 1]]}
        elif number % 100 == 50:
            endpoint = "derive"
        elif number % 100 == 75:
            fields["format"] = "svg"
        yield endpoint, json.dumps(fields).encode()


def memory(process: int) -> float:
    """Resident memory of a process and its children in MB; what workers share counts once for each."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in family(process))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def soak(port: int, process: int, count: int, clients: int, model: str) -> None:
    """Send all requests, and print the memory now and then."""
    waiting = requests(count, model)
    done, started = 0, time.perf_counter()
    print(f"{done:>7} requests, {memory(process):.0f} MB")

    async def work() -> None:
        nonlocal done
        async with Client(port) as client:
            for endpoint, body in waiting:
                await client.ask(body, endpoint)
                done += 1
                if done % max(1, count // _STEPS) == 0:
                    seconds = time.perf_counter() - started
                    print(f"{done:>7} requests, {memory(process):.0f} MB, {seconds:.0f} s", flush=True)

    await asyncio.gather(*(work() for _ in range(clients)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="nl")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int, default=8767)
    options = parser.parse_args()
    command = [sys.executable, "-m", "discoparse", "serve", "-m", options.model, "--port", str(options.port)]
    server = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        print(server.stderr.readline().strip())
        asyncio.run(soak(options.port, server.pid, options.requests, options.clients, options.model))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
