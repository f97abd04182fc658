"""Runs drivers under the emulator with a counting plugin, and remembers what was counted."""
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from hashlib import sha256

import blocks
import unpacked

THREADS = ('PERF_THREADS', 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'BLIS_NUM_THREADS',
           'NEOPRENE_NUM_THREADS')
N1 = {'OPENBLAS_CORETYPE': 'NEOVERSEN1'}
A53 = {'OPENBLAS_CORETYPE': 'CORTEXA53'}
# For each core, the emulator's CPU and what tells libraries to choose as they would on hardware, where
# they can ask which core they are on.
GUESTS = {
    'neoverse-n1': ('neoverse-n1', N1),
    **{core: ('neoverse-n1', {**N1, 'NEOPRENE_CPU_CORE': core})
       for core in ('neoverse-n2', 'neoverse-v1', 'neoverse-v2', 'm1-firestorm', 'cortex-a510')},
    'cortex-a53': ('cortex-a53', A53),
    'cortex-a55': ('cortex-a53', {**A53, 'NEOPRENE_CPU_CORE': 'cortex-a55'}),
}
# Those that have instructions for products of bytes and bf16, which the emulator's N1 has not.
TYPED = ('neoverse-n2', 'neoverse-v1', 'neoverse-v2')
# What has those. Not SVE: peers would take vectors of a length that these cores do not have.
NEWEST = 'max,sve=off,sme=off'
# A Cortex-A55 has dot products and sums of f16; the emulator has no such core, so an N1 says that it is one.
LITTLE = 'neoverse-n1,midr=0x412fd050'
OF_TYPES = {**dict.fromkeys(TYPED, NEWEST), 'cortex-a55': LITTLE}
# Whose files a driver sees that runs on them.
MACHINES = {NEWEST: 'neoverse-n2', LITTLE: 'cortex-a55'}
TOOLS = {'qemu-aarch64': 'qemu-user', 'llvm-mc-19': 'llvm-19', 'llvm-mca-19': 'llvm-19'}
PLUGINS = os.path.join('build', 'tools')
FORMAT = '4'  # of the files that results are kept in
SECONDS_KEPT = 30
ERRORS = 'errors'  # the file that a driver's messages go to
# What drivers are asked for by their environment (driver.c, driver_neoprene.c), and the options that say so.
TYPE_OPTIONS = {
    '--types': ('PERF_TYPES', 'of src, weights and dst, as s8:s8:s8'),
    '--group-rows': ('PERF_GROUP', 'weights have a scale for each so many rows (0: all), and src becomes bytes within the call'),
    '--fpmath': ('PERF_FPMATH', 'bf16, f16: products of f32 may be of it'),
    '--accumulation': ('PERF_ACCUMULATION', 'f16: sums of f16 may be of it'),
}
TYPES_ASKED = tuple(variable for variable, _ in TYPE_OPTIONS.values())
DST_SCALE = 'PERF_DST_SCALE'
ASKED = ('PERF_IMPLEMENTATION', 'PERF_DIRECT', 'PERF_PLACEMENT', 'PERF_WITHOUT', 'NEOPRENE_BANDWIDTH', DST_SCALE,
         *TYPES_ASKED)
OURS = ('neoprene', 'cycles_driver')  # how our drivers' names end


def model_of(guest):
    """The emulator's CPU."""
    typed = 'PERF_TYPES' in os.environ or 'PERF_FPMATH' in os.environ
    return OF_TYPES.get(guest, GUESTS[guest][0]) if typed else GUESTS[guest][0]


def environment(threads=1):
    # The models know no memory, so that choices must not either: as if weights were in the caches.
    return {'NEOPRENE_BANDWIDTH': '1000000', **os.environ, **dict.fromkeys(THREADS, str(threads))}


@contextmanager
def asking(name, value):
    """Drivers are asked for something else than the usual."""
    before = os.environ.get(name)
    os.environ[name] = str(value)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def asking_all(variables):
    with ExitStack() as stack:
        for name, value in variables.items():
            stack.enter_context(asking(name, value))
        yield


def add_type_options(parser):
    for option, (_, text) in TYPE_OPTIONS.items():
        parser.add_argument(option, help=text)
    parser.add_argument('--dst-scale', action='store_true', help="dst of bytes has a scale, as peers' has")


def types_asked(args):
    """Variables for drivers, of the options that were given."""
    given = {variable: getattr(args, option[2:].replace('-', '_')) for option, (variable, _) in TYPE_OPTIONS.items()}
    return {name: value for name, value in {**given, DST_SCALE: args.dst_scale and 1 or None}.items()
            if value is not None}


class MeasureError(Exception):
    """What stands between the user and a measurement, as a sentence."""


def require_tools(emulator):
    for tool, package in TOOLS.items():
        name = emulator if tool.startswith('qemu') and emulator else tool
        if not shutil.which(name):
            raise MeasureError(f'{name} is missing: install the Debian package {package} '
                               f'(make packages installs all that is needed)')


def digest_of_files(paths):
    digest = sha256()
    for path in paths:
        with open(path, 'rb') as file:
            digest.update(file.read())
    return digest.hexdigest()


def loaded_libraries(program, root='/'):
    """Shared libraries of AArch64 that a driver names, so that a new version is counted anew."""
    process = subprocess.run(['readelf', '-d', program], capture_output=True, text=True, check=False)
    paths = (unpacked.library_path(root, name) for name in re.findall(r'NEEDED.*\[(.*)\]', process.stdout))
    return [path for path in paths if os.path.exists(path)]


class Emulator:
    """Counts of one (driver, CPU, problem, plugin) are kept in a file each."""

    def __init__(self, emulator, cache, root=''):
        """Peers that were unpacked are in `root`."""
        self.emulator, self.cache, self.root = emulator or 'qemu-aarch64', cache, root
        self.digests = {}

    def root_of(self, driver):
        return '' if driver.endswith(OURS) else self.root

    def digest(self, driver, plugin):
        key = driver, plugin
        if key not in self.digests:
            self.digests[key] = digest_of_files(
                [driver, os.path.join(PLUGINS, plugin + '.so'),
                 *loaded_libraries(driver, self.root_of(driver) or '/')])
        return self.digests[key]

    @staticmethod
    def guest_of(driver, cpu):
        """Peers do not read our variables: guests that differ in nothing else are one for them."""
        if driver.endswith(OURS):
            return cpu

        def seen(guest):
            more = GUESTS[guest][1]
            return model_of(guest), {key: value for key, value in more.items() if not key.startswith('NEO')}
        return next(guest for guest in GUESTS if seen(guest) == seen(cpu))

    def path_of(self, driver, cpu, plugin, options, line):
        asked = [name + os.environ[name] for name in ASKED if name in os.environ]
        asked += [LITTLE] if model_of(cpu) == LITTLE else []
        key = sha256(' '.join((FORMAT, self.digest(driver, plugin), cpu, options, line,
                               *asked)).encode()).hexdigest()
        return os.path.join(self.cache, key[:2], key[2:34] + '.json.gz')

    def count(self, driver, cpu, lines, progress, plugin='icount', options=''):
        """One result a line: {'counts': …, 'threads': [counts, …], 'blocks': [[runs, symbol, words],
        …], 'error': …} or {'refused': why}."""
        cpu = self.guest_of(driver, cpu)
        paths = [self.path_of(driver, cpu, plugin, options, line) for line in lines]
        missing = list(dict.fromkeys(
            (line, path) for line, path in zip(lines, paths) if not os.path.exists(path)))
        if missing:
            self.run(driver, cpu, missing, progress, plugin, options)
        progress(len(lines), len(lines))
        return [load(path) for path in paths]

    def run(self, driver, cpu, missing, progress, plugin, options):
        """Keeps what was counted every half minute, so that an interrupted run goes on from there."""
        done = 0
        while done < len(missing):
            with tempfile.TemporaryDirectory() as folder:
                answers = self.run_some(self.start(driver, cpu, plugin, options, folder), driver,
                                        missing[done:], lambda i, line, first=done:
                                        progress(first + i, len(missing), line), folder)
                keep(missing[done:], answers, folder)
            done += len(answers)

    def run_some(self, process, driver, missing, progress, folder):
        """Answers to the first of them: as many as there was time for."""
        answers, end = [], time.monotonic() + SECONDS_KEPT
        try:
            for i, (line, _) in enumerate(missing):
                if answers and time.monotonic() > end:
                    break
                progress(i, line)
                process.stdin.write(line + '\n')
                process.stdin.flush()
                answers.append(self.answer(process, driver, line, folder))
            process.stdin.close()
            if process.wait():
                raise MeasureError(f'{driver} ended with status {process.returncode}')
        finally:
            process.kill()
        return answers

    def start(self, driver, cpu, plugin, options, folder):
        library = os.path.abspath(os.path.join(PLUGINS, plugin + '.so'))
        arguments = f'{library},out={folder}/counts' + (f',{options}' if options else '')
        if plugin == 'icount':
            arguments += f',blocks={folder}/blocks'
        threads = re.search(r'threads=(\d+)', options)
        variables = {**environment(int(threads.group(1)) if threads else 1),
                     **GUESTS[cpu][1]}
        with open(os.path.join(folder, ERRORS), 'w', encoding='utf-8') as errors:
            return subprocess.Popen([*self.command(driver, model_of(cpu)), '-plugin', arguments, driver],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                    env=variables)

    def command(self, driver, model):
        root = self.root_of(driver)
        machine = ['-L', unpacked.machine(root, MACHINES.get(model, model))] if root else []
        return [self.emulator, '-cpu', model, *machine]

    @staticmethod
    def answer(process, driver, line, folder):
        answer = process.stdout.readline().split(maxsplit=1)
        if not answer or answer[0] not in ('ok', 'refused'):
            raise MeasureError(f"{driver} stopped at the problem '{line}' (exit status {process.wait()})"
                               f'{last_line(os.path.join(folder, ERRORS))}')
        return answer


def last_line(path):
    """What a driver said at last; libraries may say much before, and nothing that matters when all went well."""
    with open(path, encoding='utf-8', errors='replace') as file:
        lines = file.read().split('\n')
    said = [line for line in lines if line.strip()]
    return f': {said[-1]}' if said else ''


def keep(missing, answers, folder):
    counted = iter(read_counts(os.path.join(folder, 'counts')))
    dump = os.path.join(folder, 'blocks')
    dumped = iter(blocks.read_dump(dump) if os.path.exists(dump) else ())
    for (_, path), (state, text) in zip(missing, answers):
        if state == 'refused':
            save(path, {'refused': text.strip()})
            continue
        counts, threads = next(counted)
        result = {'counts': counts, 'threads': threads, 'error': float(text)}
        region = next(dumped, None)
        if region is not None:
            result['blocks'] = [[runs, symbol, list(words)]
                                for runs, symbol, words in blocks.joined(region)]
        save(path, result)


def counts_of(fields):
    return {key: int(value) for key, value in (field.split('=') for field in fields)}


def read_counts(path):
    """(counts, counts of each thread that did something) of each region"""
    regions = []
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            for line in file:
                fields = line.split()
                if fields[0] == 'region':
                    regions.append((counts_of(fields[2:]), []))
                else:
                    regions[-1][1].append(counts_of(fields[2:]))
    return regions


def count_program(arguments):
    """(lines that a program printed, instructions of each of its regions): arguments are PROGRAM [EMULATOR]."""
    program, emulator = arguments[0], (arguments[1:] or ['qemu-aarch64'])[0]
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, 'counts')
        plugin = f"{os.path.abspath(os.path.join(PLUGINS, 'icount.so'))},out={counts}"
        run = subprocess.run([emulator, '-cpu', 'neoverse-n1', '-plugin', plugin, program],
                             capture_output=True, text=True, check=True)
        return run.stdout.splitlines(), [region['total'] for region, _ in read_counts(counts)]


def save(path, result):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = f'{path}.{os.getpid()}'
    with gzip.open(new, 'wt', encoding='utf-8') as file:
        json.dump(result, file)
    os.replace(new, path)


def load(path):
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        return json.load(file)
