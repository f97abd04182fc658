"""Problems on a simulated machine, cycle by cycle: `make perf-cycles` shows what the pipeline models do
not know, time that goes by until weights come from memory.

    cycles.py --gem5 PROGRAM --driver STATIC_DRIVER (--problem TEXT | --files NAME) [--memory board,loaded]
              [--cores N1,A55] [--implementations gemm,winograd_2] [--peer NAME=STATIC_DRIVER]...

For each problem and memory it prints the time of what the library chooses, what it reads of its weights in
that time, and the best time of all implementations, or of those that are named; and peers' times. Times are
kept by what a call executes, so that they outlive changes of code that it does not run."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256

import blocks
import shapes
from emulator import (DST_SCALE, TYPES_ASKED, Emulator, MeasureError, add_type_options, asking_all, digest_of_files,
                      types_asked)
from measure import CACHE as COUNTS
from measure import Progress

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATIONS = os.path.join(HERE, 'cycles')
CACHE = os.path.join('build', 'cycles')
BANDWIDTHS = {'board': 9, 'server': 12, 'loaded': 3}  # GB/s that one core reads of each memory, for choices
ALL = '1,2,3,4,5'  # implementations: what is left is the reference


@dataclass(frozen=True)
class Core:
    """name: as the library knows it, and the file of its configuration; peak: multiply-adds of four
    values a nanosecond."""
    name: str
    peak: float
    openblas: str

    @property
    def configuration(self):
        return os.path.join(CONFIGURATIONS, self.name.replace('-', '_') + '.py')


CORES = {'N1': Core('neoverse-n1', 2 * 2.5, 'NEOVERSEN1'), 'A55': Core('cortex-a55', 1.8, 'CORTEXA53')}


@dataclass(frozen=True)
class Run:
    """implementation: the name that it begins with, or a number of the library's order, best first."""
    driver: str
    line: str
    memory: str
    implementation: str = '0'
    core: Core = CORES['N1']


class Executed:
    """The instructions of calls, which the emulator counts within seconds, where simulating takes minutes."""
    MOST = 0.998  # of them, in the blocks that run most: the others hold addresses that a linker changes

    def __init__(self, emulator=None):
        self.emulator = Emulator(emulator, os.path.join(COUNTS, 'runs'))

    def signature(self, run):
        """None: there is no such implementation."""
        asked = {'PERF_IMPLEMENTATION': run.implementation, 'NEOPRENE_BANDWIDTH': BANDWIDTHS[run.memory]}
        with asking_all(asked):
            result, = self.emulator.count(run.driver, run.core.name, [run.line], lambda *_: None)
        return None if 'refused' in result else signature_of(result['blocks'], self.MOST)


def signature_of(executed, most):
    """Of [runs, symbol, words]: the same for the same instructions, wherever they are."""
    weights = [runs * len(words) for runs, _, words in executed]
    left, kept = most * sum(weights), []
    for weight, (runs, _, words) in sorted(zip(weights, executed), reverse=True):
        if left <= 0:
            break
        left -= weight
        kept.append((runs, [blocks.without_target(word) for word in words]))
    return sha256(repr(sorted(kept)).encode()).hexdigest()


class Simulator:
    """Times are kept in a file each, by what is executed, configuration and problem."""

    def __init__(self, args, executed):
        self.gem5, self.cold, self.driver, self.executed = args.gem5, not args.warm, args.driver, executed
        machine = os.path.join(CONFIGURATIONS, 'machine.py')
        self.digests = {core: digest_of_files([machine, core.configuration]) for core in args.cores}

    def command(self, run, line_file):
        variables = {'NEOPRENE_CPU_CORE': run.core.name, 'NEOPRENE_BANDWIDTH': BANDWIDTHS[run.memory],
                     'NEOPRENE_NUM_THREADS': 1, 'PERF_IMPLEMENTATION': run.implementation,
                     'OPENBLAS_NUM_THREADS': 1, 'OPENBLAS_CORETYPE': run.core.openblas}
        variables.update(self.asked())
        settings = [f'--set={name}={value}' for name, value in variables.items()]
        return [self.gem5, '-q', '-d', os.path.dirname(line_file), run.core.configuration,
                f'--memory={run.memory}', f'--input={line_file}', *settings, run.driver,
                '--cycles' if self.cold else '--warm-cycles']

    @staticmethod
    def asked():
        """Other types of problems, by the driver's variables."""
        return {name: os.environ[name] for name in (*TYPES_ASKED, DST_SCALE) if name in os.environ}

    def path(self, run):
        """Of the file with its time, or None. What differs in addresses alone is the same: a change of how far
        ahead something is fetched has to remove the files."""
        signature = self.executed.signature(run)
        what = (self.digests[run.core], signature, run.line, run.memory, self.cold,
                *(f'{name}={value}' for name, value in self.asked().items()))
        return signature and os.path.join(CACHE, sha256(' '.join(map(str, what)).encode()).hexdigest()[:32])

    def run_all(self, runs):
        """Of each run 'ok ERROR NANOSECONDS NAME BYTES' or 'refused …', as the driver prints it; those that
        execute the same, as a choice and what was chosen, are one."""
        paths = [self.path(run) for run in runs]
        missing = {path: run for path, run in zip(paths, runs) if path and not os.path.exists(path)}
        progress = Progress('simulated')
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = [pool.submit(self.simulate, run, path) for path, run in missing.items()]
            for done, future in enumerate(futures):
                progress(done, len(futures))
                future.result()
        progress(1, 1)
        return [read(path) if path else 'refused there is no such implementation' for path in paths]

    def simulate(self, run, path):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            line_file = os.path.join(folder, 'problem')
            with open(line_file, 'w', encoding='utf-8') as file:
                file.write(run.line + '\n')
            done = subprocess.run(self.command(run, line_file), text=True, capture_output=True,
                                  check=False)
        found = re.search(r'^(ok|refused) .*$', done.stdout, re.M)
        if not found:
            raise MeasureError(f'the simulator printed no result: {(done.stderr or done.stdout)[-300:]}')
        with open(path + '.new', 'w', encoding='utf-8') as file:
            file.write(found.group())
        os.replace(path + '.new', path)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


@dataclass(frozen=True)
class Time:
    name: str
    microseconds: float
    weights: float  # bytes, as they are kept


def time_of(result):
    """None: there is no such implementation."""
    words = result.split()
    if words[0] != 'ok':
        return None
    return Time(words[3], float(words[2]) / 1000, float(words[4]))


def row(core, problem, memory, times, peers):
    """times: that of the choice, and those of other implementations."""
    chosen, best = times[0], min(times, key=lambda time: time.microseconds)
    share = 100 * problem.macs / 4 / core.peak / 1000 / chosen.microseconds
    others = ''.join(f' {time.microseconds:.1f} |' if time else ' – |' for time in peers)
    return (f'| {problem.text} | {memory} | {chosen.name} | {chosen.microseconds:.1f} | {share:.1f} | '
            f'{chosen.weights / chosen.microseconds / 1000:.2f} | {best.name} {best.microseconds:.1f} | '
            f'{chosen.microseconds / best.microseconds:.3f} |{others}')


def peer(text):
    name, _, driver = text.partition('=')
    return name, os.path.abspath(driver)


def cores_of(text):
    unknown = set(text.split(',')) - set(CORES)
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: only {', '.join(CORES)} are simulated")
    return [CORES[name] for name in text.split(',')]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--gem5', required=True)
    parser.add_argument('--driver', required=True)
    parser.add_argument('--emulator')
    parser.add_argument('--problem')
    parser.add_argument('--files')
    parser.add_argument('--layout', default='')
    parser.add_argument('--cores', type=cores_of, default='N1', help=', '.join(CORES))
    parser.add_argument('--memory', default='board,server,loaded')
    parser.add_argument('--implementations', default=ALL, help='names, or numbers in the order of choice')
    parser.add_argument('--peer', type=peer, action='append', default=[], help='NAME=STATIC_DRIVER')
    parser.add_argument('--warm', action='store_true', help='weights are in the caches')
    add_type_options(parser)
    args = parser.parse_args()
    args.driver, args.peer = os.path.abspath(args.driver), dict(args.peer)
    return args


def problems_of(args):
    if args.problem:
        return [shapes.parse(args.problem)]
    named = (shapes.find_file(name) for name in (args.files or '').split(',') if name)
    return [(operation, problem) for operation, name in named for problem in shapes.read_file(operation, name)]


def layout_of(args, operation):
    known = shapes.layouts(operation)
    return args.layout if args.layout in known else known[0]


def runs_of(args, core, operation, problem, memory):
    """The choice, the implementations, the peers."""
    line, wanted = problem.line(layout_of(args, operation)), args.implementations.split(',')
    return [*(Run(args.driver, line, memory, name, core) for name in ('0', *filter(None, wanted))),
            *(Run(driver, line, memory, core=core) for driver in args.peer.values())]


def print_table(args, simulator, core):
    rows = [(problem, memory, runs_of(args, core, operation, problem, memory))
            for operation, problem in problems_of(args) for memory in args.memory.split(',')]
    times = [time_of(result) for result in simulator.run_all([run for _, _, runs in rows for run in runs])]
    names = ('problem', 'memory', 'chosen', 'µs', '% of the peak', 'GB/s', 'best of all',
             'chosen / best', *args.peer)
    print(f'\nOn a core like {core.name}:\n\n|', ' | '.join(names), '|')
    print('|' + '---|' * len(names))
    for problem, memory, runs in rows:
        here, times = times[:len(runs)], times[len(runs):]
        ours = len(runs) - len(args.peer)
        if here[0]:
            print(row(core, problem, memory, [time for time in here[:ours] if time], here[ours:]))


def main():
    args = arguments()
    with asking_all(types_asked(args)):
        simulator = Simulator(args, Executed(args.emulator))
        for core in args.cores:
            print_table(args, simulator, core)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (MeasureError, shapes.ShapeError) as error:
        sys.exit(f'perf-cycles: {error}')
