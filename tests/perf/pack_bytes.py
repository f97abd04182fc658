"""Instructions per packed byte of reorders from plain to packed weights, counted in the emulator:

    pack_bytes.py PROGRAM [EMULATOR]

Fails when a layout takes more than one instruction a byte."""
import os
import re
import subprocess
import sys
import tempfile

MOST = 1.0
PLUGIN = os.path.join('build', 'tools', 'icount.so')


def count(program, emulator):
    """(what, bytes, instructions) of each region."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'counts')
        run = subprocess.run([emulator, '-cpu', 'neoverse-n1', '-plugin',
                              f'{os.path.abspath(PLUGIN)},out={out}', program],
                             capture_output=True, text=True, check=True)
        with open(out, encoding='utf-8') as file:
            totals = [int(total) for total in re.findall(r'^region \d+ total=(\d+)', file.read(), re.M)]
    rows = [line.rsplit(maxsplit=1) for line in run.stdout.splitlines()]
    return [(what, int(size), total) for (what, size), total in zip(rows, totals, strict=True)]


def main():
    program, emulator = sys.argv[1], (sys.argv[2:] or ['qemu-aarch64'])[0]
    worst = 0
    for what, size, total in count(program, emulator):
        worst = max(worst, total / size)
        print(f'{what:<24} {size:>9} bytes {total:>9} instructions {total / size:6.3f} a byte')
    if worst > MOST:
        sys.exit(f'pack_bytes: {worst:.3f} instructions a byte; {MOST} are allowed')


if __name__ == '__main__':
    main()
