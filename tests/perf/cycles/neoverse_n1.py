"""A core that has the widths, latencies and caches that Arm documents for Neoverse N1, at 2.5 GHz."""
import machine
from m5 import objects as parts

# What instructions of the vector unit take, by gem5's classes; those that are not named take two.
VECTOR_CYCLES = {
    'SimdConfig': 1, 'SimdCvt': 3, 'SimdFloatCvt': 3, 'SimdFloatMult': 3, 'FloatCvt': 3, 'FloatMult': 3,
    'SimdMult': 4, 'SimdMultAcc': 4, 'SimdShiftAcc': 4, 'SimdFloatMultAcc': 4, 'FloatMultAcc': 4,
    'SimdReduceAdd': 4, 'SimdReduceAlu': 4, 'SimdReduceCmp': 4, 'SimdFloatReduceAdd': 4,
    'SimdFloatReduceCmp': 4, 'SimdDotProd': 4, 'SimdMatMultAcc': 4, 'SimdFloatMatMultAcc': 4,
    'FloatDiv': 10, 'FloatSqrt': 10, 'SimdDiv': 10, 'SimdSqrt': 10, 'SimdFloatDiv': 10,
    'SimdFloatSqrt': 10,
}


def unit(count, cycles):
    """So many units, each with a pipeline for these classes of instructions."""
    classes = [parts.OpDesc(opClass=name, opLat=latency) for name, latency in cycles.items()]
    return parts.FUDesc(opList=classes, count=count)


def units():
    divider = parts.FUDesc(count=1, opList=[
        parts.OpDesc(opClass='IntMult', opLat=2), parts.OpDesc(opClass='IprAccess', opLat=3),
        parts.OpDesc(opClass='IntDiv', opLat=9, pipelined=False)])
    return parts.FUPool(FUList=[
        unit(3, {'IntAlu': 1}), divider,
        unit(2, {name: VECTOR_CYCLES.get(name, 2) for name in machine.VECTOR_CLASSES}),
        unit(2, {name: 1 for name in machine.LOAD_CLASSES}),
        unit(1, {name: 1 for name in machine.STORE_CLASSES})])


def pipeline():
    eight = {f'{stage}Width': 8 for stage in ('rename', 'dispatch', 'issue', 'wb', 'commit', 'squash')}
    return parts.ArmO3CPU(
        switched_out=True, cpu_id=0, fuPool=units(), fetchWidth=4, decodeWidth=4, fetchBufferSize=64,
        fetchQueueSize=32, numROBEntries=128, numIQEntries=120, LQEntries=68, SQEntries=72,
        numPhysIntRegs=192, numPhysFloatRegs=192, numPhysVecRegs=192, **eight)


machine.main(machine.Core(
    clock='2.5GHz', pipeline=pipeline,
    instructions=machine.Level('64kB', 4, (1, 1, 1), 8),
    l1=machine.Level('64kB', 4, (1, 2, 1), 20),
    l2=machine.Level('1MB', 8, (5, 6, 2), 46),
    l3=machine.Level('8MB', 16, (15, 20, 5), 64)))
