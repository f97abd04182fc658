"""Instructions of convolutions whose sizes are known late, over those with fixed sizes, in the emulator:

    late_sizes.py PROGRAM [EMULATOR]

Fails when one takes over 5 % more, with finding what an execution's sizes were given. Where fixed sizes are so small
that other weights suit them, which a convolution of any size cannot have, the line says so."""
import sys

from emulator import count_program

MOST = 1.05


def count(arguments):
    """(problem, whether weights have one layout, instructions with fixed sizes, with late ones) of each row."""
    lines, totals = count_program(arguments)
    return [(*line.split(), fixed, late)
            for line, fixed, late in zip(lines, totals[::2], totals[1::2], strict=True)]


def main():
    failed = 0
    for problem, same_layout, fixed, late in count(sys.argv[1:]):
        verdict = '' if same_layout == '1' else ' (other weights)'
        if same_layout == '1' and late > MOST * fixed:
            verdict, failed = ' FAILED', failed + 1
        print(f'{problem:<36} {fixed:>10} with fixed sizes {late:>10} with late ones {late / fixed:6.3f}{verdict}')
    sys.exit(failed and f'late_sizes: {failed} over {MOST} times')


if __name__ == '__main__':
    main()
