"""Instructions of what programs of oneDNN's make and destroy around each execution:

    calls.py PROGRAM [EMULATOR]

Fails where streams, engines and memories take more than MOST together."""
import sys

from emulator import count_program

MOST = 2000


def main():
    counts = list(zip(*count_program(sys.argv[1:]), strict=True))
    for what, total in counts:
        print(f'{what:<34} {total:>6} instructions')
    if counts[0][1] > MOST:
        sys.exit(f'calls: {counts[0][0]}: {counts[0][1]} instructions; {MOST} are allowed')


if __name__ == '__main__':
    main()
