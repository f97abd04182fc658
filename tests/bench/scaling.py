#!/usr/bin/env python3
"""Times the problems of shape files with one thread and with as many as the library chooses of N.

  scaling.py BENCHDNN [--threads 2] [--rounds 5] [--ms 10] [--files conv:shapes_resnet_50,...]

Each round times every problem with both, one right after the other; a round's figure is the
shortest time of a call, and what is printed is the median of the rounds' ratios. Ends with status 1
if a problem is slower by more than the tolerance with the library's choice than with one thread."""
import argparse
import re
import statistics
import subprocess
import sys

FILES = ('matmul:shapes_ragged,matmul:shapes_bert_base_attention,matmul:shapes_decoder_decode_attention,'
         'conv:shapes_mobilenet_v1,reorder:shapes_2d')
OPTIONS = {'matmul': [], 'conv': ['--dir=FWD_I'], 'reorder': []}
TOLERANCE = 1.05


def measure(benchdnn, driver, file, threads, ms):
    """[(problem, time with one thread, with several)] in ms."""
    command = [benchdnn, '--mode=P', f'--max-ms-per-prb={ms}',
               f'--{driver}', '--perf-template=%prb%,%-time%', *OPTIONS[driver], f'--ctx-exe=1,{threads}', f'--batch={file}']
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    times = {}
    for line in output.splitlines():
        match = re.search(r'^(.*) --ctx-exe=(\d+) (.*),([0-9.e+-]+)$', line)
        if match:
            times.setdefault(match.group(3), {})[int(match.group(2))] = float(match.group(4))
    return [(name, t[1], t[threads]) for name, t in times.items() if 1 in t and threads in t]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('benchdnn')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--ms', type=int, default=10)
    parser.add_argument('--files', default=FILES)
    args = parser.parse_args()
    slower, total = [], 0
    print(f'1 thread against {args.threads}: speed-up, median of {args.rounds} rounds')
    for entry in args.files.split(','):
        driver, file = entry.split(':')
        rounds = {}
        for _ in range(args.rounds):
            for name, one, several in measure(args.benchdnn, driver, file, args.threads, args.ms):
                rounds.setdefault(name, []).append((one / several, one))
        if not rounds:
            print(f'{file}: no problem was measured', file=sys.stderr)
            return 2
        gains = {name: statistics.median(ratio for ratio, _ in values)
                 for name, values in rounds.items()}
        for name, gain in gains.items():
            if gain * TOLERANCE < 1:
                slower.append((gain, min(one for _, one in rounds[name]), driver, name))
        total += len(gains)
        print(f'  {file:28} {len(gains):4} problems   geometric mean {statistics.geometric_mean(gains.values()):5.2f}'
              f'   least {min(gains.values()):5.2f}   most {max(gains.values()):5.2f}', flush=True)
    for gain, one, driver, name in sorted(slower):
        print(f'  slower: {gain:.2f}  {one * 1000:9.1f} us  {driver} {name}')
    print(f'{len(slower)} of {total} problems are slower by more than {TOLERANCE - 1:.0%}')
    return 1 if slower else 0


if __name__ == '__main__':
    sys.exit(main())
