"""Check CUDA graphs after many replays, with new inputs, many kernels, several streams and random numbers.

All values except the random ones are integers, so every case is exact.
"""

from __future__ import annotations

import copy

from ...check import H200S, SEEN, Context, Measured, check
from ..bounds import Cases, captured, functions_of, gradients, torch, warm_up
from .streams import REMEDY

REPLAYS = 100


@check("streams.graphs", devices=("cuda",), seconds=120, measured=SEEN)
def graphs(context: Context) -> Measured:
    """Replay graphs with many nodes and several streams, in a shared pool, of a module, and with random numbers."""
    cases = Cases("a replayed CUDA graph", REMEDY)
    _compare_many_nodes(cases)
    _compare_shared_pool(cases)
    _compare_callables(cases, context)
    _compare_random_numbers(cases)
    return cases.result()


def _compare_many_nodes(cases: Cases) -> None:
    """Replay a graph with thousands of kernels, on three streams that wait for one another."""
    block = torch.zeros(1000, dtype=torch.int64, device="cuda")
    graph, first, second = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        main = torch.cuda.current_stream()
        for number in range(700):
            block.mul_(3).add_(number).remainder_(100003)
        left, right = block.clone(), block.clone()
        for stream, branch, factor in ((first, left, 5), (second, right, 7)):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                for _unused in range(50):
                    branch.mul_(factor).remainder_(100003)
        main.wait_stream(first)
        main.wait_stream(second)
        block.copy_(left + right)
    expected = 0
    for turn in range(20):
        graph.replay()
        for number in range(700):
            expected = (expected * 3 + number) % 100003
        expected = expected * pow(5, 50, 100003) % 100003 + expected * pow(7, 50, 100003) % 100003
        cases.exactly(f"2,300 kernels on three streams, replay {turn + 1}", block, torch.full((1000,), expected))


def _compare_shared_pool(cases: Cases) -> None:
    """Replay two graphs that share a memory pool, in the order in which they were captured."""
    inputs = torch.zeros(4096, device="cuda")
    warm_up(lambda: (inputs * 2 + 1).cumsum(0))
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        middle = (inputs * 2 + 1).clone()
    with torch.cuda.graph(second, pool=first.pool()):
        last = (middle * 3).flip(0) - inputs
    for turn in range(50):
        values = torch.arange(4096) * (turn % 7) - turn
        inputs.copy_(values.float())
        first.replay()
        second.replay()
        exact = ((values * 2 + 1) * 3).flip(0) - values
        cases.exactly(f"two graphs that share memory, turn {turn + 1}", last, exact)


def _compare_callables(cases: Cases, context: Context) -> None:
    """Run a module's forward and backward passes as graphs, on integers with exact sums."""
    generator = context.generator("graphs callables")
    exact = torch.nn.Sequential(torch.nn.Linear(24, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8)).double()
    with torch.no_grad():
        for weight in exact.parameters():
            weight.copy_(torch.randint(-2, 3, weight.shape, generator=generator))
    module = copy.deepcopy(exact).to("cuda", torch.float32)
    graphed = torch.cuda.make_graphed_callables(module, (torch.zeros(32, 24, device="cuda", requires_grad=True),))
    for turn in range(20):
        values = torch.randint(-4, 5, (32, 24), generator=generator).double()
        upstream = torch.randint(-3, 4, (32, 8), generator=generator).double()
        leaf, right = values.float().to("cuda").requires_grad_(), values.clone().requires_grad_()
        actual, expected = graphed(leaf), exact(right)
        computed = torch.autograd.grad(actual, [leaf, *module.parameters()], upstream.float().to("cuda"))
        references = torch.autograd.grad(expected, [right, *exact.parameters()], upstream)
        cases.exactly(f"a module as graphs, turn {turn + 1}", actual, expected.detach())
        for number, pair in enumerate(zip(computed, references)):
            cases.exactly(f"a module as graphs, gradient {number}, turn {turn + 1}", *pair)


def _compare_random_numbers(cases: Cases) -> None:
    """Require each replay to draw new numbers, which the seed determines, and to advance the generator."""
    target = torch.zeros(5000, device="cuda")
    graph, dropped_out = captured(lambda: torch.nn.functional.dropout(torch.ones_like(target.uniform_()), 0.5))
    # Before torch 2.13, the capture's stream sets the seed of the first replay as well, without waiting for it.
    torch.cuda.synchronize()
    torch.cuda.manual_seed(71)
    rows = [(graph.replay(), torch.stack([target, dropped_out]))[1] for _unused in range(64)]
    drawn, masked = torch.stack(rows, 1).double().cpu()
    torch.cuda.manual_seed(71)
    eager = torch.zeros(5000, device="cuda").uniform_()
    cases.exactly("the first replay after the seed was set", rows[0][0], eager)
    torch.cuda.manual_seed(71)
    graph.replay()
    cases.exactly("a replay with the same seed", target, eager)
    equal = sum(int((drawn[first] == drawn[second]).sum()) for first in range(64) for second in range(first))
    # In 2,016 pairs of sets of 5,000 24-bit values, 0.6 values coincide by chance.
    cases.expect("values that two replays have in common", equal <= 12, f"are {equal}")
    deviation = float(((masked[1:] > 0) == (masked[:-1] > 0)).double().mean() - 0.5) * 2 * (63 * 5000) ** 0.5
    cases.expect("dropout of two replays", abs(deviation) < 6, f"agrees too often, by {deviation:.3g} standard errors")


@check("streams.replays", devices=("cuda",), seconds=120, measured=H200S)
def replays(context: Context) -> Measured:
    """Capture operators that need memory or counters of their own, and replay them with other numbers in their inputs.

    All sums are integers below 2^24, so each replay must return what the operator returns without a graph.
    """
    cases, generator = Cases("an operator in a CUDA graph", REMEDY), context.generator(f"replays {context.seed}")
    long, rows = torch.zeros(2**21 + 3, device="cuda"), torch.zeros(48, 65_536, dtype=torch.bfloat16, device="cuda")
    index = torch.zeros(len(long), dtype=torch.int64, device="cuda")
    table = torch.zeros(501, 4, device="cuda", requires_grad=True)
    operators = functions_of("captures", "", gradients=gradients, long=long, rows=rows, index=index, table=table)

    def fill(turn: int) -> None:
        # In the last turn, all numbers are equal.
        low, high = ((-2, 3), (0, 9), (-9, 1), (0, 1))[turn]
        ranges = ((long, low, high), (rows, low // 4, high // 4 + 1), (index, 0, 501 if turn < 3 else 1))
        for block, least, most in ranges:
            block.copy_(torch.randint(least, most, block.shape, generator=generator))

    fill(0)
    captures = {name: captured(function) for name, function in operators.items()}
    side = torch.cuda.Stream()
    for turn in (1, 2, 3, 0):
        fill(turn)
        stream = side if turn == 2 else torch.cuda.current_stream()
        stream.wait_stream(torch.cuda.current_stream())
        for name, (graph, actual) in captures.items():
            with torch.cuda.stream(stream):
                for _unused in range(REPLAYS if turn == 1 else 3):
                    graph.replay()
            torch.cuda.current_stream().wait_stream(stream)
            cases.exactly(f"{name}, numbers {turn}", actual, operators[name]())
    _compare_generator_state(cases, context.seed)
    return cases.result()


def _compare_generator_state(cases: Cases, seed: int) -> None:
    """Require that a graph continues the state of its own generator, and that calls outside continue the graph's."""
    own, twin = (torch.Generator(device="cuda").manual_seed(seed) for _unused in range(2))
    numbers, graph = torch.zeros(10_007, device="cuda"), torch.cuda.CUDAGraph()
    graph.register_generator_state(own)
    with torch.cuda.graph(graph):
        numbers.normal_(generator=own).add_(torch.rand(len(numbers), device="cuda", generator=own))
    for turn in range(6):
        graph.replay()
        expected = torch.zeros_like(numbers).normal_(generator=twin)
        expected += torch.rand(len(numbers), device="cuda", generator=twin)
        cases.exactly(f"a generator of its own, turn {turn + 1}", numbers, expected)
        if turn % 2:
            outside, like = (torch.rand(777, device="cuda", generator=generator) for generator in (own, twin))
            cases.exactly(f"its generator outside, turn {turn + 1}", outside, like)
        if turn == 3:
            own.set_state(twin.manual_seed(seed + 1).get_state())
