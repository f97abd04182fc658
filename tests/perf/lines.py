"""Cache lines that convolutions move, ours and peers': `make perf-lines`, and with OUT= a document.

Winograd's algorithm trades products for larger weights, so this is where its price would show."""
from emulator import MeasureError

import shapes
from cores import CORES

OURS = 'neoprene'
LAYOUT = 'nhwc'
PROBLEMS = ('mb1ic64ih56oc64oh56kh3ph1', 'mb1ic128ih28oc128oh28kh3ph1', 'mb1ic256ih14oc256oh14kh3ph1',
            'mb1ic512ih7oc512oh7kh3ph1', 'mb1ic512ih14oc512oh14kh3ph1', 'mb1ic64ih224oc64oh224kh3ph1')
INTRODUCTION = """# Cache lines of 3×3 convolutions

Made by `make perf-lines OUT={out}`. Lines of 64 bytes, filled and written back, in thousands: between
L1 and L2, and between L2 and what lies behind it. The caches are those of the model (64 KiB, 4 ways;
1 MiB, 8 ways; no prefetch), warm from one call before, except for problems above 2^27 products. One
thread, nhwc, f32, weights in each library's own layout.

Ours are Winograd's: its weights have 64 (F(6,3)) or 36 (F(4,3)) values for 9, each of which comes once
for a strip of tiles. With many channels and a small image nearly all lines of L2 are these: 262 of
256 channels at 14, 590 of 512 at 7, 1049 of 512 at 14 (thousands). OpenBLAS, which
multiplies the weights as they are, moves fewer lines there, in 4.5 to 5 times as many instructions;
where image and weights fit into the L2 cache, XNNPACK moves the fewest.
"""


def lines_of(measurer, library, problem):
    """(L1, L2) in lines, or None if the library refuses."""
    guest = CORES[measurer.core_names[0]].guest
    result = measurer.count(library, guest, [problem.line(LAYOUT)], plugin='cachesim')[0]
    if 'refused' in result:
        return None
    counts = result['counts']
    return tuple(counts[level + '_fills'] + counts[level + '_writebacks'] for level in ('l1', 'l2'))


def row(measurer, libraries, text):
    problem = shapes.PARSERS['conv'](text)
    cells = [text]
    for library in libraries:
        lines = lines_of(measurer, library, problem)
        cells += [f'{count / 1000:.0f}' for count in lines] if lines else ['–', '–']
    return cells


def table(measurer, libraries, out):
    if OURS not in libraries:
        raise MeasureError(f'there is no driver of {OURS}')
    titles = ['problem'] + [f'{library} {level}' for library in libraries for level in ('L1', 'L2')]
    text = [' | '.join(['', *titles, '']).strip(), '|' + '---|' * len(titles)]
    print('\n'.join(text))
    for problem in PROBLEMS:
        text.append(' | '.join(['', *row(measurer, libraries, problem), '']).strip())
        print(text[-1], flush=True)
    if out:
        with open(out, 'w', encoding='utf-8') as file:
            file.write(INTRODUCTION.format(out=out) + '\n' + '\n'.join(text) + '\n')
    return 0
