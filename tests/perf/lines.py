"""Cache lines that whole calls move, ours and peers', beside what no program can avoid: `make
perf-lines`, which writes a document, too. What is counted is kept, as all counts are. Why more is moved than
seems necessary is in docs/limits.md."""
import os
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
PEERS_FILE = os.path.join('tests', 'perf', 'peers', 'lines.txt')
PLACEMENTS = (1, 2, 3, 4)  # more of them, for rows that are behind: with the first, the median is one's
RECORDED = '; peers\' counts are those of an earlier time, in three digits'
HEADER = ('problem', 'L1 bound', 'L1', '× bound', 'peers', '× best', 'L2 bound', 'L2', '× bound', 'peers',
          '× best')
INTRODUCTION = """# Cache lines

Made by `make perf-lines FILES=all PEERS={peers}`, at commit {commit}{recorded}.
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

def fewest(row):
    """A line of the file of what peers move: at each level the peer that moves the fewest lines."""
    cells = [(level, *row.best_peer(level)) for level in LEVELS]
    return f'{row.problem.text} = ' + ' '.join(f'{level} {peer} {lines:.0f}' for level, peer, lines in cells if peer)


def recorded(libraries, path=PEERS_FILE):
    """What fewest() wrote: {problem: {peer: {level: lines}}}. The other level of a peer is infinite: nothing is known
    of it."""
    known = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            problem, _, text = line.strip().partition(' = ')
            peers = known.setdefault(problem, {})
            for level, name, lines in zip(*[iter(text.split())] * 3):
                if name in libraries:
                    peers.setdefault(name, dict.fromkeys(LEVELS, inf))[level] = float(lines)
    return known


def record(rows, path=PEERS_FILE):
    """Puts rows into the file; its others stay."""
    with open(path, encoding='utf-8') as file:
        texts = {line.partition(' = ')[0]: line.rstrip() for line in file}
    texts.update((row.problem.text, fewest(row)) for row in rows if any(row.best_peer(level)[0] for level in LEVELS))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join(f'{texts[problem]}\n' for problem in sorted(texts)))


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
    """files: (operation, file, layout) each. are_recorded: peers' lines are those of the file; else it gets them."""
    if OURS not in libraries:
        raise MeasureError(f'there is no driver of {OURS}')
    known = recorded(libraries) if are_recorded else {}
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
    if not are_recorded and len(libraries) > 1:
        record(rows)
    introduction = INTRODUCTION.format(peers=','.join(libraries[1:]), large=LARGE, commit=report.commit(),
                                       recorded=RECORDED * are_recorded)
    report.write(out, '\n'.join((introduction, summary(rows), *tables)))
    return 0
