"""Cortex-A53 and Cortex-A55 as issue rules: two instructions a cycle, in order.

What limits NEON loops on these cores, from Arm's optimization guides and from the notes that people
who hand-schedule for them have published:
* one 128-bit arithmetic instruction, one memory instruction and one branch a cycle;
* the load path is 64 bits wide: a 128-bit load takes both slots for two cycles, a pair of them for
  four, four registers for eight;
* A55: a 64-bit load into either register file, and the insert of a general register into the upper
  half, issue beside a multiply-accumulate. A53: only the load into a general register does.
Caches hit and branches are predicted: the result is an upper bound (hardware: about 0.75 of it)."""
from dataclasses import dataclass

import isa

WARM_UP, MEASURED = 12, 12  # repetitions of a block


@dataclass(frozen=True)
class Rules:
    never_together: frozenset  # kinds, as sorted pairs
    latency: dict


def rules(latency, extra_pairs):
    arithmetic, memory = ('mac', 'simd'), ('load_vector', 'load_integer', 'store', 'prefetch')
    pairs = {tuple(sorted((a, b))) for group in (arithmetic, memory) for a in group for b in group}
    return Rules(frozenset(pairs | {('branch', 'branch'), ('insert', 'insert')} | extra_pairs),
                 {'mac': 4, 'simd': 3, 'integer': 1, 'branch': 1, 'store': 1, 'prefetch': 1,
                  'load_vector': 3, **latency})


CORES = {
    'a53': rules({'insert': 3, 'load_integer': 3},
                 {('load_vector', 'mac'), ('load_vector', 'simd'), ('insert', 'mac'),
                  ('insert', 'simd')}),
    'a55': rules({'insert': 2, 'load_integer': 2}, set()),
}
FLOAT_SIMD = ('fadd', 'fsub', 'fmax', 'fmin', 'fcvt', 'scvtf', 'ucvtf', 'faddp', 'fmla')
SHORT_MAC = ('sdot', 'udot', 'usdot', 'sudot', 'smlal', 'umlal', 'smull', 'umull', 'mla', 'mls')


def latency_of(operation, core):
    if operation.kind == 'mac' and operation.mnemonic.startswith(SHORT_MAC):
        return 3
    if operation.kind == 'simd':
        return 4 if operation.mnemonic.startswith(FLOAT_SIMD) else 2
    return core.latency[operation.kind]


def is_wide(operation):
    return operation.kind == 'load_vector' and operation.bytes > 8


class Pipeline:
    """`cycle` is the one being filled with `slots`; nothing issues before `blocked_until`."""

    def __init__(self, core):
        self.core = core
        self.cycle, self.slots, self.blocked_until = 0, [], 0
        self.ready = {}  # register -> first cycle in which it can be read

    def fits(self, operation):
        if not self.slots:
            return True
        if len(self.slots) == 2 or is_wide(operation):
            return False
        pair = tuple(sorted((self.slots[0].kind, operation.kind)))
        return pair not in self.core.never_together

    def issue(self, operation):
        needed = operation.reads + operation.based
        earliest = max([self.cycle, self.blocked_until] + [self.ready.get(r, 0) for r in needed])
        if earliest > self.cycle or not self.fits(operation):
            self.cycle = max(earliest, self.cycle + 1 if self.slots else self.cycle)
            self.slots = []
        self.slots.append(operation)
        for register in operation.writes:
            self.ready[register] = self.cycle + latency_of(operation, self.core)
        for register in operation.based:
            self.ready[register] = self.cycle + 1
        if is_wide(operation):
            self.blocked_until = self.cycle + operation.bytes // 8
            self.cycle, self.slots = self.blocked_until, []


def cycles(text, core_name):
    """Cycles that one repetition of a block takes when it follows itself."""
    operations = [isa.parse(line) for line in text.split('\n')]
    pipeline = Pipeline(CORES[core_name])
    start = 0
    for repetition in range(WARM_UP + MEASURED):
        if repetition == WARM_UP:
            start = pipeline.cycle
        for operation in operations:
            pipeline.issue(operation)
    return (pipeline.cycle - start) / MEASURED
