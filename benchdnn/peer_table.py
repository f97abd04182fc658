"""Checks the problems of ResNet-50 and BERT-base and prints them beside OpenBLAS.

    peer_table.py --benchdnn PROGRAM [--emulator COMMAND --plugin icount.so] [--tests DRIVER:FILE …]

On the hardware itself the columns are milliseconds, medians of runs in turn. With an emulator they
are instructions per multiply-accumulate, counted by the plugin in the regions that benchdnn marks:
times would be those of the emulator."""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

NETWORKS = ['conv:perf_resnet_50', 'matmul:perf_bert_base']
OUTCOME = re.compile(r'^\d+:([A-Z_]+)\b.*__REPRO: (.*)$')
# One thread, and the kernels OpenBLAS would choose by itself on the emulated core.
EMULATION = {'NEOPRENE_EMULATED': '1', 'NEOPRENE_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1',
             'OPENBLAS_CORETYPE': 'NEOVERSEN1'}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--benchdnn', required=True)
    parser.add_argument('--emulator', default='')
    parser.add_argument('--plugin', default='')
    parser.add_argument('--tests', nargs='+', default=NETWORKS, metavar='DRIVER:FILE')
    return parser.parse_args()


class Row:
    """One problem: its state and, if it passed, two figures of the same unit."""

    def __init__(self, state, name, macs=0.0, ours=None, peer=None):
        self.state, self.name, self.macs, self.ours, self.peer = state, name, macs, ours, peer

    def ratio(self):
        return self.peer / self.ours if self.ours and self.peer else None


def short_name(repro):
    name = re.search(r'n"([^"]*)"', repro)
    return name.group(1) if name else repro.split(' ')[-1]


def show_progress(done, name):
    if sys.stderr.isatty():
        print(f'\r\033[K{done} done: {name}', end='', file=sys.stderr, flush=True)


def read_rows(stream):
    """Rows from benchdnn's lines; those of the peer precede the problem's outcome."""
    rows, pending = [], None
    for line in stream:
        fields = line.rstrip('\n').split(',', 3)
        if fields[0] == 'peer_regions':
            pending = Row('', '', float(fields[1]))
        elif fields[0] == 'peer' and fields[1] != 'ours(ms)':
            figures = line.split(',')
            pending = Row('', '', 0.0, float(figures[1]), float(figures[3]))
        outcome = OUTCOME.match(line)
        if outcome:
            row = pending or Row('', '')
            row.state, row.name = outcome.group(1), short_name(outcome.group(2))
            rows.append(row)
            pending = None
            show_progress(len(rows), row.name)
    return rows


def add_counts(rows, path):
    """Two regions belong to every problem that was measured: ours, then the peer's."""
    with open(path, encoding='ascii') as file:
        totals = [int(total) for total in re.findall(r'\btotal=(\d+)', file.read())]
    measured = [row for row in rows if row.macs]
    if len(totals) != 2 * len(measured):
        raise SystemExit(f'{len(totals)} regions were counted for {len(measured)} problems')
    for index, row in enumerate(measured):
        row.ours, row.peer = (total / row.macs for total in totals[2 * index:2 * index + 2])


def run_test(arguments, driver, batch):
    """All rows of one batch file, and whether benchdnn was satisfied."""
    command = [arguments.benchdnn, '--mode=C', '--peer=openblas', '--' + driver, '--ctx-exe=1',
               '--batch=' + batch]
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, 'counts')
        if arguments.emulator:
            plugin = ['-plugin', f'{arguments.plugin},out={counts}']
            command = arguments.emulator.split() + plugin + command
            environment.update(EMULATION)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                              env=environment) as process:
            rows = read_rows(process.stdout)
        if arguments.emulator and any(row.macs for row in rows):
            add_counts(rows, counts)
    return rows, process.returncode == 0


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float('nan')


def print_row(width, state, name, ours, peer, ratio):
    print(f'  {name:<{width}}  {state:<10}  {ours:>10}  {peer:>10}  {ratio:>7}')


def print_table(title, rows, unit):
    width = max([len(row.name) for row in rows] + [20])
    print(f'\n{title}')
    print_row(width, 'state', 'problem', 'ours', 'OpenBLAS', 'ratio')
    for row in rows:
        ours, peer, ratio = (f'{value:.3f}' if value else '-'
                             for value in (row.ours, row.peer, row.ratio()))
        print_row(width, row.state, row.name, ours, peer, ratio)
    ratios = [row.ratio() for row in rows if row.ratio()]
    print_row(width, '', 'geometric mean', unit, unit, f'{geometric_mean(ratios):.3f}')
    return ratios


def main():
    arguments = parse_arguments()
    unit, ratios, satisfied, problems = 'ms', [], True, 0
    if arguments.emulator:
        unit = 'instr/MAC'
        print('This processor is emulated: instructions per multiply-accumulate, not times.')
    print('OpenBLAS multiplies matrices only: convolutions are im2col + sgemm, without bias and '
          'post-operations.\nratio: OpenBLAS / ours, more than 1 is in our favour.')
    for test in arguments.tests:
        driver, batch = test.split(':', 1)
        rows, passed = run_test(arguments, driver, batch)
        show_progress(len(rows), test + '\n')
        ratios += print_table(f'{driver}: {batch}', rows, unit)
        satisfied &= passed and all(row.state == 'PASSED' for row in rows)
        problems += len(rows)
    verdict = 'all PASSED' if satisfied else 'NOT all passed'
    print(f'\n{problems} problems, {verdict}; geometric mean of ratios {geometric_mean(ratios):.3f}')
    return 0 if satisfied else 1


if __name__ == '__main__':
    sys.exit(main())
