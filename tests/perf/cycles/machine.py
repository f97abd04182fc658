"""A machine for gem5 (system call emulation): a core, caches, and one of three memories.

    gem5.fast CORE.py --memory board|server|loaded --input FILE [--set NAME=VALUE]... PROGRAM...

The program runs on a core without a pipeline, which fills the caches, until it executes the
pseudo-instruction 0xff520110; from there on it runs cycle by cycle. It reads the time of the machine
with clock_gettime(). The three memories are those that docs/measuring.md describes.
"""
import argparse
import sys
from collections import namedtuple

import m5
from m5 import objects as parts

# cycles: of tag, data, response; in_flight: lines that are waited for.
Level = namedtuple('Level', 'size ways cycles in_flight')
Core = namedtuple('Core', 'clock pipeline instructions l1 l2 l3')

LOAD_CLASSES = [name for name in parts.OpClass.vals
                if name.endswith(('Load', 'MemRead')) and 'Prefetch' not in name]
STORE_CLASSES = [name for name in parts.OpClass.vals if name.endswith(('Store', 'MemWrite'))]
VECTOR_CLASSES = [name for name in parts.OpClass.vals
                  if name.startswith(('Simd', 'Float')) and name not in LOAD_CLASSES + STORE_CLASSES]


def cache(level, prefetcher=m5.params.NULL):
    tag, data, response = level.cycles
    return parts.Cache(size=level.size, assoc=level.ways, tag_latency=tag, data_latency=data,
                       tgts_per_mshr=12, response_latency=response, mshrs=level.in_flight,
                       prefetcher=prefetcher)


def memory(kind, where):
    """With the prefetcher of the L2 cache, which has to look further ahead where memory is further."""
    if kind == 'board':
        return parts.MemCtrl(dram=parts.DDR4_2400_8x8(range=where)), parts.StridePrefetcher(degree=8)
    latency, bandwidth = {'server': ('80ns', '60GB/s'), 'loaded': ('120ns', '3.2GB/s')}[kind]
    ahead = parts.StridePrefetcher(degree=4, distance=32, queue_size=64,
                                   max_prefetch_requests_with_pending_translation=64)
    return parts.SimpleMemory(range=where, latency=latency, bandwidth=bandwidth), ahead


def machine(core, args):
    system = parts.System(mem_mode='atomic', mem_ranges=[parts.AddrRange('4GB')])
    system.clk_domain = parts.SrcClockDomain(clock=core.clock, voltage_domain=parts.VoltageDomain())
    system.simple, system.exact = parts.ArmAtomicSimpleCPU(), core.pipeline()
    simple = system.simple
    simple.createInterruptController()
    system.memory, ahead = memory(args.memory, system.mem_ranges[0])
    system.to_l2, system.to_l3, system.to_memory = parts.L2XBar(), parts.L2XBar(), parts.SystemXBar()
    simple.icache, simple.dcache = cache(core.instructions), cache(core.l1, parts.StridePrefetcher(degree=4))
    system.l2, system.l3 = cache(core.l2, ahead), cache(core.l3)
    simple.icache.cpu_side, simple.dcache.cpu_side = simple.icache_port, simple.dcache_port
    simple.icache.mem_side = simple.dcache.mem_side = system.to_l2.cpu_side_ports
    simple.mmu.connectWalkerPorts(system.to_l2.cpu_side_ports, system.to_l2.cpu_side_ports)
    system.l2.cpu_side, system.l2.mem_side = system.to_l2.mem_side_ports, system.to_l3.cpu_side_ports
    system.l3.cpu_side, system.l3.mem_side = system.to_l3.mem_side_ports, system.to_memory.cpu_side_ports
    system.system_port = system.to_memory.cpu_side_ports
    system.memory.port = system.to_memory.mem_side_ports
    system.workload = parts.SEWorkload.init_compatible(args.program[0])
    simple.workload = system.exact.workload = parts.Process(
        cmd=args.program, env=args.set, input=args.input, output='cout')
    simple.createThreads()
    system.exact.clk_domain, system.exact.isa = simple.clk_domain, simple.isa
    system.exact.createThreads()
    return system


def main(core):
    parser = argparse.ArgumentParser()
    parser.add_argument('--memory', choices=('board', 'server', 'loaded'), default='board')
    parser.add_argument('--input', default='/dev/null')
    parser.add_argument('--set', action='append', default=[])
    parser.add_argument('program', nargs=argparse.REMAINDER)
    system = machine(core, parser.parse_args())
    parts.Root(full_system=False, system=system)
    m5.instantiate()
    event = m5.simulate()
    if event.getCause() == 'switchcpu':
        m5.switchCpus(system, [(system.simple, system.exact)])
        event = m5.simulate()
    sys.exit(event.getCode())
