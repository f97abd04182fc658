"""Instructions per packed byte of reorders from plain to packed weights, counted in the emulator:

    pack_bytes.py PROGRAM [EMULATOR]

Fails when a layout takes more than one instruction a byte."""
import sys

from emulator import count_program

MOST = 1.0


def count(arguments):
    """(what, bytes, instructions) of each region."""
    lines, totals = count_program(arguments)
    rows = [line.rsplit(maxsplit=1) for line in lines]
    return [(what, int(size), total) for (what, size), total in zip(rows, totals, strict=True)]


def main():
    worst = 0
    for what, size, total in count(sys.argv[1:]):
        worst = max(worst, total / size)
        print(f'{what:<24} {size:>9} bytes {total:>9} instructions {total / size:6.3f} a byte')
    if worst > MOST:
        sys.exit(f'pack_bytes: {worst:.3f} instructions a byte; {MOST} are allowed')


if __name__ == '__main__':
    main()
