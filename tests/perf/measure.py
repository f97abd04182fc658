"""Measures lists of problems: each library, on each core, with the cache model if wanted."""
import os
import sys

import model
import unpacked
from cores import CORES, Costs
from emulator import Emulator, MeasureError, require_tools

CACHE = os.path.join('build', 'perf-cache')
OURS = 'neoprene'


class Progress:
    """A line on stderr that is rewritten, if that is a terminal."""

    def __init__(self, what):
        self.what, self.terminal = what, sys.stderr.isatty()

    def __call__(self, done, total, text=''):
        if self.terminal:
            sys.stderr.write(f'\r\033[K{self.what}: {done}/{total} {text[:80]}' if done < total
                             else '\r\033[K')
            sys.stderr.flush()


class Drivers:
    """The programs that were built, one a library: peers' for what was unpacked in `root`, or what is installed."""

    def __init__(self, folder, root=''):
        self.folder, self.root = folder, root

    def path(self, library):
        kind = '' if library == OURS else 'unpacked' if self.root else 'installed'
        return os.path.join(self.folder, kind, 'driver_' + library)

    def command(self, library):
        """That runs it on the hardware."""
        if library == OURS or not self.root:
            return [self.path(library)]
        folder = os.path.join(self.root, unpacked.LIBRARIES)
        return [os.path.join(folder, 'ld-linux-aarch64.so.1'), '--library-path', folder, self.path(library)]

    def has(self, library):
        return os.path.exists(self.path(library))


class Measurer:
    def __init__(self, drivers, emulator, core_names, with_caches):
        require_tools(emulator)
        self.drivers, self.core_names, self.with_caches = drivers, core_names, with_caches
        self.what = ''
        self.emulator = Emulator(emulator, os.path.join(CACHE, 'runs'), drivers.root)
        self.costs = Costs(os.path.join(CACHE, 'costs.json'))
        self.model = model.Model(self.costs)

    def guests(self):
        """The CPUs to emulate; instructions are counted on the first."""
        return list(dict.fromkeys(CORES[name].guest for name in self.core_names))

    def measure(self, library, problems, layout):
        """Figures, one for each problem."""
        lines = [problem.line(layout) for problem in problems]
        figures = None
        for guest in self.guests():
            results = self.count(library, guest, lines)
            if figures is None:
                figures = [self.checked(library, problem, model.figures_of(problem, result))
                           for problem, result in zip(problems, results)]
            self.add_cycles(figures, results, guest)
        if self.with_caches:
            self.add_lines(library, figures, lines)
        self.costs.save()
        return figures

    def count(self, library, guest, lines, **more):
        progress = Progress(f'{self.what}: {library} on {guest}')
        return self.emulator.count(self.drivers.path(library), guest, lines, progress, **more)

    def add_cycles(self, figures, results, guest):
        done = [(f, result) for f, result in zip(figures, results)
                if not f.refused and 'refused' not in result]
        for name in self.core_names:
            if CORES[name].guest == guest:
                cycles = self.model.cycles(CORES[name], [result for _, result in done])
                for (f, _), value in zip(done, cycles):
                    f.cycles[name] = value

    def add_lines(self, library, figures, lines):
        guest = self.guests()[0]
        results = self.count(library, guest, lines, plugin='cachesim')
        for f, result in zip(figures, results):
            if not f.refused:
                f.lines = result['counts']

    @staticmethod
    def checked(library, problem, figures):
        """What a peer computes wrongly is left out, as what it refuses."""
        if figures.error <= model.TOLERATED_ERROR * max(1.0, problem.macs ** 0.25):
            return figures
        what = (f'{library} computed {problem.name} ({problem.text}) wrongly: an element is off by '
                f'{figures.error:g}')
        if library == OURS:
            raise MeasureError(what)
        print(f'perf: {what}; left out', file=sys.stderr)
        return model.Figures(refused=what)
