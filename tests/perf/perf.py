#!/usr/bin/env python3
"""Counts instructions and models cycles of our library and its peers. `make perf` calls it.

  perf.py table   a table for each input file, geometric means, the worst rows
  perf.py record  keeps what peers were counted at in files, for tables beside them
  perf.py check   compares instructions and lines with tests/perf/expected_counts.txt and _lines.txt
  perf.py update  rewrites these files
  perf.py profile where the modelled cycles of one problem go, block by block
  perf.py balance how one problem's work is split among threads
  perf.py choices whether the fastest implementation is chosen
  perf.py excess  rows that execute more products than they need, and why
  perf.py lines   cache lines that calls move, beside peers and lower bounds
  perf.py layouts convolutions that take longer with channels first
  perf.py worth   what is slower without some kernels
  perf.py ratios  how many times faster other types are than f32
  perf.py time    times, GFLOP/s and events; only on an AArch64 machine
"""
import argparse
import os
import platform
import sys
from statistics import geometric_mean

import choices
import emulator
import excess
import expected
import hardware
import isa
import layouts
import lines
import ratios
import recorded
import report
import shapes
import summary
import worth
from cores import CORES, DEFAULT_CORES
from emulator import MeasureError
from measure import Drivers, Measurer

OURS = 'neoprene'
PEERS = ('blas', 'blis', 'xnnpack', 'acl', 'onednn', 'kleidiai', 'mlas')
QUICK_FILES = ('resnet_50', 'mobilenet_v1', 'bert_base', 'square', 'skinny')

# Where long tables go.
DOCUMENTS = {'table': 'performance.md', 'lines': 'cache-lines.md', 'layouts': 'channels-first.md'}

# The tables whose means docs/performance-summary.md has.
PUBLISHED = '''
    square square:at square:bt square:abt square:ct square:plain skinny skinny:plain skinny:bt ragged
    ragged:plain ragged:bt bert_base bert_base:plain bert_base:bt bert_base_attention:bt decoder_decode
    decoder_decode:plain decoder_decode:bt decoder_decode_attention:bt decoder_prefill
    decoder_prefill_attention:bt speculative speculative:plain speculative:bt batched_broadcast
    classifiers classifiers:plain classifiers:bt vit vit_attention:bt whisper_tiny
    whisper_tiny_attention:bt recommendation recommendation:plain recommendation:bt
    recommendation_interaction:bt recurrent recurrent:plain recurrent:bt small_models small_models:plain
    small_models:bt mobilenet_v1 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small resnet_50 vgg_16
    conv/ragged tails 1x1 3x3 1d 3d_small 3d asymmetric_padding grouped dilated 1d_models convnext_tiny
    inception_v3 shufflenet_v2 yolo efficientnet_b0 densenet_121 squeezenet unet regnet segmentation
    mobilenet_v1:nchw mobilenet_v2:nchw mobilenet_v3_large:nchw
'''.split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('command', choices=COMMANDS)
    parser.add_argument('--files', default=','.join(QUICK_FILES),
                        help='input files by name, separated by commas; "all"; "every": all in all layouts; "published": those of docs/performance-summary.md')
    parser.add_argument('--cores', default=','.join(DEFAULT_CORES), help=', '.join(CORES))
    parser.add_argument('--peers', help=', '.join(PEERS) + '; if not said, the fastest of those that are there')
    parser.add_argument('--layout', default="",
                        help='packed or plain weights, these with transposed operands: at, bt, abt, '
                             'ct; nhwc or nchw')
    parser.add_argument('--recorded', action='store_true', help="table, lines: take peers' figures from what is recorded")
    parser.add_argument('--caches', action='store_true', help='also count cache lines (slower)')
    parser.add_argument('--drivers', required=True, help='the folder with driver_*')
    parser.add_argument('--root', default='', help='the folder that peers were unpacked into')
    parser.add_argument('--emulator', default='qemu-aarch64')
    parser.add_argument('--gem5', default='gem5.fast', help='choices: the cycle simulator')
    parser.add_argument('--cycles-driver', help='choices: the static program that it runs')
    parser.add_argument('--libraries', default=f'{OURS},blas', help='whose counts to update')
    parser.add_argument('--problem', default='', help='profile, balance: a descriptor')
    parser.add_argument('--library', default=OURS, help='profile, balance: whose call')
    parser.add_argument('--threads', default='2', help='balance: how many; for files a list')
    parser.add_argument('--kernels', default='*', help='worth: patterns; what one means is taken out together')
    parser.add_argument('--each', action='store_true', help='worth: each kernel that a pattern means by itself')
    parser.add_argument('--top', type=int, default=12, help='profile: how many blocks')
    parser.add_argument('--show', action='store_true', help='profile: print their instructions')
    parser.add_argument('--out', help='table, lines, layouts: write markdown here, and plots beside it')
    parser.add_argument('--summary', help='table: write means of each file here, and a plot beside it')
    emulator.add_type_options(parser)
    args = parser.parse_args()
    if args.command == 'ratios' and not args.types and not args.fpmath:
        args.types = 's8:s8:s8'
    if args.peers is None:
        args.peers = 'blas,xnnpack,acl' if args.root else 'blas'
    args.out = args.out or os.path.join('build', DOCUMENTS.get(args.command, ''))
    return args


def listed(text, known, what):
    names = [name for name in text.split(',') if name]
    for name in names:
        if name not in known:
            raise MeasureError(f"there is no {what} '{name}': choose from {', '.join(known)}")
    return names


def tables_of(args):
    """(operation, file, layout) of each table: of a file named file:layout that one, else --layout's."""
    if args.files == 'all':
        named = [(*found, '') for found in shapes.all_files()]
    elif args.files == 'every':
        named = [(*found, layout) for found in shapes.all_files() for layout in shapes.layouts(found[0])]
    else:
        names = PUBLISHED if args.files == 'published' else args.files.split(',')
        parts = [name.partition(':') for name in names if name]
        named = [(*shapes.find_file(file), layout) for file, _, layout in parts]
    return [(operation, file, layout) for operation, file, own in named
            for layout in layouts_of(operation, own or args.layout)]


def libraries(drivers, peers):
    """Ours first. A peer without a driver is left out: it is not there, or its version is not what the driver is for."""
    one_library(drivers, OURS)
    for peer in peers:
        if not drivers.has(peer):
            print(f"perf: {peer} is left out, as it is not there: 'make peers' unpacks Debian 13's", file=sys.stderr)
        else:
            print(f'perf: {peer} is {recorded.packages_of(drivers.path(peer), drivers.root)}', file=sys.stderr)
    return [OURS, *(name for name in peers if drivers.has(name))]


def one_library(drivers, name):
    listed(name, (OURS, *PEERS), 'library')
    if not drivers.has(name):
        raise MeasureError(f'{name} has no driver in {drivers.folder}')
    return name


def layouts_of(operation, wanted):
    """What a row's weights or images look like in memory."""
    listed(wanted, shapes.MATMUL_LAYOUTS + shapes.CONV_LAYOUTS, 'layout')
    known = shapes.layouts(operation)
    return [layout for layout in known if layout in wanted.split(',')] or known[:1]


def make_table(args, measurer):
    """The file is written after each table: what there is of a long run can be read."""
    peers = listed(args.peers, PEERS, 'peer')
    names = [OURS, *peers] if args.recorded else libraries(measurer.drivers, peers)
    document = report.Report(measurer.core_names, names, args.caches)
    for operation, file, layout in announced(measurer, tables_of(args)):
        problems = shapes.read_file(operation, file)
        figures = {name: recorded.measure(measurer, name, problems, layout) if args.recorded and name != OURS
                   else measurer.measure(name, problems, layout) for name in names}
        section = document.add(operation, file, layout, problems, figures)
        print(document.text(section), flush=True)
        document.write(args.out)
    if args.summary:
        summary.write(document, args.summary, args.root)
    print(document.summary())
    return 0


def announced(measurer, tables):
    for i, (operation, file, layout) in enumerate(tables):
        measurer.what = f'{file}, {layout} ({i + 1} of {len(tables)})'
        yield operation, file, layout


def record(args, measurer):
    """A file is written after each table: an interrupted run has what it came to."""
    _, *peers = libraries(measurer.drivers, listed(args.peers, PEERS, 'peer'))
    for operation, file, layout in announced(measurer, tables_of(args)):
        for name in peers:
            recorded.record(measurer, name, shapes.read_file(operation, file), layout)
    return 0


def print_profile(args, measurer):
    """Ideal cycles are those of a block's multiply-accumulates at the core's peak."""
    operation, problem = shapes.parse(args.problem)
    layout = layouts_of(operation, args.layout)[0]
    core = CORES[measurer.core_names[0]]
    library = one_library(measurer.drivers, args.library)
    result = measurer.count(library, core.guest, [problem.line(layout)])[0]
    if 'refused' in result:
        raise MeasureError(f"{args.library} refused: {result['refused']}")
    rows = measurer.model.profile(core, result)
    measurer.costs.save()
    total = sum(row[0] for row in rows)
    useful = problem.macs / shapes.MACS_PER_VECTOR
    print(f"{args.library} {problem.text} ({layout}) on {core.name}: {result['counts']['total']} "
          f'instructions, {total:.0f} modelled cycles, {100 * useful / total / core.peak:.1f} % of peak')
    print('share  of peak        runs  instructions  macs  cycles  symbol')
    for cycles, runs, symbol, text in rows[:args.top]:
        macs = sum(isa.parse(line).kind == 'mac' for line in text.split('\n'))
        print(f'{100 * cycles / total:4.1f} % {100 * macs * runs / cycles / core.peak:6.1f} % {runs:11} '
              f"{text.count(chr(10)) + 1:13} {macs:5} {cycles / runs:7.1f}  {symbol}")
        if args.show:
            print('    ' + text.replace('\n', '\n    '))
    return 0


def thread_counts(args, measurer, lines, threads):
    """What each thread executed, a list for each problem."""
    library = one_library(measurer.drivers, args.library)
    results = measurer.count(library, CORES[measurer.core_names[0]].guest, lines,
                             options=f'threads={threads}')
    for result in results:
        if 'refused' in result:
            raise MeasureError(f"{args.library} refused: {result['refused']}")
    return [result['threads'] for result in results]


def imbalance(counts):
    """The busiest thread's instructions against the mean of those that the library chose to use."""
    totals = [thread['total'] for thread in counts]
    return max(totals) * len(totals) / sum(totals)


def numbers_of_threads(text):
    numbers = text.split(',')
    if not all(number.isdecimal() and int(number) for number in numbers):
        raise MeasureError(f"'{text}' is no list of numbers of threads, such as 4,16")
    return [int(number) for number in numbers]


def print_balance(args, measurer):
    threads = numbers_of_threads(args.threads)
    if args.problem:
        return print_problem_balance(args, measurer, threads[0])
    ratios = {number: [] for number in threads}
    for operation, file, layout in tables_of(args):
        problems = shapes.read_file(operation, file)
        lines = [problem.line(layout) for problem in problems]
        print(f"{f'{os.path.basename(file)}, {layout}':34}"
              + ''.join(f'{number:5} threads: used' for number in threads))
        columns = [thread_counts(args, measurer, lines, number) for number in threads]
        for problem, *row in zip(problems, *columns):
            for number, counts in zip(threads, row):
                ratios[number].append(imbalance(counts))
            print(f'{problem.name:34}'
                  + ''.join(f'{imbalance(counts):13.3f} {len(counts):5}' for counts in row))
    print('\nbusiest thread over mean, geometric means: ' + ', '.join(
        f'{number} threads {geometric_mean(values):.3f}' for number, values in ratios.items()))
    return 0


def print_problem_balance(args, measurer, threads):
    operation, problem = shapes.parse(args.problem)
    line = problem.line(layouts_of(operation, args.layout)[0])
    counts = thread_counts(args, measurer, [line], threads)[0]
    products = sum(thread['macs'] for thread in counts)
    print('thread  products   share  instructions')
    for i, thread in enumerate(counts):
        print(f"{i:6} {thread['macs']:9} {100 * thread['macs'] / products:6.1f} % "
              f"{thread['total']:12}")
    print(f'the busiest thread has {imbalance(counts):.3f} times its share of the instructions')
    return 0


def print_times(args):
    if platform.machine() not in ('aarch64', 'arm64'):
        raise MeasureError('times of an emulator say nothing about a core: run this on AArch64')
    drivers = Drivers(args.drivers, args.root)
    names = libraries(drivers, listed(args.peers, PEERS, 'peer'))
    print(f'{hardware.processor()}\n')
    for operation, file, layout in tables_of(args):
        problems = shapes.read_file(operation, file)
        print(f'{report.Section(operation, file, layout, [], {}).title}\n')
        print(hardware.table(problems, layout, names, drivers.command) + '\n')
    return 0


def print_lines(args, measurer):
    names = libraries(measurer.drivers, listed(args.peers, PEERS, 'peer'))
    return lines.publish(measurer, names, tables_of(args), args.out, args.recorded)


def update(args, measurer):
    for kind in expected.KINDS:
        expected.update(kind, measurer, args.libraries.split(','))
    return 0


COMMANDS = {
    'table': make_table,
    'record': record,
    'check': lambda args, measurer: max([expected.check(kind, measurer) for kind in expected.KINDS]),
    'update': update,
    'profile': print_profile,
    'balance': print_balance,
    'choices': lambda args, measurer: choices.compare(measurer, args),
    'excess': lambda args, measurer: excess.list_rows(measurer, tables_of(args)),
    'lines': print_lines,
    'layouts': lambda args, measurer: layouts.publish(measurer, tables_of(args), args.out),
    'worth': lambda args, measurer: worth.publish(measurer, tables_of(args), args.kernels, args.each),
    'ratios': lambda args, measurer: ratios.publish(measurer, tables_of(args), emulator.types_asked(args)),
    'time': lambda args, measurer: print_times(args),
}


def run(args):
    measurer = None
    if args.command != 'time':  # that runs on the hardware
        measurer = Measurer(Drivers(args.drivers, args.root), args.emulator, listed(args.cores, CORES, 'core'), args.caches)
    # ratios asks for types itself, and for f32
    with emulator.asking_all({} if args.command == 'ratios' else emulator.types_asked(args)):
        return COMMANDS[args.command](args, measurer)


def main():
    args = arguments()
    try:
        return run(args)
    except (MeasureError, shapes.ShapeError, RuntimeError) as error:
        print(f'perf: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    sys.exit(main())
