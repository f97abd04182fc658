"""Instructions of what programs of oneDNN's make and destroy around each execution:

    calls.py PROGRAM [EMULATOR]

Fails where streams, engines and memories take more than MOST together."""
import os
import re
import subprocess
import sys
import tempfile

MOST = 2000
PLUGIN = os.path.join('build', 'tools', 'icount.so')


def count(program, emulator):
    """(what, instructions) of each region."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'counts')
        plugin = f'{os.path.abspath(PLUGIN)},out={out}'
        run = subprocess.run([emulator, '-cpu', 'neoverse-n1', '-plugin', plugin, program],
                             capture_output=True, text=True, check=True)
        with open(out, encoding='utf-8') as file:
            totals = [int(total) for total in re.findall(r'^region \d+ total=(\d+)', file.read(), re.M)]
    return list(zip(run.stdout.splitlines(), totals, strict=True))


def main():
    program, emulator = sys.argv[1], (sys.argv[2:] or ['qemu-aarch64'])[0]
    counts = count(program, emulator)
    for what, total in counts:
        print(f'{what:<34} {total:>6} instructions')
    if counts[0][1] > MOST:
        sys.exit(f'calls: {counts[0][0]}: {counts[0][1]} instructions; {MOST} are allowed')


if __name__ == '__main__':
    main()
