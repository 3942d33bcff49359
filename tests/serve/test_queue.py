"""The queue: batches of what arrives together, fair shares, limits, clients that leave, errors of one request."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from discoparse.errors import ComputationError
from discoparse.neural.decisions import Decoded
from discoparse.parser.doubt import Doubt
from discoparse.parser.passages import Passage
from discoparse.serve.lockstep_queue import _BATCH_TOKENS, Job, LockstepQueue, Method
from discoparse.serve.metrics import Metrics
from discoparse.serve.problems import Refusal


class FakeParser:
    """Decides nothing in particular, remembers its batches, and waits until it may go on."""

    def __init__(self, is_compiled: bool = False) -> None:
        self.is_compiled = is_compiled
        self.threads: list[str] = []
        self.batches: list[list[str]] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.busy = threading.Event()

    def stream_best(self, passages, count):
        return [[tree] * count for tree in self.parse_all(passages, None)]

    def parse_all(self, passages, doubt):
        ((chosen, _),) = self.decode([passage.words for passage in passages], None)
        return list(chosen)

    def decode(self, sentences, limits):
        self.threads.append(threading.current_thread().name)
        self.busy.set()
        self.may_go_on.wait(10)
        self.batches.append([words[0] for words in sentences])
        if any("broken" in words for words in sentences):
            raise RuntimeError("a bug")
        rows = [[0] * len(words) for words in sentences]
        yield np.arange(len(rows)), Decoded(rows, rows, rows, rows)


def job(parser, *words, finish=None, length=1):
    passages = iter([Passage([word] * length) for word in words])
    method = parser if isinstance(parser, Method) else Method(parser)
    return Job(method, passages, finish or (lambda found: [passage.words[0] for passage, _ in found]), len(words))


async def ask(queue, job):
    """As the endpoint does."""
    answer = await queue.at_once(job)
    return await queue.submit(job) if answer is None else answer


def run(scenario, longest=100, most_characters=1000):
    """Run a scenario with a queue, to its end and no longer than ten seconds."""

    async def main():
        queue = LockstepQueue(longest, most_characters, Metrics())
        queue.start()
        try:
            return await asyncio.wait_for(scenario(queue), 10)
        finally:
            queue.close()

    return asyncio.run(main())


async def until(event):
    while not event.is_set():
        await asyncio.sleep(0.001)


def test_what_arrives_together_is_parsed_together():
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        first = queue.submit(job(parser, "a"))
        await until(parser.busy)
        later = [queue.submit(job(parser, name)) for name in "bcd"]
        parser.may_go_on.set()
        return [await answer for answer in (first, *later)]

    assert run(scenario) == [["a"], ["b"], ["c"], ["d"]]
    assert parser.batches == [["a"], ["b", "c", "d"]]


def _threads(jobs, **parser):
    """Which threads parse jobs that are submitted in one turn of the event loop, and the batches."""
    fake = FakeParser(**parser)

    async def scenario(queue):
        for together in jobs:
            await asyncio.gather(*(ask(queue, made) for made in together(fake)))

    run(scenario)
    return [name == "parsing" for name in fake.threads], fake.batches


def test_a_short_sentence_alone_needs_no_thread():
    """Waking one would take longer; but only where parsing is quick, and never for what comes with others."""

    def short(parser):
        return [job(parser, "a")]

    def two(parser):
        return [job(parser, "b"), job(parser, "c")]

    def long(parser):
        made = job(parser, "d")
        made.characters = 401
        return [made]

    def slow(**method):
        return lambda parser: [job(Method(parser, **method), "e", finish=len)]

    assert _threads([short, short, two, long, slow(constrained=True), short], is_compiled=True) == (
        [False, False, True, True, True, False],
        [["a"], ["a"], ["b", "c"], ["d"], ["e"], ["a"]],
    )
    assert _threads([slow(doubt=Doubt(8)), slow(best=2)], is_compiled=True)[0] == [True, True]
    for together in ([long, short], [short, long]):
        made = _threads([lambda parser, kinds=together: [kind(parser)[0] for kind in kinds]], is_compiled=True)
        assert all(made[0])
    assert _threads([short], is_compiled=False) == ([True], [["a"]])


def test_a_short_sentence_goes_to_a_thread_that_works():
    fake = FakeParser(is_compiled=True)

    async def scenario(queue):
        fake.may_go_on.clear()
        first = queue.submit(job(fake, "a"))
        await until(fake.busy)
        with pytest.raises(StopIteration):  # it does not wait to see who else comes
            queue.at_once(job(fake, "b")).send(None)
        second = asyncio.ensure_future(ask(queue, job(fake, "b")))
        await asyncio.sleep(0.01)
        fake.may_go_on.set()
        return [await first, await second]

    assert run(scenario) == [["a"], ["b"]]
    assert fake.threads == ["parsing", "parsing"]


def test_what_the_event_loop_parses_is_counted():
    fake = FakeParser(is_compiled=True)

    async def scenario(queue):
        await ask(queue, job(fake, "a", "b", length=3))
        await ask(queue, job(fake))
        return [queue.metrics.value(f"{name}_total") for name in ("batches", "sentences", "tokens")]

    assert run(scenario) == [1, 2, 6]
    assert "parsing" not in fake.threads


def test_a_lone_sentence_that_breaks_the_parser_costs_only_itself():
    fake = FakeParser(is_compiled=True)

    async def scenario(queue):
        with pytest.raises(RuntimeError):
            await ask(queue, job(fake, "broken"))
        return await ask(queue, job(fake, "a"))

    assert run(scenario) == ["a"]
    assert "parsing" not in fake.threads


def test_models_have_batches_of_their_own():
    one, two = FakeParser(), FakeParser()

    async def scenario(queue):
        one.may_go_on.clear()
        answers = [queue.submit(job(one, "a"))]
        await until(one.busy)
        answers += [queue.submit(job(parser, name)) for name, parser in (("b", one), ("c", two), ("d", one))]
        one.may_go_on.set()
        return [await answer for answer in answers]

    assert run(scenario) == [["a"], ["b"], ["c"], ["d"]]
    assert one.batches == [["a"], ["b", "d"]]
    assert two.batches == [["c"]]


@pytest.mark.parametrize("other", [{"constrained": True}, {"best": 2}, {"doubt": Doubt(8)}])
def test_methods_have_batches_of_their_own(other):
    """A sentence with constraints would make a whole batch slow."""
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        answers = [queue.submit(job(parser, "a"))]
        await until(parser.busy)
        answers += [queue.submit(job(parser, "b")), queue.submit(job(Method(parser, **other), "c", finish=len))]
        answers += [queue.submit(job(parser, "d"))]
        parser.may_go_on.set()
        await asyncio.gather(*answers)

    run(scenario)
    assert parser.batches == [["a"], ["b", "d"], ["c"]]


@pytest.mark.parametrize("method", [{"best": 64}, {"doubt": Doubt(64)}])
def test_what_costs_more_comes_in_smaller_batches(method):
    parser = FakeParser()

    async def scenario(queue):
        words = [f"s{k}" for k in range(6)]
        await queue.submit(job(Method(parser, **method), *words, length=_BATCH_TOKENS // 128, finish=len))

    run(scenario)
    assert list(map(len, parser.batches)) == [2, 2, 2]


def test_a_long_request_shares_its_batches():
    """A request of many sentences does not hold up one that comes later."""
    parser = FakeParser()
    order = []

    def noting(name):
        return lambda trees: order.append(name)

    async def scenario(queue):
        parser.may_go_on.clear()
        names = [f"s{k}" for k in range(10)]
        long = queue.submit(job(parser, *names, length=_BATCH_TOKENS // 2, finish=noting("long")))
        await until(parser.busy)
        short = queue.submit(job(parser, "x", finish=noting("short")))
        parser.may_go_on.set()
        await asyncio.gather(long, short)

    run(scenario)
    assert order == ["short", "long"]
    assert max(map(len, parser.batches)) <= 3
    assert [name for batch in parser.batches for name in batch if name != "x"] == [f"s{k}" for k in range(10)]


def test_a_batch_is_not_larger_for_many_requests():
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        answers = [queue.submit(job(parser, "a"))]
        await until(parser.busy)
        answers += [queue.submit(job(parser, word, length=_BATCH_TOKENS // 2)) for word in "bcde"]
        parser.may_go_on.set()
        await asyncio.gather(*answers)

    run(scenario)
    assert parser.batches == [["a"], ["b", "c"], ["d", "e"]]


def test_long_requests_take_turns_with_what_arrives_meanwhile():
    """What arrives for other models during a batch comes before the rest of its jobs, what arrives later behind it."""
    order = []
    arriving = {"s0": ["x"], "x": ["y"], "s1": ["z", "w"]}  # during the batch of a sentence

    async def scenario(queue):
        loop = asyncio.get_running_loop()
        answers = []

        async def submit(*words):
            answers.append(queue.submit(job(Ordered(), *words, length=_BATCH_TOKENS)))

        class Ordered(FakeParser):
            def decode(self, sentences, limits):
                for words in sentences:
                    order.append(words[0])
                    for word in arriving.get(words[0], ()):
                        asyncio.run_coroutine_threadsafe(submit(word), loop).result(10)
                return super().decode(sentences, limits)

        await submit("s0", "s1", "s2", "s3")
        while len(answers) < 5:
            await asyncio.sleep(0)
        await asyncio.gather(*answers)

    run(scenario)
    assert order == ["s0", "x", "s1", "y", "z", "w", "s2", "s3"]


def test_a_full_queue_refuses():
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        answers = [queue.submit(job(parser, name)) for name in "ab"]
        with pytest.raises(Refusal) as refusal:
            queue.submit(job(parser, "c"))
        parser.may_go_on.set()
        await asyncio.gather(*answers)
        await queue.submit(job(parser, "d"))
        return refusal.value, queue.metrics

    refusal, metrics = run(scenario, longest=2)
    assert (refusal.status, refusal.headers) == (503, {"Retry-After": "1"})
    assert metrics.value("refused_total") == 1
    assert metrics.value("waiting") == 0


def test_much_text_fills_the_queue_too():
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        first = queue.submit(job(parser, *"abc"))
        with pytest.raises(Refusal):
            queue.submit(job(parser, *"abc"))
        parser.may_go_on.set()
        await first
        await asyncio.gather(queue.submit(job(parser, "d")), queue.submit(job(parser, *"abc")))  # there is room again

    run(scenario, most_characters=5)


def test_a_client_that_left_costs_nothing():
    parser = FakeParser()

    async def scenario(queue):
        parser.may_go_on.clear()
        first = queue.submit(job(parser, "a"))
        await until(parser.busy)
        gone, stays = queue.submit(job(parser, "gone")), queue.submit(job(parser, "b"))
        gone.cancel()
        await asyncio.sleep(0)
        parser.may_go_on.set()
        await asyncio.gather(first, stays)

    run(scenario)
    assert parser.batches == [["a"], ["b"]]


def test_a_refused_sentence_does_not_hurt_others():
    parser = FakeParser()

    def passages():
        yield Passage(["fine"])
        raise Refusal(422, "too long")

    async def scenario(queue):
        bad = Job(Method(parser), passages(), list)
        return await asyncio.gather(queue.submit(bad), queue.submit(job(parser, "a")), return_exceptions=True)

    refusal, answer = run(scenario)
    assert refusal.status == 422
    assert answer == ["a"]


def test_errors_of_the_program_are_told_to_the_operator_alone(capfd):
    parser = FakeParser()

    def fail(trees):
        raise KeyError("secret")

    def overflow(trees):
        raise ComputationError("scores are not numbers")

    async def scenario(queue):
        first = await asyncio.gather(queue.submit(job(parser, "broken")), return_exceptions=True)
        second = await asyncio.gather(queue.submit(job(parser, "a", finish=fail)), return_exceptions=True)
        third = await asyncio.gather(queue.submit(job(parser, "a", finish=overflow)), return_exceptions=True)
        return [*first, *second, *third, await queue.submit(job(parser, "b"))]

    one, two, three, four = run(scenario)
    assert (one.status, two.status, three.status, four) == (500, 500, 500, ["b"])
    assert "secret" not in two.message
    log = capfd.readouterr().err
    assert "a bug" in log
    assert "scores are not numbers" in log


def test_closing_answers_what_has_arrived():
    parser = FakeParser()

    async def main():
        queue = LockstepQueue(100, 1000, Metrics())
        queue.start()
        answers = [queue.submit(job(parser, name)) for name in "abcde"]
        await asyncio.to_thread(queue.close)
        return await asyncio.gather(*answers)

    assert asyncio.run(main()) == [["a"], ["b"], ["c"], ["d"], ["e"]]
