"""The cores that blocks are costed for, and the cost of a block on each."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256

import inorder
import ports

ANALYSER = 'llvm-mca-19'
ATTRIBUTES = '+fp-armv8,+neon,+fullfp16,+dotprod,+i8mm,+bf16,+fp16fml,+lse,+crc,+sve,+sve2'
SHORT, LONG = 100, 300  # repetitions: their difference is the steady state
# Of the models here; a change makes their cached costs worthless.
VERSIONS = {'llvm-mca': '1', 'in-order': '1', 'ports': '2'}


@dataclass(frozen=True)
class Core:
    """peak: 128-bit f32 multiply-accumulates a cycle. width: instructions a cycle of the front end,
    which llvm-mca's models of these cores set too high. guest: a row of emulator.GUESTS, since
    libraries choose kernels by the core."""
    name: str
    model: str
    peak: int
    guest: str
    width: int = 0
    key: str = ''


CORES = {core.name: core for core in (
    Core('N1', 'llvm-mca', 2, 'neoverse-n1', 4, 'neoverse-n1'),
    Core('N2', 'llvm-mca', 2, 'neoverse-n2', 5, 'neoverse-n2'),
    Core('V1', 'llvm-mca', 4, 'neoverse-v1', 8, 'neoverse-v1'),
    Core('V2', 'llvm-mca', 4, 'neoverse-v2', 8, 'neoverse-v2'),
    Core('M1', 'ports', 4, 'm1-firestorm', key='m1'),
    Core('A510', 'llvm-mca', 2, 'cortex-a510', 3, 'cortex-a510'),
    Core('A55', 'in-order', 1, 'cortex-a55', key='a55'),
    Core('A53', 'in-order', 1, 'cortex-a53', key='a53'),
)}
DEFAULT_CORES = ('N1', 'V2', 'M1', 'A55')


class Costs:
    """Cycles of a block on a core, computed once and kept in a file."""

    def __init__(self, path):
        self.path, self.dirty = path, False
        self.known = self.kept()

    def kept(self):
        if not os.path.exists(self.path):
            return {}
        with open(self.path, encoding='utf-8') as file:
            return json.load(file)

    @staticmethod
    def key(core, text):
        return sha256(f'{VERSIONS[core.model]} {core} {text}'.encode()).hexdigest()[:24]

    def learn(self, core, texts):
        new = sorted({text for text in texts if self.key(core, text) not in self.known})
        if not new:
            return
        for text, cycles in zip(new, MODELS[core.model](core, new)):
            self.known[self.key(core, text)] = cycles
        self.dirty = True

    def of(self, core, text):
        return self.known[self.key(core, text)]

    def save(self):
        """Another run beside this one may have written meanwhile: what it learned stays."""
        if self.dirty:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.known = {**self.kept(), **self.known}
            new = f'{self.path}.{os.getpid()}'
            with open(new, 'w', encoding='utf-8') as file:
                json.dump(self.known, file)
            os.replace(new, self.path)
            self.dirty = False


# ---- models: (core, [text]) -> [cycles] ----

def analyse(cpu, texts, iterations):
    """Total cycles of `iterations` repetitions of each text."""
    source = '\n'.join(f'# LLVM-MCA-BEGIN b{i}\n{text}\n# LLVM-MCA-END' for i, text in enumerate(texts))
    command = [ANALYSER, '-mtriple=aarch64-linux-gnu', f'-mcpu={cpu}', f'-mattr={ATTRIBUTES}',
               f'-iterations={iterations}', '--json', '-instruction-info=0', '-resource-pressure=0',
               '--skip-unsupported-instructions=any']
    process = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f'{ANALYSER} failed for {cpu}: {process.stderr[:500]}')
    regions = {region['Name']: region['SummaryView']['TotalCycles']
               for region in json.loads(process.stdout)['CodeRegions']}
    # a block of which nothing was understood has no region
    return [regions.get(f'b{i}', 0) for i in range(len(texts))]


def by_analyser(core, texts):
    with ThreadPoolExecutor(2) as pool:
        short, long = pool.map(lambda n: analyse(core.key, texts, n), (SHORT, LONG))
    return [max((b - a) / (LONG - SHORT), (text.count('\n') + 1) / core.width)
            for a, b, text in zip(short, long, texts)]


MODELS = {
    'llvm-mca': by_analyser,
    'in-order': lambda core, texts: [inorder.cycles(text, core.key) for text in texts],
    'ports': lambda core, texts: [ports.cycles(text, core.key) for text in texts],
}
