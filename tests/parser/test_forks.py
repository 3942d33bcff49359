"""A child process of `fork` parses, whatever its parent was doing: in processes of their own, with a time limit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from random_model import save_random_model

from discoparse.neural.compiled.library import VARIABLE, supported

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

_WHILE_A_THREAD_PARSES = """
# A thread is in the middle of encoding new words, and holds the lock of the cache.
sentence = ["What", "new", "words", "did", "you", "see", "?"]
expected = load(sys.argv[1], "cpu").parse_tokens([sentence])
encoder = parser.network.encoder
encode, busy = encoder.form_vectors, threading.Event()
def slowly(*arguments):
    busy.set()
    time.sleep(3)
    return encode(*arguments)
encoder.form_vectors = slowly
threading.Thread(target=parser.parse_tokens, args=([sentence],)).start()
busy.wait()
def child():
    encoder.form_vectors = encode
    assert parser.parse_tokens([sentence]) == expected
"""

_WHILE_A_THREAD_PARSES_COMPILED = """
# The same with the compiled network.
sentence = ["What", "new", "words", "did", "you", "see", "?"]
expected = load(sys.argv[1], "cpu").parse_tokens([sentence])
network = parser._compiled.network
add, busy = network.forms, threading.Event()
def slowly(*arguments):
    busy.set()
    time.sleep(3)
    return add(*arguments)
network.forms = slowly
threading.Thread(target=parser.parse_tokens, args=([sentence],)).start()
busy.wait()
def child():
    network.forms = add
    assert parser.parse_tokens([sentence]) == expected
"""

_AFTER_SEVERAL_THREADS = """
# PyTorch has started its threads, which the child has not.
torch.set_num_threads(2)
work = torch.ones(3000, 3000)
def several():
    torch.tanh(work).sum() + (work @ work).sum()
several()
def child():
    several()
    assert parser.parse("What did you see?") == expected
expected = parser.parse("What did you see?")
"""

_PROGRAM = """
import os, sys, threading, time
import torch
from discoparse import load
parser = load(sys.argv[1], "cpu")
{scene}
process = os.fork()
if process == 0:
    status = 1
    try:
        child()
        status = 0
    finally:
        os._exit(status)
sys.exit(os.waitpid(process, 0)[1])
"""


@pytest.mark.parametrize(
    ("scene", "network"),
    [
        (_WHILE_A_THREAD_PARSES, "off"),
        (_AFTER_SEVERAL_THREADS, "off"),
        pytest.param(
            _WHILE_A_THREAD_PARSES_COMPILED,
            "",
            marks=pytest.mark.skipif(not supported(), reason="the compiled network was not built"),
        ),
    ],
)
def test_a_forked_child_parses(tmp_path, monkeypatch, scene, network):
    monkeypatch.setenv(VARIABLE, network)
    save_random_model(tmp_path)
    program = _PROGRAM.format(scene=scene)
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], start_new_session=True)
    try:
        assert process.wait(120) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # the child, too
        process.wait()
        pytest.fail("the child hangs")
