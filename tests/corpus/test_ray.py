"""The same jobs on a Ray cluster of several nodes on this machine: actors die, nodes leave, the program is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import run_main
from small_corpora import make_documents, run_elsewhere, serial_rows, stored_rows, write_json_lines

import discoparse.corpus.plan
from discoparse.corpus.ray_pool import RayPool
from discoparse.corpus.run import Engine, parse_corpus
from discoparse.errors import DiscoparseError, UsageError

ray = pytest.importorskip("ray", reason="needs the extra ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
actors = pytest.importorskip("ray._private.state").actors  # all that there were, by id

DOCUMENTS = make_documents(200, seed=2)
MEMORY = 80 << 20  # bytes of a node's object store, the least that Ray takes


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes that work, and one that only keeps the books."""
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
    )
    for _ in range(3):
        made.add_node(num_cpus=1, object_store_memory=MEMORY)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(discoparse.corpus.plan, "LEAST_BYTES", 400)
    return str(write_json_lines(tmp_path / "corpus.jsonl", DOCUMENTS))


def check_resumed(arguments: Sequence[str], units: int) -> None:
    """The job goes on: these units were done, and no worker is lost."""
    status, printed, errors = run_main(*arguments, "--resume", "--json")
    assert status == 0, errors
    shown = json.loads(printed)
    assert shown["units_resumed"] == units
    assert shown["workers"] == 3
    assert shown["workers_lost"] == 0


def test_a_killed_program_goes_on(tmp_path: Path, cluster: Any, model: str, corpus: str) -> None:
    output = tmp_path / "out"
    arguments = ("corpus", corpus, str(output), "-m", model, "--engine", "ray", "--address", cluster.address)
    killed = run_elsewhere(*arguments, die_after=4)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len((output / ".job" / "journal.jsonl").read_text().splitlines()) == 4
    check_resumed(arguments, units=4)
    assert stored_rows(output) == serial_rows(model, DOCUMENTS)


def test_a_program_that_is_asked_to_end_goes_on_later(tmp_path: Path, cluster: Any, model: str, corpus: str) -> None:
    """By SIGTERM, as batch systems do: no unfinished file stays, and no actor for which the next job would wait."""
    output = tmp_path / "out"
    arguments = ("corpus", corpus, str(output), "-m", model, "--engine", "ray", "--address", cluster.address)
    ended = run_elsewhere(*arguments, die_after=3, by=signal.SIGTERM)
    assert ended.returncode == 143, ended.stderr
    assert ended.stderr.splitlines()[-1] == "discoparse: what is done is kept: go on with --resume"
    assert "Traceback" not in ended.stderr
    assert "SIGTERM" not in ended.stderr  # nor a report of Ray's
    assert len((output / ".job" / "journal.jsonl").read_text().splitlines()) == 3
    assert not list(output.glob(".part-*"))
    check_resumed(arguments, units=3)
    assert stored_rows(output) == serial_rows(model, DOCUMENTS)


def test_an_actor_dies_and_a_node_leaves(
    tmp_path: Path, cluster: Any, model: str, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one job, with a document that cannot be read: all others come out as in a serial run."""
    with open(corpus, "a") as stream:
        stream.write("not JSON\n")
    submit, given = RayPool.submit, []

    def submit_and_disturb(pool: RayPool, worker: int, unit: int) -> None:
        submit(pool, worker, unit)
        given.append(unit)
        actor = actors()[pool._actors[worker]._actor_id.hex()]
        if len(given) == 5:
            os.kill(actor["Pid"], signal.SIGKILL)
        if len(given) == 12:
            node = actor["Address"]["NodeID"]
            cluster.remove_node(next(n for n in cluster.worker_nodes if n.node_id == node), allow_graceful=False)

    monkeypatch.setattr(RayPool, "submit", submit_and_disturb)
    output = tmp_path / "out"
    status, printed, errors = run_main(
        *("corpus", corpus, str(output), "-m", model, "--engine", "ray", "--address", cluster.address, "--json")
    )
    assert status == 1
    assert stored_rows(output) == serial_rows(model, DOCUMENTS)
    shown = json.loads(printed)  # and nothing else, although Ray has much to say
    report = json.loads((output / ".job" / "report.json").read_text())
    assert [entry["place"] for entry in report["problems"]] == [f"corpus.jsonl:{len(DOCUMENTS) + 1}"]
    # A worker whose unit was done before its process or node was gone is missed only if there is more to do.
    assert shown["workers_lost"] == len(report["lost"]) == errors.count("lost a worker")
    assert 1 <= shown["workers_lost"] <= 2
    assert shown["units_given_up"] == 0


def test_a_model_that_the_nodes_do_not_have(
    tmp_path: Path, cluster: Any, model: str, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discoparse.corpus.run.model_seal", lambda name: "another")
    engine = Engine("ray", workers=2, address=cluster.address)
    with pytest.raises(DiscoparseError, match="no worker can be used: the model"):
        parse_corpus([corpus], str(tmp_path / "out"), model, engine=engine)


def test_a_cluster_without_gpus(tmp_path: Path, cluster: Any, model: str, corpus: str) -> None:
    engine = Engine("ray", gpus_per_worker=0.5, address=cluster.address)
    with pytest.raises(UsageError, match="the cluster has no GPUs"):
        parse_corpus([corpus], str(tmp_path / "out"), model, engine=engine)


def test_a_cluster_that_cannot_be_reached(tmp_path: Path, model: str, corpus: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(DiscoparseError, match=f"no Ray cluster can be reached at {address}"):
            parse_corpus([corpus], str(tmp_path / "out"), model, engine=Engine("ray", address=address))
    assert not (tmp_path / "out").exists()


def test_an_address_that_is_none(tmp_path: Path, model: str, corpus: str) -> None:
    with pytest.raises(DiscoparseError, match="cannot connect to the Ray cluster nonsense: Invalid address"):
        parse_corpus([corpus], str(tmp_path / "out"), model, engine=Engine("ray", address="nonsense"))
