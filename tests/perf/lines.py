"""Cache lines that whole calls move, ours and peers', beside what no program can avoid: `make
perf-lines`, and with OUT= a document. What is counted is kept, as all counts are."""
import re
from dataclasses import dataclass
from math import inf, prod, sqrt
from statistics import median

import report
import shapes
from cores import CORES
from emulator import MeasureError, asking

OURS = 'neoprene'
LINE = 16  # f32
LEVELS = ('l1', 'l2')
CACHE = {'l1': 64 * 1024 // 4, 'l2': 1024 * 1024 // 4}  # f32; cachesim.c's defaults
WARM_UP_LIMIT = 1 << 27                                  # products; driver.c's
MOST = 1 << 30  # products: larger problems take minutes each, and show nothing new
# A row is "large" at a level from so many lines on: below, what a call has on its stack and in its
# tables shows.
LARGE = 1000
# Counts that differ by less than this are the same: where arrays begin decides it.
TOLERANCE = 1.05
FEW = 50    # lines: not worth a ratio
NAMED = 30  # rows above a bound in the summary; those behind a peer are all named
GOAL = 1.3
PLACEMENTS = (1, 2, 3, 4)  # more of them, for rows that are behind: with the first, the median is one's
RECORDED = '; peers\' counts are those of an earlier time, in three digits'
HEADER = ('problem', 'L1 bound', 'L1', '× bound', 'peers', '× best', 'L2 bound', 'L2', '× bound', 'peers',
          '× best')
INTRODUCTION = """# Cache lines

Made by `make perf-lines FILES=all PEERS={peers} OUT={out}`,
at commit {commit}{recorded}.
Lines of 64 bytes, filled and written back, in thousands: between L1 and L2 (L1), and between L2 and what
lies behind it (L2). The caches are those of the model (64 KiB, 4 ways; 1 MiB, 8 ways; no prefetch), warm
from one call before, except for problems above 2^27 products; there are none above 2^30. One thread;
weights packed, images nhwc. [measuring.md](measuring.md) has more on the instrument.

**Bound**: what a program with so many bytes of cache has to move, the larger one of

* the compulsory traffic: source, weights and destination come into the cache once (a store allocates a
  line) and the destination goes out once; nothing, if all of them stay from call to call;
* 2 P / √(R S) − 2 S values, of P products and S values of cache: for a matrix multiplication R is 1
  (Smith, Lowery, Langou, van de Geijn, *A Tight I/O Lower Bound for Matrix Multiplication*, 2017), for a
  convolution it is the number of outputs that a source value is used for per pair of channels, kernel
  height × width over the strides (Chen, Han, Wang, *Communication Lower Bound in Convolution
  Accelerators*, 2020).

The second one is for a block of the result that stays in the cache while all of its products are added.
A kernel that keeps sums in registers for some hundred steps instead, and a block of weights in the
cache, cannot get below √2 times that. Winograd's algorithm has fewer products and more weights, so the
bound is not one for it; it is printed for comparison with what a direct convolution could do.

A dash is for bounds below {large} lines, and for peers that refuse. "× best" is ours over the peer that
moves the fewest. Where a peer moves fewer than what Neoprene chooses, the summary also says what Neoprene moves
when Winograd is forbidden. If that is more as well, these rows are counted with arrays in four other places,
ours and those of the peers that move fewer, and what the tables have is the median of five.

## Where more has to be moved than seems necessary

**Winograd.** F(6,3) has 64 values for the 9 of a kernel, F(4,3) 36, F(2,3) 16, and all of them come for
each strip of tiles. With many channels and a small image nearly all lines behind L2 are these. "Least" is
what F(6,3) has to move if nothing leaves L2 before its last use: transformed weights and the images. Smaller
tiles have fewer lines and more products, a direct convolution the fewest lines; thousands of lines behind
L2, and millions of modelled cycles of Neoverse N1:

| convolution | least | F(6,3) | | F(4,3) | | F(2,3) | | direct | | fewest lines of a peer | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 64 channels at 56 | 54 | 106 | 4.13 | 38.5 | 4.91 | 37.8 | 8.95 | 37.7 | 14.8 | 41 XNNPACK | 14.9 |
| 128 at 28 | 84 | 136 | 3.55 | 118 | 4.21 | 137 | 7.65 | 18.9 | 14.4 | 20 XNNPACK | 14.7 |
| 256 at 14 | 272 | 302 | 3.61 | 189 | 4.33 | 126 | 7.03 | 38.1 | 14.0 | 184 OpenBLAS | 15.3 |
| 512 at 7 | 595 | 616 | 4.17 | 616 | 4.19 | 301 | 8.78 | 152 | 13.3 | 226 OpenBLAS | 15.9 |

F(4,3) would be the better choice with 256 channels at 14 where a line from behind L2 costs more than 6.4
cycles that nothing hides, with 64 at 56 more than 11.5, with 128 at 28 more than 38; 64 bytes in 6.4 cycles
are what a core of 3 GHz reads at 30 GB/s. What memory costs beside products differs between machines of one
core, so Neoprene takes what has the fewest cycles. Whoever has less bandwidth can ask for
`NEO_CONVOLUTION_DIRECT`.
With 512 at 7 the tiles are of 4 + 3 outputs in either layout.

Dilated convolutions of stride 1 are done the same way, a part of the image each: 64 channels at 20 with rate 2
move 89 thousand lines of L1 and 28 of L2, where a direct one moves 23 and none, in .42 of its modelled cycles of N1.

Where weights are larger than L2 they come once for a strip of as many tiles as can be, and sums are written
where inputs were: 256 and 512 channels move little more than the least. Where they are smaller, every other
strip begins at the last panel of weights, and every other round at the last points, so that what was used
last is still there. With 64 channels at 112 (least 167, moved 417) and VGG's conv2_1 (284, 878) a strip's
inputs and sums displace these weights; strips of other sizes, and other orders, move as much or more.

**L1.** A few panels of B stay in L1, and rows of A pass by them: what leaves first is what was used the
longest ago, so room is needed for the rows of two tiles, and sums come and go for each block of k. Where
rows and panels fall on the same places of the cache, less than it holds stays there; blocks are chosen by
these places. That takes at least 2 √2 / √T values for a product, T being what of the cache panels may
fill: with three quarters 1.6 times the bound. Two to six times are moved, by most peers far more. Smaller
blocks of k would move less, but each comes with a load and a store of all sums. Where windows
overlap blocks stay long: 384 to 384 channels, 1500 pixels of one dimension with a stride of 2, move 1.38
million lines instead of .88, where the best peer moves 2.53, for .65 % fewer cycles of N1.

**Small convolutions by Winograd.** Weights and inputs of all points are more than L1 has where a direct
convolution's stay: some thousand lines between L1 and L2, of the files tails and 3x3. They have a third
of the products. Shorter strips have fewer lines and lower blocks: 16 to 16 channels at 112 would move 223
thousand lines instead of 267 in strips of seven tiles, for 2.7 % more modelled cycles of N1, and 185 in
strips of four, for 6 %; 16 to 12 at 14 in strips of four 1.4 thousand instead of 3.4, for 10 %.

**Depthwise convolutions** of 72 channels at 56: each row of the image begins four places of L1 before the
row above (252 lines apart, of 256 places), and two rows of dst need four of source, which fill these places.
Up to a third of all lines would come again, by where dst begins; so they are done a row at a time, for 5 %
more modelled cycles of N1, two for a line that stays. With stride 2, where five rows are needed, a fifth comes
again: single rows would take a tenth more cycles, a fifth on cores with more multipliers. Kernels of 5x5 have
five rows there for one of dst. With 512 channels, only 32 pixels stay, less than a tile of two rows needs for
seven columns, whose other half of a line comes after it: with stride 2, halves of lines take turns every
four columns of source, which moves 11.4 thousand lines instead of 19.2, for 14 % more cycles of N1 (0.6 for a
line), and with 256 channels 22 instead of 33 for 2 %, where a row that two tiles need still comes twice.
With stride 1, taps of weights, as far apart as pixels, take nine more of these places for each tile:
weights are copied so that taps of some channels lie together, and tiles have one row. By where dst begins
that moves 28 thousand lines instead of 52, or 21 instead of 23, for 6 % more cycles of N1. Of 58 or 116
channels, those beyond a multiple of eight are done after all rows of the others, and a third of all lines
comes once more. With rate 2 the pixels of 1536 channels that a part of an image of 33 has fall on half of the
places of L2: four rows of each part come at a time, 408 thousand lines from behind L2 instead of 636, for 6 %
more cycles of N1, half a cycle for a line. With kernels of 7x7, too, one program moves 9.8 or 49 thousand
lines with 768 channels at 7, 47 or 70 with 192 at 28, by where arrays begin: one count of such a row says
little about a change.

**Outer products**, and other products in place, take turns at as many rows as stay in L1 where all weights
do; where these are larger, rows come again for each strip of columns, as in 384 → 64 at 14.

**Products of few rows**, done in place, take turns at parts of k where rows of A do not stay in L1 beside the
panels of a strip: all strips with one part, then with the next, whose sums go on from what is in C. 4x1024 by
1024 columns moves 67.5 thousand lines so instead of 78, for .9 % more modelled cycles of N1. Rows that are a
power of two apart take as much of the cache as lies between them, and drive each other out of it where these are
more than its ways: of 6x4096 by 512 each line came four times for every strip. A part of such rows is copied,
side by side, if the core reorders: 136 thousand lines instead of 397, for 1.3 % more cycles, 5x2048 by 2048 272
instead of 378, 7x2048 280 instead of 425. Of 16x4096 by 16 columns that would be a tenth of the cycles: it is
three tiles, each of which reads all of B, and A's rows are six on four ways.

**Large products.** Blocks are those of the fewest lines, of which one behind L2 counts as nine between L1
and L2. 128x2048 by 2048 columns moves nearly twice the bound: rows of C, 8 KiB apart, have too few places
for a part of C to stay while all of k is added, and all of C goes and comes for each of six blocks of k.

**Arrays that are little more than L2.** What is used once in a call comes back after all of the others, in
whatever order a call goes through them, so a place of the cache with more lines than ways keeps none of them.
The 17320 lines of 16 → 72 channels at 56, one after the other, put nine on 936 of the 2048 places of eight:
8424 lines come and 6860 go, and 15 thousand are moved, 34 if any line could be anywhere. OpenBLAS has 7.6,
and 5.6, because it sets dst to zero before it adds to it: what is used twice in a call stays, for 44 thousand
lines between L1 and L2 instead of 31.6. Which places have one line too many is also a matter of where arrays
begin: of 64 → 24 at 56 OpenBLAS moves 6.7 thousand lines after one problem and 26.6 after another, Neoprene 12.2
and 10.9.
"""


# ---- bounds ----

def lines_in(values):
    return values / LINE


def arrays(problem):
    """Values of source, weights and destination."""
    if problem.kind == 'matmul':
        return (prod(problem.src_batch) * problem.m * problem.k,
                prod(problem.weights_batch) * problem.k * problem.n,
                problem.batch * problem.m * problem.n)
    return (problem.mb * problem.ic * prod(problem.size),
            problem.oc * problem.ic // problem.groups * prod(problem.kernel),
            problem.mb * problem.oc * prod(problem.out))


def compulsory(problem, cache):
    """Lines of arrays that do not stay in the cache from call to call: all of them in, dst out."""
    src, weights, dst = arrays(problem)
    stays = problem.macs < WARM_UP_LIMIT and src + weights + dst <= cache
    return 0 if stays else lines_in(src + weights + 2 * dst)


def reuse(problem):
    """Outputs of one channel that a value of the source has a part in."""
    if problem.kind == 'matmul':
        return 1
    return max(prod(problem.kernel) / prod(problem.stride), 1)


def blocking(problem, cache):
    parts = problem.batch if problem.kind == 'matmul' else problem.groups
    each = 2 * problem.macs / parts / sqrt(reuse(problem) * cache) - 2 * cache
    return lines_in(parts * max(each, 0))


def bound(problem, level):
    return max(compulsory(problem, CACHE[level]), blocking(problem, CACHE[level]))


# ---- rows ----

@dataclass
class Row:
    """moved: lines by library and level; a library that refuses is missing. direct: our lines with
    Winograd forbidden, where a peer moves fewer than what we choose. Where one moves fewer in either
    case, both, and those of such peers, are medians of several placements of the arrays."""
    problem: object
    moved: dict
    direct: dict = None

    def best_peer(self, level):
        peers = {name: lines[level] for name, lines in self.moved.items() if name != OURS}
        return min(peers.items(), key=lambda item: item[1], default=(None, 0))

    def over_bound(self, level):
        """None: the bound is too small to be compared with."""
        least = bound(self.problem, level)
        return self.moved[OURS][level] / least if least >= LARGE else None

    def over_peer(self, level):
        name, lines = self.best_peer(level)
        return self.moved[OURS][level] / max(lines, 1) if name else None

    def ours(self, direct=False):
        return self.direct if direct and self.direct else self.moved[OURS]

    def is_behind(self, level, direct=False):
        name, lines = self.best_peer(level)
        return name is not None and self.ours(direct)[level] > max(lines * TOLERANCE, lines + LARGE)

    def cells(self):
        cells = [f"{self.problem.name.split(':')[-1]} `{self.problem.text}`"]
        for level in LEVELS:
            name, lines = self.best_peer(level)
            least = bound(self.problem, level)
            cells += [thousands(least) if least >= LARGE else '–',
                      thousands(self.moved[OURS][level]), ratio(self.over_bound(level)),
                      f'{thousands(lines)} {report.NAMES[name]}' if name else '–',
                      ratio(self.over_peer(level) if max(lines, self.moved[OURS][level]) >= FEW
                            else None)]
        return cells


def thousands(lines):
    return f'{lines / 1000:.3g}' if lines < 1e6 else f'{lines / 1000:.0f}'


def ratio(value):
    return '–' if value is None else f'{value:.2f}' if value < 100 else f'{value:.0f}'


def moved_by(measurer, library, problems, layout):
    """Lines by level, or None where the library refuses, one for each problem."""
    guest = CORES[measurer.core_names[0]].guest
    texts = [problem.line(layout) for problem in problems]
    return [None if 'refused' in result else
            {level: result['counts'][level + '_fills'] + result['counts'][level + '_writebacks']
             for level in LEVELS}
            for result in measurer.count(library, guest, texts, plugin='cachesim')]


def count(measurer, libraries, problems, layout, known=()):
    """known: recorded lines of peers, by problem, library and level; those libraries are not counted."""
    rows = [Row(problem, dict(known[problem.text]) if problem.text in known else {}) for problem in problems]
    for library in libraries:
        for row, lines in zip(rows, moved_by(measurer, library, problems, layout)):
            if lines:
                row.moved[library] = lines
    rows = [row for row in rows if OURS in row.moved]
    count_direct(measurer, [row for row in rows if any(map(row.is_behind, LEVELS))
                            and row.problem.kind == 'conv'], layout)
    for row in rows:
        count_placements(measurer, row, layout)
    return rows


def direct_moved_by(measurer, problems, layout):
    with asking('PERF_DIRECT', 1):
        return moved_by(measurer, OURS, problems, layout)


def count_direct(measurer, rows, layout):
    for row, lines in zip(rows, direct_moved_by(measurer, [row.problem for row in rows], layout)):
        row.direct = lines


def count_placements(measurer, row, layout):
    """Medians, where we are behind by more than Winograd: one placement of arrays may be luck."""
    behind = [level for level in LEVELS if row.is_behind(level, direct=True)]
    if not behind:
        return
    ahead = [name for name, lines in row.moved.items()
             if any(lines[level] < row.ours(direct=True)[level] for level in behind)]
    placed = {name: at_placements(row.moved[name], lambda name=name: moved_by(
        measurer, name, [row.problem], layout)) for name in (OURS, *ahead)}
    if row.direct:
        row.direct = at_placements(row.direct, lambda: direct_moved_by(measurer, [row.problem], layout))
    row.moved.update(placed)


def at_placements(first, counted):
    """The median of what was moved first and of what `counted` says at other placements: a call, and
    so a process, each."""
    each = [first]
    for placement in PLACEMENTS:
        with asking('PERF_PLACEMENT', placement):
            each += counted()
    return {level: median(lines[level] for lines in each) for level in LEVELS}


# ---- document ----

CELL = re.compile(r'([0-9.e+]+) (\S+)')


def recorded(path, libraries):
    """The fewest lines of a peer at each level, as the tables of a document have them, in three digits: {problem: {peer:
    {level: lines}}}. The other level of a peer is infinite: nothing is known of it."""
    names = {report.NAMES[name]: name for name in libraries}
    known = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            cells = line.strip().strip('|').split(' | ')
            if len(cells) != len(HEADER) or '`' not in cells[0]:
                continue
            peers = known.setdefault(cells[0].split('`')[1], {})
            for level, column in zip(LEVELS, (4, 9)):
                found = CELL.fullmatch(cells[column])
                if found and found.group(2) in names:
                    peer = peers.setdefault(names[found.group(2)], dict.fromkeys(LEVELS, inf))
                    peer[level] = 1000 * float(found.group(1))
    return known


def table(title, rows):
    return f'## {title}\n\n' + report.markdown_table([HEADER, *(row.cells() for row in rows)])


def named(rows, text, key, most=None):
    """The end of a sentence: the rows, or the most of them, the largest first, and a full stop."""
    listed = [f'{row.problem.name} {text(row)}' for row in sorted(rows, key=key, reverse=True)]
    more = [f'{len(listed) - most} more'] if most and len(listed) > most else []
    return ': ' * bool(rows) + ', '.join(listed[:most] + more) + '.'


def against_bound(level, rows):
    large = [row for row in rows if row.over_bound(level)]
    over = [row for row in large if row.over_bound(level) > GOAL]
    mean = report.geometric_mean(row.over_bound(level) for row in large)
    rest = named(over, lambda row: f'{row.over_bound(level):.1f}', lambda row: row.over_bound(level), NAMED)
    return (f'**{level.upper()}, bound**: more than {GOAL} times of it on {len(over)} of {len(large)} rows '
            f'with a bound of {LARGE} lines or more; the geometric mean is {mean:.2f}{rest}\n')


def beside_peers(level, rows, direct=False):
    """Those rows that are behind, and a text that names them."""
    def ours(row):
        return row.ours(direct)[level]

    def theirs(row):
        return row.best_peer(level)[1]
    behind = [row for row in rows if row.is_behind(level, direct)]
    return behind, named(behind, lambda row: f'{thousands(ours(row))}/{thousands(theirs(row))}',
                         lambda row: ours(row) - theirs(row))


def against_peers(level, rows):
    compared = [row for row in rows if row.best_peer(level)[0]]
    behind, text = beside_peers(level, compared)
    direct, direct_text = beside_peers(level, behind, direct=True)
    return (f'**{level.upper()}, peers**: more lines than the best of them, by {TOLERANCE - 1:.0%} and {LARGE} '
            f'lines at least, on {len(behind)} of {len(compared)} rows (ours/theirs, in thousands){text}\n\n'
            f'With `NEO_CONVOLUTION_DIRECT`, which forbids Winograd, on {len(direct)} of these{direct_text}\n')


def summary(rows):
    rows = list({row.problem.text: row for row in rows}.values())
    return '## Summary\n\n' + '\n'.join(part(level, rows) for level in reversed(LEVELS)
                                        for part in (against_peers, against_bound))


def publish(measurer, libraries, files, out, are_recorded=False):
    """files: (operation, file, layout) each. are_recorded: peers' lines are those that `out` has now."""
    if OURS not in libraries:
        raise MeasureError(f'there is no driver of {OURS}')
    if are_recorded and not out:
        raise MeasureError('recorded lines are those of a document: OUT= says which')
    known = recorded(out, libraries) if are_recorded else {}
    counted = libraries[:1] if are_recorded else libraries
    rows, tables = [], []
    for operation, file, layout in files:
        measurer.what = file
        problems = [p for p in shapes.read_file(operation, file) if p.macs <= MOST]
        some = count(measurer, counted, problems, layout, known)
        rows += some
        tables.append(table(f'{operation} {file}', some))
        print(tables[-1], flush=True)
    print(summary(rows))
    if out:
        introduction = INTRODUCTION.format(out=out, peers=','.join(libraries[1:]), large=LARGE,
                                           commit=report.commit(), recorded=RECORDED * are_recorded)
        with open(out, 'w', encoding='utf-8') as file:
            file.write('\n'.join((introduction, summary(rows), *tables)))
    return 0
