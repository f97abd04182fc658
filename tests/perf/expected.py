"""Exact counts of telling problems, kept in files so that a change shows in a diff: instructions, and
lines that the cache model moves.

A row: LIBRARY LAYOUT OPERATION DESCRIPTOR COUNT…. A '-' stands for a count that nobody has recorded
yet."""
import os
from dataclasses import dataclass, replace

import shapes
from emulator import MeasureError
from lines import LEVELS, at_placements

GUEST = 'neoverse-n1'


@dataclass(frozen=True)
class Row:
    library: str
    layout: str
    operation: str
    descriptor: str
    counts: tuple  # None: not recorded

    def __str__(self):
        counts = ''.join(f' {"-" if count is None else count:>12}' for count in self.counts)
        return f'{self.library:<9} {self.layout:<7} {self.operation:<7} {self.descriptor:<60}{counts}'


@dataclass(frozen=True)
class Kind:
    """What one of the files counts. A count may grow by so many percent, and by so much besides."""
    file: str
    what: str        # two words: tests/matrix.sh reads the summary
    columns: tuple   # of a row's counts
    percent: int
    besides: int
    measure: object  # (measurer, library, problems' lines) -> results, each with 'counts' or 'refused'
    counts_of: object  # result's counts -> a count for each column
    placed: bool = False  # counts depend on where arrays begin

    @property
    def path(self):
        return os.path.join('tests', 'perf', self.file)


def count_instructions(measurer, library, texts):
    return measurer.count(library, GUEST, texts)


def count_lines(measurer, library, texts):
    """A process for each: where arrays begin is a matter of what was there before."""
    return [measurer.count(library, GUEST, [text], plugin='cachesim')[0] for text in texts]


def moved(counts):
    return tuple(counts[level + '_fills'] + counts[level + '_writebacks'] for level in ('l1', 'l2'))


INSTRUCTIONS = Kind('expected_counts.txt', 'instruction counts', ('instructions',), 1, 0, count_instructions,
                    lambda counts: (counts['total'],))
# Where arrays begin depends on the length of the environment and the size of the program: that moves
# counts by up to 1.2 %, and what a call has on its stack and in its tables by some lines. Arrays that all
# but fill a cache drive each other out or not, so what differs is judged by medians of several placements.
LINES = Kind('expected_lines.txt', 'line counts', ('L1', 'L2'), 3, 100, count_lines, moved, placed=True)
KINDS = (INSTRUCTIONS, LINES)


def parsed(fields, columns):
    """A Row, or None."""
    counts = fields[4:]
    if len(counts) != columns or not all(text == '-' or text.isdigit() for text in counts):
        return None
    return Row(*fields[:4], tuple(None if text == '-' else int(text) for text in counts))


def read(path, columns=1):
    """The file's lines: a Row, or the text of a comment or an empty line."""
    lines = []
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if not fields or fields[0].startswith('#'):
                lines.append(line.rstrip('\n'))
                continue
            row = parsed(fields, columns)
            if not row:
                raise MeasureError(f'{path}:{number}: not "library layout operation descriptor" and '
                                   f'{columns} of counts')
            lines.append(row)
    return lines


def measured(kind, rows, measurer):
    """Row -> counts; a row that a library refuses is not in it."""
    groups = {}
    for row in rows:
        groups.setdefault((row.library, row.layout), []).append(row)
    counts = {}
    for (library, layout), group in groups.items():
        problems = [shapes.PARSERS[row.operation](row.descriptor) for row in group]
        texts = [problem.line(layout) for problem in problems]
        for row, result in zip(group, kind.measure(measurer, library, texts)):
            if 'refused' not in result:
                counts[row] = kind.counts_of(result['counts'])
    return counts


def verdict_of_one(kind, was, count):
    if was is None:
        return 'new', f'{count} (not recorded)'
    hundredfold, allowed = 100 * (count - was), kind.percent * was + 100 * kind.besides
    state = 'worse' if hundredfold > allowed else 'better' if -hundredfold > allowed else 'ok'
    return state, f'{was} -> {count} ({hundredfold / max(was, 1):+.2f} %)'


def verdict(kind, row, counts):
    """('ok' | 'worse' | 'better' | 'refused' | 'new', text); worse if one of the counts is."""
    if counts is None:
        return 'refused', 'refused'
    each = [verdict_of_one(kind, was, count) for was, count in zip(row.counts, counts)]
    state = next(state for state in ('worse', 'new', 'better', 'ok')
                 if any(state == one for one, _ in each))
    return state, ', '.join(f'{column} {text}' if len(each) > 1 else text
                            for column, (one, text) in zip(kind.columns, each) if one == state)


def settled(kind, row, counts, measurer):
    """A row's counts, or the medians of several placements where one of them would be a surprise."""
    if not kind.placed or counts is None or verdict(kind, row, counts)[0] not in ('worse', 'better'):
        return counts

    def again():
        return [dict(zip(LEVELS, measured(kind, [row], measurer)[row]))]
    return tuple(at_placements(dict(zip(LEVELS, counts)), again).values())


def rows_of(kind, measurer, lines, libraries=None):
    return [line for line in lines if isinstance(line, Row) and measurer.drivers.has(line.library)
            and (libraries is None or line.library in libraries)]


def check(kind, measurer):
    """Fails when a count of a row grew by more than is tolerated, or a row is refused."""
    rows = rows_of(kind, measurer, read(kind.path, len(kind.columns)))
    counts = measured(kind, rows, measurer)
    states = []
    for row in rows:
        state, text = verdict(kind, row, settled(kind, row, counts.get(row), measurer))
        states.append(state)
        if state != 'ok':
            print(f'{state:<8} {row.library} {row.layout} {row.operation} {row.descriptor}: {text}')
    failed = states.count('worse') + states.count('refused')
    print(f'{len(rows)} {kind.what}: {states.count("ok")} as expected, '
          f'{states.count("worse")} worse, {states.count("better")} better, '
          f'{states.count("new")} not recorded, {states.count("refused")} refused')
    if 'better' in states or 'new' in states:
        print('make perf-update records the new counts')
    return 1 if failed else 0


def update(kind, measurer, libraries):
    """Writes what is counted now, leaving rows within the tolerance alone: the diff shows only what
    changed."""
    lines = read(kind.path, len(kind.columns))
    rows = rows_of(kind, measurer, lines, libraries)
    counts = measured(kind, rows, measurer)
    changed = 0
    for i, line in enumerate(lines):
        if isinstance(line, Row) and line in counts:
            found = settled(kind, line, counts[line], measurer)
            state, text = verdict(kind, line, found)
            if state != 'ok':
                changed += 1
                print(f'{state:<8} {line.library} {line.layout} {line.descriptor}: {text}')
                lines[i] = replace(line, counts=found)
    with open(kind.path, 'w', encoding='utf-8') as file:
        file.write(''.join(f'{line}\n' for line in lines))
    print(f'{changed} of {len(rows)} rows changed in {kind.path}')
