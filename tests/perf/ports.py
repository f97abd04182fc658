"""A wide out-of-order core as a list scheduler: a width, a window, ports and latencies.

The parameters are those that have been measured and published for the performance core of Apple's
M1: eight instructions a cycle, four SIMD pipes with a latency of four for multiply-accumulate and no
forwarding of the accumulator, three loads, two stores, six integer operations; what copies, inserts
or interleaves lanes beside a load or a store takes SIMD pipes, too."""
from collections import defaultdict, deque
from dataclasses import dataclass

import isa

WARM_UP, MEASURED = 8, 16


@dataclass(frozen=True)
class Machine:
    width: int
    window: int
    ports: dict    # class of port -> how many
    latency: dict  # kind -> cycles


MACHINES = {
    'm1': Machine(width=8, window=600,
                  ports={'simd': 4, 'load': 3, 'store': 2, 'integer': 6, 'branch': 2},
                  latency={'mac': 4, 'simd': 2, 'insert': 5, 'integer': 1, 'branch': 1,
                           'load_vector': 5, 'load_integer': 4, 'store': 1, 'prefetch': 1}),
}
PORT = {'mac': 'simd', 'simd': 'simd', 'insert': 'integer', 'integer': 'integer', 'branch': 'branch',
        'load_vector': 'load', 'load_integer': 'load', 'store': 'store', 'prefetch': 'load'}
SLOW_SIMD = ('fadd', 'fsub', 'fmax', 'fmin', 'fcvt', 'scvtf', 'ucvtf', 'faddp', 'addp', 'addv')


def latency_of(operation, machine):
    if operation.kind == 'simd' and operation.mnemonic.startswith(SLOW_SIMD):
        return 3
    return machine.latency[operation.kind]


def port_uses(operation):
    """A port moves 16 bytes at a time."""
    return max(1, -(-operation.bytes // 16))


class Scheduler:
    def __init__(self, machine):
        self.machine = machine
        self.ready = defaultdict(int)                     # register -> cycle
        self.used = {port: defaultdict(int) for port in machine.ports}
        self.in_flight = deque()                          # completion times, in program order
        self.entered, self.entered_at = 0, 0              # instructions that entered in that cycle
        self.retired_at = 0

    def enter(self):
        """The cycle in which the next instruction enters the window."""
        cycle = self.entered_at
        if self.entered == self.machine.width:
            cycle += 1
        if len(self.in_flight) == self.machine.window:
            self.retired_at = max(self.retired_at, self.in_flight.popleft())
            cycle = max(cycle, self.retired_at)
        if cycle > self.entered_at:
            self.entered, self.entered_at = 0, cycle
        self.entered += 1
        return cycle

    def take_port(self, port, cycle):
        used, count = self.used[port], self.machine.ports[port]
        while used[cycle] >= count:
            cycle += 1
        used[cycle] += 1
        return cycle

    def shuffle(self, count, cycle):
        """Operations on vectors beside a load or a store, which are known or wanted at this cycle."""
        for _ in range(count):
            cycle = self.take_port('simd', cycle)
        return cycle + self.machine.latency['simd']

    def issue(self, operation):
        kept = [register for register in operation.reads  # around a lane, after its load
                if operation.shuffles and register in operation.writes]
        needed = [register for register in operation.reads + operation.based if register not in kept]
        cycle = max([self.enter() + 1] + [self.ready[register] for register in needed])
        for _ in range(port_uses(operation)):
            cycle = self.take_port(PORT[operation.kind], cycle)
        done = cycle + latency_of(operation, self.machine)
        if operation.shuffles:
            done = self.shuffle(operation.shuffles,
                                max([done] + [self.ready[register] for register in kept]))
        for register in operation.writes:
            self.ready[register] = done
        for register in operation.based:
            self.ready[register] = cycle + 1
        self.in_flight.append(done)
        return done


def cycles(text, machine_name):
    """Cycles that one repetition of a block takes when it follows itself."""
    operations = [isa.parse(line) for line in text.split('\n')]
    scheduler = Scheduler(MACHINES[machine_name])
    start = end = 0
    for repetition in range(WARM_UP + MEASURED):
        for operation in operations:
            end = max(end, scheduler.issue(operation))
        if repetition == WARM_UP - 1:
            start = end
    return (end - start) / MEASURED
