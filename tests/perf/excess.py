"""Rows that execute more products than they need: which, why, and whose kernels they are. `make
perf-excess` counts; docs/measuring.md says what the figures mean."""
from collections import Counter
from math import prod

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


def print_file(measurer, core, layout, problems):
    """How many rows of the file are above what is tolerated."""
    results = measurer.count(OURS, core.guest, [problem.line(layout) for problem in problems])
    found = 0
    for problem, result in zip(problems, results):
        figures = model.figures_of(problem, result)
        if figures.refused or figures.executed_ratio <= TOLERATED:
            continue
        found += 1
        print(f'{figures.executed_ratio:6.3f} {figures.executed - problem.macs:9.0f}  {layout:6} '
              f'{problem.name} {problem.text}: {reason(problem, figures.executed_ratio)} '
              f'({kernels(measurer, core, result)})', flush=True)
    return found


def list_rows(measurer, tables):
    core = CORES[measurer.core_names[0]]
    print(f'{core.name}: executed / useful products above {TOLERATED}, and how many more they are')
    found = sum(print_file(measurer, core, layout, shapes.read_file(operation, file))
                for operation, file, layout in tables)
    measurer.costs.save()
    print(f'{found} rows')
    return 0
