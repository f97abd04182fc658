"""Channels first beside channels last: which convolutions take more than a tenth more modelled cycles.
`make perf-layouts` counts all shape files; docs/limits.md says why."""
from collections import defaultdict
from dataclasses import dataclass

import report
import shapes
from cores import CORES

OURS = 'neoprene'
GOAL = 1.1
MOST = 2 ** 30  # products: larger ones take minutes
INTRODUCTION = '''# Channels first

Made by `make perf-layouts FILES=all{cores}`, at commit {commit}: thousands of modelled cycles with
channels last and with channels first, one thread, weights packed, of the convolutions of the shape files with up to 2^30
products that take more than {goal} times as long with channels first. docs/limits.md says why.
'''


@dataclass
class Row:
    problem: shapes.Conv
    last: float  # cycles
    first: float

    @property
    def ratio(self):
        return self.first / self.last

    def cells(self):
        return [f'{self.problem.name} `{self.problem.text}`', f'{self.last / 1000:.4g}', f'{self.first / 1000:.4g}',
                f'{self.ratio:.2f}']


def kind_of(problem):
    if problem.groups > 1:
        return 'depthwise' if problem.groups == problem.ic else 'grouped'
    if max(problem.kernel) == 1:
        return '1x1'
    stride_1_squares = max(problem.stride) == 1 and problem.kernel[1:] == (3, 3)
    return '3x3 of stride 1' if stride_1_squares else 'others'


def cycles(measurer, core, problems, layout):
    """None where we refuse."""
    results = measurer.count(OURS, core.guest, [problem.line(layout) for problem in problems])
    counted = iter(measurer.model.cycles(core, [result for result in results if 'refused' not in result]))
    return [None if 'refused' in result else next(counted) for result in results]


def rows_of(measurer, core, problems):
    first, last = (cycles(measurer, core, problems, layout) for layout in ('nchw', 'nhwc'))
    return [Row(*found) for found in zip(problems, last, first) if None not in found]


def summary(rows):
    behind = [row for row in rows if row.ratio > GOAL]
    mean = report.geometric_mean(row.ratio for row in rows)
    lines = [['kind', 'rows', 'mean', f'above {GOAL}']]
    by_kind = defaultdict(list)
    for row in rows:
        by_kind[kind_of(row.problem)].append(row.ratio)
    for kind, ratios in sorted(by_kind.items()):
        lines.append([kind, str(len(ratios)), f'{report.geometric_mean(ratios):.3f}',
                      str(sum(ratio > GOAL for ratio in ratios))])
    return (f'{len(behind)} of {len(rows)} rows take more than {GOAL} times as long; the geometric mean of all is '
            f'{mean:.3f}.\n\n{report.markdown_table(lines)}')


def behind_table(rows):
    behind = sorted((row for row in rows if row.ratio > GOAL), key=lambda row: row.ratio, reverse=True)
    return report.markdown_table([['convolution', 'channels last', 'channels first', '×'],
                                  *(row.cells() for row in behind)])


def publish(measurer, tables, out):
    """tables: (operation, file, layout) each; a problem that several files have is one row."""
    core = CORES[measurer.core_names[0]]
    rows = {}
    for operation, file, _ in tables:
        if operation == 'conv':
            measurer.what = file
            problems = [p for p in shapes.read_file(operation, file) if p.macs <= MOST]
            rows.update((row.problem.text, row) for row in rows_of(measurer, core, problems))
    measurer.costs.save()
    rows = list(rows.values())
    text = f'{core.name}: {summary(rows)}\n{behind_table(rows)}'
    print(text)
    cores = '' if core.name == 'N1' else f' CORES={core.name}'
    report.write(out, INTRODUCTION.format(cores=cores, commit=report.commit(), goal=GOAL) + '\n' + text)
    return 0
