"""Times on a real AArch64 machine: the same drivers and problems, without the emulator."""
import platform
import re
import subprocess
from dataclasses import dataclass

from emulator import MeasureError, environment
from measure import Progress
from report import NAMES, Report, geometric_mean
from shapes import MACS_PER_VECTOR


class Sample:
    """What a driver printed for one problem; events are 0 where the kernel does not count them."""

    def __init__(self, problem, fields):
        self.vectors = problem.macs / MACS_PER_VECTOR
        self.ns, self.cycles, self.instructions, self.l1_misses, self.last_misses = map(int, fields)

    @property
    def gflops(self):
        return 2 * MACS_PER_VECTOR * self.vectors / self.ns

    def percent(self, peak):
        return 100 * self.vectors / self.ns / peak

    def cells(self, peak):
        def counted(value, scale, form):
            return format(value / scale, form) if value else '–'
        return [f'{self.ns / 1000:.1f}', f'{self.gflops:.1f}', f'{self.percent(peak):.1f}',
                counted(self.cycles, self.vectors, '.3f'),
                counted(self.instructions, self.vectors, '.3f'),
                counted(self.l1_misses, self.vectors / 1000, '.1f'),
                counted(self.last_misses, self.vectors / 1000, '.1f')]


COLUMNS = ['µs', 'GFLOP/s', '% peak', 'cycles/MAC', 'i/MAC', 'L1', 'LL']


@dataclass(frozen=True)
class Machine:
    """What a driver measured of the core before the first problem."""
    peak: float     # multiply-accumulates on four floats in a nanosecond
    clock: float    # cycles in a nanosecond
    refusal: str    # why events are not counted; empty if they are

    @classmethod
    def parse(cls, line):
        match = re.fullmatch(r'peak (\S+) clock (\S+) events (?:yes|no: (.*))\n?', line)
        if not match:
            raise MeasureError(f"a driver's first line is '{line.strip()}'")
        return cls(float(match.group(1)), float(match.group(2)), match.group(3) or '')

    @property
    def text(self):
        pipes = self.peak / self.clock
        peak = (f'clock {self.clock:.2f} GHz (additions that wait for each other), peak '
                f'{2 * MACS_PER_VECTOR * self.peak:.1f} GFLOP/s (independent multiply-accumulates: '
                f'{pipes:.2f} of four floats a cycle)')
        return peak + (f'. Cycles, instructions and cache misses are not counted: {self.refusal}.'
                       if self.refusal else '; L1 and LL: read misses per 1000 multiply-accumulates.')


def processor():
    """Its name, from the kernel."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        facts = dict(map(str.strip, line.split(':', 1)) for line in file if ':' in line)
    parts = [facts.get(key) for key in ('model name', 'CPU implementer', 'CPU part')]
    return f"{platform.machine()} {' '.join(filter(None, parts))}"


def run(command, problems, layout, progress):
    """(Machine, [Sample or None])"""
    process = subprocess.Popen([*command, '--time'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env=environment())
    machine = Machine.parse(process.stdout.readline())
    samples = []
    for i, problem in enumerate(problems):
        progress(i, len(problems), problem.name)
        process.stdin.write(problem.line(layout) + '\n')
        process.stdin.flush()
        fields = process.stdout.readline().split()
        if not fields:
            raise MeasureError(f'{command[-1]} stopped at {problem.name} (exit status {process.wait()})')
        samples.append(Sample(problem, fields[2:]) if fields[0] == 'ok' else None)
    process.stdin.close()
    process.wait()
    progress(len(problems), len(problems))
    return machine, samples


def rows_of(problems, measured, names):
    for i, problem in enumerate(problems):
        samples = [measured[name][1][i] for name in names]
        cells = [problem.name]
        for name, sample in zip(names, samples):
            cells += sample.cells(measured[name][0].peak) if sample else ['–'] * len(COLUMNS)
        ours = samples[0]
        cells += [f'{peer.ns / ours.ns:.2f}' if ours and peer else '–' for peer in samples[1:]]
        yield cells


def table(problems, layout, names, command_of):
    measured = {name: run(command_of(name), problems, layout, Progress(name)) for name in names}
    header = ['problem']
    for name in names:
        header += [f'{NAMES[name]} µs'] + COLUMNS[1:]
    header += [f'× {NAMES[name]}' for name in names[1:]]
    means = ['**geometric mean**']
    for name in names:
        machine, samples = measured[name]
        done = [sample for sample in samples if sample]
        means += ['', f'{geometric_mean([s.gflops for s in done]):.1f}',
                  f'{geometric_mean([s.percent(machine.peak) for s in done]):.1f}', '', '', '', '']
    means += [''] * (len(names) - 1)
    return (measured[names[0]][0].text + '\n\n'
            + Report.aligned([header, *rows_of(problems, measured, names), means]))
