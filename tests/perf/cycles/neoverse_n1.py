"""A machine for gem5 (system call emulation) whose core has the widths, latencies and caches that Arm
documents for Neoverse N1, at 2.5 GHz.

    gem5.fast neoverse_n1.py --memory board|server|loaded --input FILE [--set NAME=VALUE]... PROGRAM...

The program runs on a core without a pipeline, which fills the caches, until it executes the
pseudo-instruction 0xff520110; from there on it runs cycle by cycle. It reads the time of the machine
with clock_gettime(). The three memories are those that docs/measuring.md describes.
"""
import argparse

import m5
from m5 import objects as parts

CLOCK = '2.5GHz'
# What instructions of the vector unit take, by gem5's classes; those that are not named take two.
VECTOR_CYCLES = {
    'SimdConfig': 1, 'SimdCvt': 3, 'SimdFloatCvt': 3, 'SimdFloatMult': 3, 'FloatCvt': 3, 'FloatMult': 3,
    'SimdMult': 4, 'SimdMultAcc': 4, 'SimdShiftAcc': 4, 'SimdFloatMultAcc': 4, 'FloatMultAcc': 4,
    'SimdReduceAdd': 4, 'SimdReduceAlu': 4, 'SimdReduceCmp': 4, 'SimdFloatReduceAdd': 4,
    'SimdFloatReduceCmp': 4, 'SimdDotProd': 4, 'SimdMatMultAcc': 4, 'SimdFloatMatMultAcc': 4,
    'FloatDiv': 10, 'FloatSqrt': 10, 'SimdDiv': 10, 'SimdSqrt': 10, 'SimdFloatDiv': 10,
    'SimdFloatSqrt': 10,
}


def is_load(name):
    return name.endswith(('Load', 'MemRead')) and 'Prefetch' not in name


def is_store(name):
    return name.endswith(('Store', 'MemWrite'))


def is_vector(name):
    return name.startswith(('Simd', 'Float')) and not is_load(name) and not is_store(name)


def unit(count, cycles):
    """So many units, each with a pipeline for these classes of instructions."""
    classes = [parts.OpDesc(opClass=name, opLat=latency) for name, latency in cycles.items()
               if name in parts.OpClass.vals]
    return parts.FUDesc(opList=classes, count=count)


def units():
    names = parts.OpClass.vals
    divider = parts.FUDesc(count=1, opList=[
        parts.OpDesc(opClass='IntMult', opLat=2), parts.OpDesc(opClass='IprAccess', opLat=3),
        parts.OpDesc(opClass='IntDiv', opLat=9, pipelined=False)])
    return parts.FUPool(FUList=[
        unit(3, {'IntAlu': 1}), divider,
        unit(2, {name: VECTOR_CYCLES.get(name, 2) for name in names if is_vector(name)}),
        unit(2, {name: 1 for name in names if is_load(name)}),
        unit(1, {name: 1 for name in names if is_store(name)})])


def pipeline():
    eight = {f'{stage}Width': 8 for stage in ('rename', 'dispatch', 'issue', 'wb', 'commit', 'squash')}
    return parts.ArmO3CPU(
        switched_out=True, cpu_id=0, fuPool=units(), fetchWidth=4, decodeWidth=4, fetchBufferSize=64,
        fetchQueueSize=32, numROBEntries=128, numIQEntries=120, LQEntries=68, SQEntries=72,
        numPhysIntRegs=192, numPhysFloatRegs=192, numPhysVecRegs=192, **eight)


def cache(size, ways, cycles, in_flight, prefetcher=m5.params.NULL):
    tag, data, response = cycles
    return parts.Cache(size=size, assoc=ways, tag_latency=tag, data_latency=data, tgts_per_mshr=12,
                       response_latency=response, mshrs=in_flight, prefetcher=prefetcher)


def memory(kind, where):
    """With the prefetcher of the L2 cache, which has to look further ahead where memory is further."""
    if kind == 'board':
        return parts.MemCtrl(dram=parts.DDR4_2400_8x8(range=where)), parts.StridePrefetcher(degree=8)
    latency, bandwidth = {'server': ('80ns', '60GB/s'), 'loaded': ('120ns', '3.2GB/s')}[kind]
    ahead = parts.StridePrefetcher(degree=4, distance=32, queue_size=64,
                                   max_prefetch_requests_with_pending_translation=64)
    return parts.SimpleMemory(range=where, latency=latency, bandwidth=bandwidth), ahead


def machine(args):
    system = parts.System(mem_mode='atomic', mem_ranges=[parts.AddrRange('4GB')])
    system.clk_domain = parts.SrcClockDomain(clock=CLOCK, voltage_domain=parts.VoltageDomain())
    system.simple, system.exact = parts.ArmAtomicSimpleCPU(), pipeline()
    core = system.simple
    core.createInterruptController()
    system.memory, ahead = memory(args.memory, system.mem_ranges[0])
    system.to_l2, system.to_l3, system.to_memory = parts.L2XBar(), parts.L2XBar(), parts.SystemXBar()
    core.icache = cache('64kB', 4, (1, 1, 1), 8)
    core.dcache = cache('64kB', 4, (1, 2, 1), 20, parts.StridePrefetcher(degree=4))
    system.l2, system.l3 = cache('1MB', 8, (5, 6, 2), 46, ahead), cache('8MB', 16, (15, 20, 5), 64)
    core.icache.cpu_side, core.dcache.cpu_side = core.icache_port, core.dcache_port
    core.icache.mem_side = core.dcache.mem_side = system.to_l2.cpu_side_ports
    core.mmu.connectWalkerPorts(system.to_l2.cpu_side_ports, system.to_l2.cpu_side_ports)
    system.l2.cpu_side, system.l2.mem_side = system.to_l2.mem_side_ports, system.to_l3.cpu_side_ports
    system.l3.cpu_side, system.l3.mem_side = system.to_l3.mem_side_ports, system.to_memory.cpu_side_ports
    system.system_port = system.to_memory.cpu_side_ports
    system.memory.port = system.to_memory.mem_side_ports
    system.workload = parts.SEWorkload.init_compatible(args.program[0])
    core.workload = system.exact.workload = parts.Process(
        cmd=args.program, env=args.set, input=args.input, output='cout')
    core.createThreads()
    system.exact.clk_domain, system.exact.isa = core.clk_domain, core.isa
    system.exact.createThreads()
    return system


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--memory', choices=('board', 'server', 'loaded'), default='board')
    parser.add_argument('--input', required=True)
    parser.add_argument('--set', action='append', default=[])
    parser.add_argument('program', nargs=argparse.REMAINDER)
    system = machine(parser.parse_args())
    parts.Root(full_system=False, system=system)
    m5.instantiate()
    event = m5.simulate()
    if event.getCause() == 'switchcpu':
        m5.switchCpus(system, [(system.simple, system.exact)])
        m5.simulate()


main()
