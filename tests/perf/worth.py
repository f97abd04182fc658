"""What is a kernel worth? `make perf-worth` takes kernels out of their lists, and counts the rows of the shape
files again that they served.

A row is served if one of the kernels' functions is executed in it. Kernels stay (docs/architecture.md) if on their best core
at least three rows take over 3 % longer without them, or one falls behind a peer whose figures are recorded."""
import os
import re
import subprocess
from collections import namedtuple
from fnmatch import fnmatchcase
from statistics import geometric_mean

import recorded
import shapes
from cores import CORES
from emulator import MeasureError, asking, environment

OURS = 'neoprene'
SLOWER = 1.03
LEAST_ROWS = 3
NAMED = 3  # rows that the table names
CLOSE = 1.005  # a peer is in front by more

Row = namedtuple('Row', 'file layout problem')


# ---- which rows a kernel serves ----

def symbols(driver):
    """Address -> functions there; and each symbol's address."""
    text = subprocess.run([os.environ.get('NM', 'nm'), driver], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in text.splitlines() if line[0] != ' ']
    functions = {}
    for address, kind, name in lines:
        if kind in 'tT':
            functions.setdefault(int(address, 16), set()).add(name)
    return functions, {name: int(address, 16) for address, _, name in lines}


def kernels_of(measurer):
    """Each kernel's functions."""
    driver = measurer.drivers.path(OURS)
    functions, addresses = symbols(driver)
    text = subprocess.run([measurer.emulator.emulator, driver], capture_output=True, text=True, check=True,
                          env={**environment(), 'PERF_KERNELS': '1'}).stdout
    kernels = {}
    for name, *offsets in map(str.split, text.splitlines()):
        there = (functions.get(addresses['peer'] + int(offset), ()) for offset in offsets)
        kernels[name] = {name}.union(*there)
    return kernels


def executed(result):
    return {symbol for _, symbol, _ in result.get('blocks', ())}


def count(measurer, guest, rows):
    """What rows of any files executed; those of a layout run in one process."""
    results = {}
    for layout in dict.fromkeys(row.layout for row in rows):
        some = [row for row in rows if row.layout == layout]
        results.update(zip(some, measurer.count(OURS, guest, [row.problem.line(layout) for row in some])))
    return results


# ---- what it is worth ----

class Worth:
    """Of kernels that are taken out together, on one core: how much longer each row takes."""

    def __init__(self, core, longer, behind):
        self.core, self.longer, self.behind = core, longer, behind

    @property
    def slower(self):
        return sum(times > SLOWER for times in self.longer.values())

    @property
    def stays(self):
        return self.slower >= LEAST_ROWS or bool(self.behind)

    @property
    def gain(self):
        return geometric_mean(self.longer.values()) if self.longer else 1

    def __str__(self):
        worst = sorted(self.longer, key=self.longer.get, reverse=True)[:NAMED]
        return (f"{'stays' if self.stays else 'goes':5} {self.core:4} {len(self.longer):4} rows {self.slower:4} slower "
                f'{self.gain:6.3f} times  {len(self.behind):3} behind  '
                + ', '.join(f'{row.problem.name}:{row.layout} {self.longer[row]:.2f}' for row in worst))


def peers_best(core, rows):
    """The fewest cycles of a recorded peer, for rows that have any."""
    best = {}
    for peer in recorded.names():
        known = recorded.read(peer)
        for row in rows:
            line = row.problem.line(row.layout)
            cycles = recorded.figures_of(known[line], row.problem).cycles if line in known else {}
            if core in cycles:
                best[row] = min(best.get(row, cycles[core]), cycles[core])
    return best


class Judge:
    """Counts with all kernels once, and then what some kernels served without them."""

    def __init__(self, measurer, tables):
        self.measurer = measurer
        self.rows = list(dict.fromkeys(Row(file, layout, problem) for operation, file, layout in tables
                                       for problem in shapes.read_file(operation, file)))
        self.with_all = {guest: count(measurer, guest, self.rows) for guest in measurer.guests()}

    def judge(self, core, pattern, functions):
        """The kernels that the pattern means have these functions."""
        guest = CORES[core].guest
        before = self.with_all[guest]
        served = [row for row in self.rows if executed(before[row]) & functions]
        with asking('PERF_WITHOUT', pattern):
            after = count(self.measurer, guest, served)
        old, new = (dict(zip(served, self.measurer.model.cycles(CORES[core], [results[row] for row in served])))
                    for results in (before, after))
        longer = {row: new[row] / old[row] for row in served}
        peers = peers_best(core, served)
        behind = [row for row, cycles in peers.items() if old[row] <= CLOSE * cycles < new[row]]
        return Worth(core, longer, behind)

    def best(self, pattern, functions):
        """On the core that they are worth most on."""
        worths = [self.judge(core, pattern, functions) for core in self.measurer.core_names]
        return max(worths, key=lambda worth: (worth.stays, worth.slower, worth.gain))


def of_any_height(name):
    """Wherever a height is, plans expect all lower ones: they are taken out together."""
    return re.sub(r'_\d+x', '_*x', name, count=1)


def units(kernels, patterns, each):
    """(pattern, functions) of what is taken out together."""
    found = []
    for pattern in patterns.split(','):
        names = [name for name in kernels if fnmatchcase(name, pattern) and not name.endswith('_ref')]
        if not names:
            raise MeasureError(f"no kernel is called '{pattern}'")
        found += dict.fromkeys(map(of_any_height, names)) if each else [pattern]
    return [(pattern, set().union(*(kernels[name] for name in kernels if fnmatchcase(name, pattern))))
            for pattern in dict.fromkeys(found)]


def publish(measurer, tables, patterns, each):
    kernels = kernels_of(measurer)
    wanted = units(kernels, patterns, each)
    judge = Judge(measurer, tables)
    worths = {}
    for pattern, functions in wanted:
        worths[pattern] = judge.best(pattern, functions)
        print(f'{pattern:44} {worths[pattern]}', flush=True)
    measurer.costs.save()
    stay = sum(worth.stays for worth in worths.values())
    print(f'{stay} stay, {len(worths) - stay} are worth too little')
    return 0
