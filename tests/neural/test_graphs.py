"""CUDA graphs of an encoder: the same vectors and gradients as without them."""

import pytest
import torch

from discoparse.neural.graphs import Graphs, aligned

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


class Small(torch.nn.Module):
    """Padding has no influence on what is inside, as with attention under a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 8)
        self.layer = torch.nn.Linear(8, 8)
        self.unused = torch.nn.Parameter(torch.ones(3))

    def forward(self, ids, lengths):
        there = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None])[..., None]
        x = torch.tanh(self.layer(self.embedding(ids) * there))
        return x + (x * there).sum(1, keepdim=True) / lengths[:, None, None]


@pytest.mark.parametrize("shapes", [[(3, 5), (2, 9), (3, 5), (4, 16), (1, 30)]])
def test_vectors_and_gradients(shapes):
    torch.manual_seed(1)
    module = Small().cuda()
    used = [parameter for name, parameter in module.named_parameters() if name != "unused"]
    graphs = Graphs(module, list(module.parameters()), padding=0, budget=64)
    for windows, width in shapes:
        ids = torch.randint(1, 50, (windows, width), device="cuda")
        lengths = torch.randint(1, width + 1, (windows,), device="cuda")
        weight = torch.randn(windows, width, 8, device="cuda")
        expected = module(ids, lengths)
        gradients = torch.autograd.grad((expected * weight).sum(), used)
        expected = expected.detach()  # the graph of a pass on another stream must not live on while one is captured
        module.zero_grad()
        found = graphs(ids, lengths)
        torch.testing.assert_close(found, expected)
        (found * weight).sum().backward()
        for parameter, gradient in zip(used, gradients, strict=True):
            torch.testing.assert_close(parameter.grad, gradient)
    assert graphs.usable
    assert set(graphs.passes) == {(64 // aligned(width), aligned(width)) for _, width in shapes}


def test_more_windows_than_a_shape_has(recwarn):
    module = Small().cuda()
    graphs = Graphs(module, list(module.parameters()), padding=0, budget=16)
    ids, lengths = torch.ones(5, 8, dtype=torch.long, device="cuda"), torch.full((5,), 8, device="cuda")
    torch.testing.assert_close(graphs(ids, lengths), module(ids, lengths))
    assert not graphs.passes


def test_an_encoder_that_cannot_be_captured_is_run_without_graphs():
    module = Small().cuda()

    def asks(ids, lengths):
        return module(ids, lengths) * float(lengths.float().mean().item() > 0)

    graphs = Graphs(asks, list(module.parameters()), padding=0, budget=64)
    ids, lengths = torch.ones(5, 8, dtype=torch.long, device="cuda"), torch.full((5,), 8, device="cuda")
    with pytest.warns(UserWarning, match="without CUDA graphs"):
        found = graphs(ids, lengths)
    torch.testing.assert_close(found, module(ids, lengths))
    assert not graphs.usable
