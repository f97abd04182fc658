"""Problems on a simulated machine, cycle by cycle: `make perf-cycles` shows what the pipeline models do
not know, time that goes by until weights come from memory.

    cycles.py --gem5 PROGRAM --driver STATIC_DRIVER (--problem TEXT | --files NAME) [--memory board,loaded]

For each problem and memory it prints the time of what the library chooses and, for convolutions, that of
every implementation before the reference, with the best one's name."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import shapes
from emulator import MeasureError, digest_of_files
from measure import Progress

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATION = os.path.join(HERE, 'cycles', 'neoverse_n1.py')
CACHE = os.path.join('build', 'cycles')
# GB/s that one core reads of each memory, for choices; and multiply-adds of four values a nanosecond.
BANDWIDTHS = {'board': 9, 'server': 12, 'loaded': 3}
PEAK = 2 * 2.5
MOST = 6


class Simulator:
    """Times are kept in a file each, by program, configuration and problem."""

    def __init__(self, args):
        self.gem5, self.driver, self.cold = args.gem5, args.driver, not args.warm
        self.digest = digest_of_files([args.driver, CONFIGURATION])

    def command(self, line_file, memory, index):
        variables = {'NEO_CPU_CORE': 'neoverse-n1', 'NEOPRENE_BANDWIDTH': BANDWIDTHS[memory],
                     'NEOPRENE_NUM_THREADS': 1, 'PERF_IMPLEMENTATION': index}
        settings = [f'--set={name}={value}' for name, value in variables.items()]
        return [self.gem5, '-q', '-d', os.path.dirname(line_file), CONFIGURATION,
                f'--memory={memory}', f'--input={line_file}', *settings, self.driver,
                '--cycles' if self.cold else '--warm-cycles']

    def run(self, line, memory, index):
        """'ok ERROR NANOSECONDS NAME' or 'refused …', as the driver prints it."""
        key = sha256(f'{self.digest} {line} {memory} {index} {self.cold}'.encode()).hexdigest()
        path = os.path.join(CACHE, key[:32])
        if not os.path.exists(path):
            self.simulate(line, memory, index, path)
        with open(path, encoding='utf-8') as file:
            return file.read()

    def simulate(self, line, memory, index, path):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            line_file = os.path.join(folder, 'problem')
            with open(line_file, 'w', encoding='utf-8') as file:
                file.write(line + '\n')
            done = subprocess.run(self.command(line_file, memory, index), text=True,
                                  capture_output=True, check=False)
        found = re.search(r'^(ok|refused) .*$', done.stdout, re.M)
        if not found:
            raise MeasureError(f'the simulator printed no result: {(done.stderr or done.stdout)[-300:]}')
        with open(path + '.new', 'w', encoding='utf-8') as file:
            file.write(found.group())
        os.replace(path + '.new', path)


def time_of(result):
    """(name, microseconds), or None if there is no such implementation."""
    words = result.split()
    return (words[3], float(words[2]) / 1000) if words[0] == 'ok' else None


def row(problem, memory, times):
    name, chosen = times[0]
    best_name, best = min(times, key=lambda time: time[1])
    share = 100 * problem.macs / 4 / PEAK / 1000 / chosen
    return (f'| {problem.text} | {memory} | {name} | {chosen:.1f} | {share:.1f} | '
            f'{best_name} {best:.1f} | {chosen / best:.3f} |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--gem5', required=True)
    parser.add_argument('--driver', required=True)
    parser.add_argument('--problem')
    parser.add_argument('--files')
    parser.add_argument('--layout', default='')
    parser.add_argument('--memory', default='board,server,loaded')
    parser.add_argument('--warm', action='store_true', help='weights are in the caches')
    args = parser.parse_args()
    args.driver = os.path.abspath(args.driver)
    return args


def problems_of(args):
    if args.problem:
        operation = 'matmul' if ':' in args.problem.split('n"')[0] else 'conv'
        return [(operation, shapes.PARSERS[operation](args.problem))]
    named = (shapes.find_file(name) for name in (args.files or '').split(',') if name)
    return [(operation, problem) for operation, name in named for problem in shapes.read_file(operation, name)]


def layout_of(args, operation):
    known = shapes.MATMUL_LAYOUTS if operation == 'matmul' else shapes.CONV_LAYOUTS
    return args.layout if args.layout in known else known[0]


def main():
    args = arguments()
    simulator, problems = Simulator(args), problems_of(args)
    runs = [(problem, problem.line(layout_of(args, operation)), memory, index)
            for operation, problem in problems for memory in args.memory.split(',')
            for index in range(MOST)]
    progress = Progress('simulated')
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(simulator.run, *run[1:]) for run in runs]
        results = []
        for done, future in enumerate(futures):
            results.append(time_of(future.result()))
            progress(done + 1, len(futures))
    print('| problem | memory | chosen | µs | % of the peak | best of all | chosen / best |')
    print('|---|---|---|---|---|---|---|')
    for start in range(0, len(runs), MOST):
        times = [time for time in results[start:start + MOST] if time]
        if times:
            print(row(runs[start][0], runs[start][2], times))
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (MeasureError, shapes.ShapeError) as error:
        sys.exit(f'perf-cycles: {error}')
