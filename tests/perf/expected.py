"""Exact instruction counts of telling problems, kept in a file so that a change shows in a diff.

A row: LIBRARY LAYOUT OPERATION DESCRIPTOR INSTRUCTIONS. A '-' stands for a count that nobody has
recorded yet."""
import os
from dataclasses import dataclass, replace

import shapes
from emulator import MeasureError

PATH = os.path.join('tests', 'perf', 'expected_counts.txt')
TOLERANCE = 1  # percent
GUEST = 'neoverse-n1'


@dataclass(frozen=True)
class Row:
    library: str
    layout: str
    operation: str
    descriptor: str
    count: int  # 0: not recorded

    def __str__(self):
        count = str(self.count) if self.count else '-'
        return f'{self.library:<9} {self.layout:<7} {self.operation:<7} {self.descriptor:<60} {count:>12}'


def read(path):
    """The file's lines: a Row, or the text of a comment or an empty line."""
    lines = []
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if not fields or fields[0].startswith('#'):
                lines.append(line.rstrip('\n'))
                continue
            if len(fields) != 5 or not (fields[4] == '-' or fields[4].isdigit()):
                raise MeasureError(f'{path}:{number}: not "library layout operation descriptor count"')
            lines.append(Row(*fields[:4], 0 if fields[4] == '-' else int(fields[4])))
    return lines


def measured(rows, measurer):
    """Row -> instructions; a row that a library refuses is not in it."""
    groups = {}
    for row in rows:
        groups.setdefault((row.library, row.layout), []).append(row)
    counts = {}
    for (library, layout), group in groups.items():
        problems = [shapes.PARSERS[row.operation](row.descriptor) for row in group]
        lines = [problem.line(layout) for problem in problems]
        for row, result in zip(group, measurer.count(library, GUEST, lines)):
            if 'refused' not in result:
                counts[row] = result['counts']['total']
    return counts


def verdict(row, count):
    """('ok' | 'worse' | 'better' | 'refused' | 'new', text)"""
    if count is None:
        return 'refused', 'refused'
    if not row.count:
        return 'new', f'{count} (not recorded)'
    hundredfold, allowed = 100 * (count - row.count), TOLERANCE * row.count
    state = 'worse' if hundredfold > allowed else 'better' if -hundredfold > allowed else 'ok'
    return state, f'{row.count} -> {count} ({hundredfold / row.count:+.2f} %)'


def check(path, measurer):
    """Fails when a row takes over 1 % more instructions than recorded, or is refused."""
    rows = [line for line in read(path) if isinstance(line, Row) and measurer.drivers.has(line.library)]
    counts = measured(rows, measurer)
    states = []
    for row in rows:
        state, text = verdict(row, counts.get(row))
        states.append(state)
        if state != 'ok':
            print(f'{state:<8} {row.library} {row.layout} {row.operation} {row.descriptor}: {text}')
    failed = states.count('worse') + states.count('refused')
    print(f'{len(rows)} instruction counts: {states.count("ok")} as expected, '
          f'{states.count("worse")} worse, {states.count("better")} better, '
          f'{states.count("new")} not recorded, {states.count("refused")} refused')
    if 'better' in states or 'new' in states:
        print('make perf-update records the new counts')
    return 1 if failed else 0


def update(path, measurer, libraries):
    """Writes what is counted now, leaving rows within the tolerance alone: the diff shows only what
    changed."""
    lines = read(path)
    rows = [line for line in lines
            if isinstance(line, Row) and line.library in libraries and measurer.drivers.has(line.library)]
    counts = measured(rows, measurer)
    changed = 0
    for i, line in enumerate(lines):
        if isinstance(line, Row) and line in counts:
            state, text = verdict(line, counts[line])
            if state != 'ok':
                changed += 1
                print(f'{state:<8} {line.library} {line.layout} {line.descriptor}: {text}')
                lines[i] = replace(line, count=counts[line])
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join(f'{line}\n' for line in lines))
    print(f'{changed} of {len(rows)} rows changed in {path}')
    return 0
