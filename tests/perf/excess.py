"""Rows that execute more products than they need: which, why, whose kernels they are, and what it would
cost to execute fewer. `make perf-excess` counts; docs/measuring.md says what the figures mean."""
from collections import Counter
from math import prod

import choices
import isa
import model
import shapes
from cores import CORES

OURS = 'neoprene'
TOLERATED = 1.02
CLOSE = 0.004  # a ratio so near to that of a rounded size is explained by it


def rounded(size, unit=shapes.MACS_PER_VECTOR):
    return -(-size // unit) * unit / size


def explanations(problem):
    """Sizes that a kernel may round up to whole vectors, and what the products are then times."""
    if problem.kind == 'matmul':
        return {'columns': rounded(problem.n), 'rows': rounded(problem.m),
                'steps': rounded(problem.k)}
    width = problem.out[-1]
    inputs = problem.ic // problem.groups
    return {'output channels of a group': rounded(problem.oc // problem.groups),
            'output channels': rounded(problem.oc), 'input channels': rounded(inputs),
            'steps': rounded(inputs * prod(problem.kernel)), 'output width': rounded(width),
            'output pixels': rounded(prod(problem.out))}


def reason(problem, ratio):
    for what, times in explanations(problem).items():
        if times > 1 and abs(times - ratio) < CLOSE:
            return f'{what} are whole vectors'
    return 'more than one size, or tiles'


def kernels(measurer, core, result):
    """Functions with products, most of them first."""
    products = Counter()
    for _, runs, symbol, text in measurer.model.profile(core, result):
        products[symbol] += runs * sum(isa.parse(line).kind == 'mac' for line in text.split('\n'))
    return ', '.join(symbol for symbol, count in products.most_common(2) if count)


def fewer(ratios, cycles):
    """What executing fewer products would cost: the fastest implementation that does. The first one
    is what was chosen."""
    others = [(time, ratio) for time, ratio in zip(cycles, ratios) if ratio < ratios[0] - CLOSE]
    if not others:
        return 'no implementation has fewer'
    time, ratio = min(others)
    return f'{ratio:.3f} in {time / cycles[0]:.2f} times the cycles'


def print_row(measurer, core, layout, problem, ratio):
    results = choices.implementations(measurer, core, layout, problem)
    ratios = [model.figures_of(problem, result).executed_ratio for result in results]
    print(f'{ratio:6.3f} {(ratio - 1) * problem.macs:9.0f}  {layout:6} {problem.name} {problem.text}: '
          f'{reason(problem, ratio)} ({kernels(measurer, core, results[0])}); '
          f'{fewer(ratios, measurer.model.cycles(core, results))}', flush=True)


def print_file(measurer, core, layout, problems):
    """How many rows of the file are above what is tolerated."""
    results = measurer.count(OURS, core.guest, [problem.line(layout) for problem in problems])
    figures = [model.figures_of(problem, result) for problem, result in zip(problems, results)]
    found = [(problem, f.executed_ratio) for problem, f in zip(problems, figures)
             if not f.refused and f.executed_ratio > TOLERATED]
    for problem, ratio in found:
        print_row(measurer, core, layout, problem, ratio)
    return len(found)


def list_rows(measurer, tables):
    core = CORES[measurer.core_names[0]]
    print(f'{core.name}: executed / useful products above {TOLERATED}, and how many more they are')
    found = sum(print_file(measurer, core, layout, shapes.read_file(operation, file))
                for operation, file, layout in tables)
    measurer.costs.save()
    print(f'{found} rows')
    return 0
