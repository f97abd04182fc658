"""Programs of the distribution with its own libdnnl and libblas, and with ours: `make check-clients`.

    clients.py --root ROOT --front FOLDER [--rows NAME,…] [--cycles CORE] [--out FILE] [--document FILE] [--kept]

Each row (tests/compat/client.py) runs once with each, under the emulator with a plugin that counts, where the machine
is no AArch64; what it gave is kept in build/compat/clients by what ran, so that a rerun goes on from there. A way of a
row passes where its values differ by at most 1e-5 of the largest, and where PyTorch refuses it with both. Tables have
the second forward pass: instructions, those in oneDNN and in the BLAS, modelled cycles, allocations, mappings and page
faults. --document puts rows that ran into the table that FILE has; --kept runs nothing."""
import argparse
import array
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from hashlib import sha256

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, 'tests', 'perf'))
import blocks  # noqa: E402
import client  # noqa: E402
from cores import CORES, Costs  # noqa: E402
from emulator import digest_of_files  # noqa: E402
from model import Model  # noqa: E402

CACHE = os.path.join('build', 'compat', 'clients')
PLUGIN = os.path.join('build', 'tools', 'icount.so')
LIMIT = 1e-5
# Their runs are many, and the plugin takes its time of each.
UNCOUNTED = ('onnx', *(row for row in client.ROWS if row.startswith('growth')))
ASKED = ('CLIENT_FORWARDS', 'CLIENT_NODE_TESTS')  # variables by which rows are other ones
SYSTEM, OURS = 'distribution', 'neoprene'
# A library's part of an instruction's address, by the name of its file; what has no file was written at run time.
PARTS = (('libdnnl', 'onednn'), ('libblas', 'blas'), ('libopenblas', 'blas'), ('libblis', 'blas'))
ALLOCATE = ('malloc', 'calloc', 'realloc', 'aligned_alloc', 'memalign', 'posix_memalign')
MAP = ('mmap', 'munmap', 'mremap', 'madvise', 'sbrk')


# ---- running ----

def libraries_of(root):
    return glob.glob(os.path.join(root, 'usr/lib/*-linux-gnu'))[0]


def is_emulated(root):
    return os.path.basename(libraries_of(root)) != platform.machine() + '-linux-gnu'


def asked():
    """Of what client.py was asked for: nothing, if that is the whole of each row."""
    variables = [name + '=' + os.environ[name] for name in ASKED if name in os.environ]
    return '-' + sha256(' '.join(variables).encode()).hexdigest()[:12] if variables else ''


def last_line(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return (file.read().splitlines() or [''])[-1]


def run_with_progress(command, environment, log):
    """Its status. A terminal shows the last line of its log meanwhile."""
    with open(log, 'w', encoding='utf-8') as out, \
            subprocess.Popen(command, env=environment, stdout=out, stderr=out) as process:
        while sys.stdout.isatty():
            try:
                process.wait(timeout=2)
                break
            except subprocess.TimeoutExpired:
                print(f'\r\033[K    {last_line(log)[:110]}', end='', flush=True)
        if sys.stdout.isatty():
            print('\r\033[K', end='', flush=True)
        return process.wait()


class Library:
    """One of the two, and the folder in which its rows are kept."""

    def __init__(self, name, root, front):
        self.name, self.root, self.front = name, root, front
        self.files = sorted(os.path.join(front, name) for name in os.listdir(front)) if front else []

    def folder(self, row):
        made_of = ['client.py', *(os.path.join('rows', name + '.py') for name in client.ROWS[row])]
        digest = digest_of_files([os.path.join(HERE, name) for name in made_of] + self.files)[:12]
        machine = os.path.basename(libraries_of(self.root)).split('-', maxsplit=1)[0]
        return os.path.join(CACHE, f'{row}-{self.name}-{machine}-{digest}{asked()}')

    def environment(self, row, folder):
        variables = {**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
        variables.pop('FRONT', None)
        if self.front:
            variables['FRONT'] = os.path.abspath(self.front)
            if row == 'distributed':
                variables['NEOPRENE_WEIGHTS_CACHE'] = os.path.join(os.path.abspath(folder), 'weights')
            if row == 'training':
                variables['NEOPRENE_ONEDNN_FALLBACK'] = os.path.join(os.path.abspath(libraries_of(self.root)),
                                                                     'libdnnl.so.3.6')
            variables.setdefault('CLIENT_FORWARDS', '1000')
        else:
            variables['CLIENT_FORWARDS'] = '3'  # whether the distribution's library grows is its own affair
        if is_emulated(self.root) and row not in UNCOUNTED:
            variables['CLIENT_MARKS'] = '1'
            variables['PLUGIN'] = (f'{os.path.abspath(PLUGIN)},out={folder}/counts,blocks={folder}/blocks')
        return variables

    def run(self, row):
        """Runs it where it has not been run, and returns its folder."""
        folder = self.folder(row)
        if os.path.exists(os.path.join(folder, 'done')):
            return folder
        new = folder + '.new'
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
        status = run_with_progress(
            [os.path.join(TOP, 'compat', 'run-client.sh'), self.root, 'usr/bin/python3',
             os.path.join(HERE, 'client.py'), row, os.path.abspath(new)],
            self.environment(row, new), os.path.join(new, 'log'))
        if status or not os.path.exists(os.path.join(new, 'done')):
            raise RowError(f'{row} with {self.name} ended with status {status}: see {new}/log')
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)
        return folder


class RowError(Exception):
    """Why a row has no result."""


def ways_of(folder):
    with open(os.path.join(folder, 'ways'), encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file]


# ---- what was computed ----

def values(folder, way):
    result = array.array('f')
    with open(os.path.join(folder, way + '.f32'), 'rb') as file:
        result.frombytes(file.read())
    return result


def compare(row, way, expected, got):
    """(passes, sentence) of two (folder, state, text)."""
    if got[1] == 'wrong':
        return False, f'wrong: {got[2]}'
    if expected[1] == 'wrong':
        return got[1] == 'ran', f'right; the distribution: {expected[2]}' if got[1] == 'ran' else got[2]
    if expected[1] != 'ran' and got[1] == expected[1]:  # not by the libraries, if it is for the same reason
        same = got[2] == expected[2]
        return same, f'{got[1]} with both: {expected[2]}' if same else f'{got[1]}: {got[2]}; before: {expected[2]}'
    if expected[1] == 'refused':
        return False, 'refused with the distribution\'s only'
    if got[1] == 'refused':
        return False, f'refused: {got[2]}'
    if got[1] == 'slow':
        return False, f'took {got[2]}'
    like = way if expected[1] == 'ran' else 'eager'  # of the same network; the distribution's own way took too long
    a, b = values(expected[0], like), values(got[0], way)
    if len(a) != len(b):
        return False, f'{len(b)} values instead of {len(a)}'
    if row == 'onnx':
        return compare_node_tests(a, b)
    error = max(abs(x - y) for x, y in zip(a, b)) / max(abs(x) for x in a)
    note = '' if like == way else f' of eager; the distribution took {expected[2]}'
    return error <= LIMIT, f'{error:.1e}{note}'  # a NaN is not at most anything


def compare_node_tests(a, b):
    lost = sum(1 for x, y in zip(a, b) if x > y)
    return lost == 0, f'{sum(map(int, b))} of {len(b)} pass, {lost} of the distribution\'s {sum(map(int, a))} do not'


# ---- what was counted ----

def symbols_of(path, names):
    text = subprocess.run(['readelf', '--dyn-syms', '-W', path], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) > 7 and fields[7].split('@')[0] in names and fields[6] != 'UND':
            found[int(fields[1], 16)] = fields[7].split('@')[0]
    return found


class Maps:
    """Whose an address is."""

    def __init__(self, text):
        self.ranges = []
        for line in text.splitlines():
            fields = line.split(maxsplit=5)
            first, last = (int(end, 16) for end in fields[0].split('-'))
            self.ranges.append((first, last, int(fields[2], 16), fields[5].strip() if len(fields) > 5 else ''))

    def part(self, address):
        for first, last, _, path in self.ranges:
            if first <= address < last:
                name = os.path.basename(path)
                if not path:
                    return 'onednn'  # functions that it wrote
                return next((part for text, part in PARTS if name.startswith(text)), 'rest')
        return 'rest'

    def entries(self, name, functions):
        """Addresses of functions of a library -> their names."""
        for first, _, offset, path in self.ranges:
            if os.path.basename(path).startswith(name):
                return {first - offset + value: function for value, function in symbols_of(path, functions).items()}
        return {}


def figures_of(region, maps, core, model):
    """One forward pass: instructions by library, calls by function, cycles."""
    maps = Maps(maps)
    entries = maps.entries('libc.so', ALLOCATE + MAP)
    parts, pages, calls, instructions = {}, defaultdict(int), Counter(), Counter()
    for (address, _, words), runs in region.items():
        part = parts.setdefault(address >> 12, maps.part(address))
        instructions[part] += runs * len(words)
        pages[part, words] += runs
        calls[entries.get(address)] += runs
    figures = {'instructions': sum(instructions.values()), 'onednn': instructions['onednn'],
               'blas': instructions['blas'], 'allocations': sum(calls[name] for name in ALLOCATE),
               'mappings': sum(calls[name] for name in MAP)}
    if core:
        counted = [[runs, symbol, list(words)] for runs, symbol, words in blocks.joined(region)]
        figures['cycles'] = model.cycles(CORES[core], [{'blocks': counted}])[0]
    return figures


def counted(folder, core, model):
    """Figures of each way that ran; they are kept, and the blocks are not."""
    kept, dump = os.path.join(folder, 'figures'), os.path.join(folder, 'blocks')
    if os.path.exists(kept):
        with open(kept, encoding='utf-8') as file:
            return json.load(file)
    if not os.path.exists(dump):
        return {}
    with open(os.path.join(folder, 'maps'), encoding='utf-8') as file:
        maps = file.read().strip().split('\n\n')
    ran = [way for way in ways_of(folder) if way[1] == 'ran']
    figures = {}
    for (way, _, faults), region, text in zip(ran, blocks.read_dump(dump), maps):
        figures[way] = {**figures_of(region, text, core, model), 'faults': int(faults)}
    with open(kept, 'w', encoding='utf-8') as file:
        json.dump(figures, file)
    os.remove(dump)
    return figures


# ---- tables ----

COLUMNS = (('instructions', 'instructions', 1e6), ('in oneDNN', 'onednn', 1e6), ('in BLAS', 'blas', 1e6),
           ('cycles', 'cycles', 1e6), ('allocations', 'allocations', 1), ('mappings', 'mappings', 1),
           ('page faults', 'faults', 1))


def pair(theirs, ours, key, unit):
    a, b = theirs.get(key), ours.get(key)
    if a is None or b is None:
        return '–'
    digits = 1 if unit > 1 else 0
    ratio = f' ({a / b:.2f})' if b and unit > 1 and a / unit >= 0.05 else ''
    return f'{a / unit:.{digits}f} → {b / unit:.{digits}f}{ratio}'


def table_row(row, way, text, theirs, ours):
    cells = [row, way, text, *(pair(theirs, ours, key, unit) for _, key, unit in COLUMNS)]
    return '| ' + ' | '.join(cells) + ' |'


def head():
    names = ['row', 'way', 'difference',
             *(f'{name}{", millions" if unit > 1 else ""}' for name, _, unit in COLUMNS)]
    return ['| ' + ' | '.join(names) + ' |', '| --- | --- | --- |' + ' ---: |' * len(COLUMNS)]


class Checker:
    def __init__(self, args):
        front = args.front
        self.libraries = [Library(SYSTEM, args.root, None), Library(OURS, args.root, front)]
        self.core = args.cycles if is_emulated(args.root) and shutil.which('llvm-mca-19') else None
        self.costs = Costs(os.path.join('build', 'perf-cache', 'costs.json'))
        self.model = Model(self.costs)
        self.lines, self.wrong = head(), 0

    def has_run(self, row):
        return all(os.path.exists(os.path.join(library.folder(row), 'done')) for library in self.libraries)

    def check(self, row):
        folders = []
        for library in self.libraries:
            start = time.monotonic()
            known = os.path.exists(os.path.join(library.folder(row), 'done'))
            print(f'  {row} with {library.name}{" is kept" if known else " …"}', flush=True)
            folders.append(library.run(row))
            if not known:
                print(f'  … {time.monotonic() - start:.0f} s', flush=True)
        figures = [counted(folder, self.core, self.model) for folder in folders]
        self.costs.save()
        for expected, got in zip(*(ways_of(folder) for folder in folders), strict=True):
            way = expected[0]
            passes, text = compare(row, way, (folders[0], *expected[1:]), (folders[1], *got[1:]))
            self.wrong += not passes
            print(f'{"PASS" if passes else "FAIL"} {row} {way}: {text}', flush=True)
            self.lines.append(table_row(row, way, text, *(part.get(way, {}) for part in figures)))

    def check_all(self, rows):
        for row in rows:
            try:
                self.check(row)
            except RowError as error:
                self.wrong += 1
                print(f'FAIL {error}', flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--root', required=True, help='unpacked clients')
    parser.add_argument('--front', required=True, help='folder with our libraries and nothing else')
    parser.add_argument('--rows', default='', help='all but those of a thousand passes, where they are emulated')
    parser.add_argument('--cycles', default='N1', help='the core whose cycles are modelled')
    parser.add_argument('--out', help='a file for the table')
    parser.add_argument('--document', help='a file that has such a table: rows that ran take the place of theirs')
    parser.add_argument('--kept', action='store_true', help='only rows that have run')
    args = parser.parse_args(arguments)
    args.rows = [row for row in re.split('[, ]+', args.rows) if row] or \
                [row for row in client.ROWS if not (row.startswith('growth') and is_emulated(args.root))]
    return args


def name_of(line):
    return line.split('|')[1].strip()


def merged(old, new):
    """Lines of rows, in the order of all: the new ones of a row that ran, the old ones of others."""
    ran = {name_of(line) for line in new}
    order = list(client.ROWS)
    return sorted(new + [line for line in old if name_of(line) not in ran and name_of(line) in order],
                  key=lambda line: order.index(name_of(line)))


def put_into(path, lines):
    """Into the table with the same head."""
    with open(path, encoding='utf-8') as file:
        old = file.read().splitlines()
    first = old.index(lines[0])
    last = next((i for i in range(first, len(old)) if not old[i].startswith('|')), len(old))
    heading = len(head())
    table = lines[:heading] + merged(old[first + heading:last], lines[heading:])
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(old[:first] + table + old[last:]) + '\n')


def main():
    args = parse(sys.argv[1:])
    checker = Checker(args)
    checker.check_all([row for row in args.rows if not args.kept or checker.has_run(row)])
    table = '\n'.join(checker.lines) + '\n'
    print(table, end='')
    if args.out:
        with open(args.out, 'w', encoding='utf-8') as file:
            file.write(table)
    if args.document:
        put_into(args.document, checker.lines)
    return checker.wrong > 0


if __name__ == '__main__':
    sys.exit(main())
