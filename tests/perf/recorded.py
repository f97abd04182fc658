"""What peers were counted at, kept in files: a table beside four of them then takes minutes, not hours, and needs
none of their packages. `make perf-record` writes the files, `make perf RECORDED=1` reads them.

A row: a problem as the driver reads it, variables that ask for other types, ' = ', and its instructions, executed products, loads and modelled cycles, a '-'
for a core that it was not counted on; or 'refused' and why. Models change: the head of a file names those that its
cycles are of."""
import os
import subprocess
import sys

import emulator
import model
import unpacked
from cores import CORES, DEFAULT_CORES, VERSIONS
from emulator import MeasureError

FOLDER = os.path.join('tests', 'perf', 'peers')
UNPACKED = 'debian-13'  # the folder there of peers that `make peers` unpacks
COLUMNS = ('instructions', 'executed', 'loads', *DEFAULT_CORES)
MODELS = 'models ' + ' '.join(f'{name}:{CORES[name].model}-{VERSIONS[CORES[name].model]}' for name in DEFAULT_CORES)


def names():
    """The libraries that figures are recorded of."""
    return sorted(name[:-len('.txt')] for name in os.listdir(FOLDER) if name.endswith('.txt') and name != 'lines.txt')


def path_of(library, root=''):
    """Of peers that were unpacked into `root`, or of those of Debian 12."""
    return os.path.join(FOLDER, UNPACKED if root else '', library + '.txt')


def packages_of(driver, root=''):
    """The Debian packages, with their versions, of the libraries that a driver loads, less the compiler's and C's."""
    paths = emulator.loaded_libraries(driver, root or '/')
    found = {unpacked.package_of(root, path) if root else installed_package(path) for path in paths} - {''}
    if root and not found:  # the library is a part of the driver
        name = os.path.basename(driver).replace('driver_', 'lib') + '.a'
        found = {unpacked.package_of(root, unpacked.library_path(root, name))}
    return ', '.join(sorted(found))


def installed_package(path):
    owner = asked('dpkg-query', '-S', path).partition(':')[0]
    if not owner or owner.startswith(unpacked.COMMON):
        return ''
    return owner + ' ' + asked('dpkg-query', '-W', '-f', '${Version}', owner + ':arm64')


def asked(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


# ---- rows ----

def text_of(figures):
    if figures.refused:
        return 'refused ' + ' '.join(figures.refused.split())
    counts = figures.instructions, figures.executed, figures.loads
    return ' '.join('-' if value is None else f'{value:.6g}'
                    for value in (*counts, *map(figures.cycles.get, DEFAULT_CORES)))


def figures_of(text, problem):
    if text.startswith('refused '):
        return model.Figures(refused=text.partition(' ')[2])
    counts = text.split()
    instructions, executed, loads = map(float, counts[:3])
    cycles = {core: float(count) for core, count in zip(DEFAULT_CORES, counts[3:]) if count != '-'}
    return model.Figures(vectors=problem.macs / model.MACS_PER_VECTOR, instructions=instructions, executed=executed,
                         loads=loads, cycles=cycles)


# ---- files ----

def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as file:
        return file.read().splitlines()


def read(library, root=''):
    """A problem's line -> its figures' text; nothing if nobody has recorded any."""
    path = path_of(library, root)
    lines = lines_of(path)
    if lines and f'# {MODELS}' not in lines:
        raise MeasureError(f'{path} is of other models than those of cores.py: remove it, and run '
                           'make perf-record')
    return dict(line.split(' = ', 1) for line in lines if not line.startswith('#'))


def write(library, packages, rows, root=''):
    path = path_of(library, root)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    head = f'# {packages}\n# {MODELS}\n# problem = {" ".join(COLUMNS)}\n'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(head + ''.join(f'{line} = {text}\n' for line, text in sorted(rows.items())))


def key_of(problem, layout):
    """What the driver reads, and what it is asked for besides: other types than f32, and how to compute with them."""
    asked = [f'{name}={os.environ[name]}' for name in emulator.TYPES_ASKED if name in os.environ]
    return ' '.join((problem.line(layout), *asked))


def record(measurer, library, problems, layout):
    """Counts problems and puts them into the file. Its other rows stay, and cores that are not counted now, unless the
    packages are others."""
    root = measurer.drivers.root
    packages = packages_of(measurer.drivers.path(library), root)
    rows = read(library, root) if f'# {packages}' in lines_of(path_of(library, root)) else {}
    for problem, figures in zip(problems, measurer.measure(library, problems, layout)):
        line = key_of(problem, layout)
        if line in rows and not figures.refused:
            figures.cycles = {**figures_of(rows[line], problem).cycles, **figures.cycles}
        rows[line] = text_of(figures)
    write(library, packages, rows, root)


def measure(measurer, library, problems, layout):
    """Figures, one for each problem, as Measurer.measure() has them: from the file, or else counted, where the first
    core's are not there."""
    root, first = measurer.drivers.root, measurer.core_names[0]
    rows = read(library, root)
    known = {problem: figures_of(rows[key_of(problem, layout)], problem) for problem in problems
             if key_of(problem, layout) in rows}
    missing = [problem for problem in problems if problem not in known
               or not known[problem].refused and first not in known[problem].cycles]
    if missing:
        counted = measurer.measure if measurer.drivers.has(library) else not_recorded
        known.update(zip(missing, counted(library, missing, layout)))
    return [known[problem] for problem in problems]


def not_recorded(library, problems, layout):
    """A dash in tables, for problems that were written after a peer was counted that is no longer there."""
    print(f'perf: {library} is not installed, and rows are not recorded that begin with {problems[0].name} ({layout}): '
          f'{len(problems)}', file=sys.stderr)
    return [model.Figures(refused='not recorded') for _ in problems]
