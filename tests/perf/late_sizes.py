"""Instructions of convolutions whose sizes are known late, over those with fixed sizes, in the emulator:

    late_sizes.py PROGRAM [EMULATOR]

Fails when one takes over 5 % and 1500 instructions more: those of finding what an execution's sizes were given. Where
fixed sizes are so small that other weights suit them, which a convolution of any size cannot have, the line says so."""
import os
import re
import subprocess
import sys
import tempfile

MOST, EACH_CALL = 1.05, 1500
PLUGIN = os.path.join('build', 'tools', 'icount.so')


def count(program, emulator):
    """(problem, whether weights have one layout, instructions with fixed sizes, with late ones) of each row."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'counts')
        run = subprocess.run([emulator, '-cpu', 'neoverse-n1', '-plugin',
                              f'{os.path.abspath(PLUGIN)},out={out}', program],
                             capture_output=True, text=True, check=True)
        with open(out, encoding='utf-8') as file:
            totals = [int(total) for total in re.findall(r'^region \d+ total=(\d+)', file.read(), re.M)]
    rows = [line.split() for line in run.stdout.splitlines()]
    return [(problem, same == '1', fixed, late)
            for (problem, same), fixed, late in zip(rows, totals[::2], totals[1::2], strict=True)]


def main():
    program, emulator = sys.argv[1], (sys.argv[2:] or ['qemu-aarch64'])[0]
    failed = 0
    for problem, same_layout, fixed, late in count(program, emulator):
        verdict = '' if same_layout else ' (other weights)'
        if same_layout and late > MOST * fixed + EACH_CALL:
            verdict, failed = ' FAILED', failed + 1
        print(f'{problem:<36} {fixed:>10} with fixed sizes {late:>10} with late ones {late / fixed:6.3f}{verdict}')
    sys.exit(failed and f'late_sizes: {failed} over {MOST} times and {EACH_CALL} instructions')


if __name__ == '__main__':
    main()
