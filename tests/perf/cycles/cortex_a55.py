"""A core that issues two instructions a cycle in order, as Arm documents Cortex-A55, at 1.8 GHz.

Beside each other go an instruction of each of these: vectors of 128 bits, memory, integers (two), a
branch. What is loaded can be used after two cycles, sums of FMLA after four. A load of 128 bits takes
both slots for two cycles; alone, without sums around it, it takes three here. probe.c compares this
with what is published."""
import machine
from m5 import objects as parts

VECTOR_CYCLES = {
    **{name: 2 for name in ('SimdAdd', 'SimdAlu', 'SimdCmp', 'SimdMisc', 'SimdShift', 'SimdExt', 'SimdConfig')},
    'SimdAddAcc': 3, 'SimdMult': 3, 'SimdMultAcc': 3, 'SimdDotProd': 3, 'SimdReduceAdd': 3,
    'FloatDiv': 13, 'FloatSqrt': 12, 'SimdFloatDiv': 13, 'SimdFloatSqrt': 12,
}
OTHER_VECTOR_CYCLES = 4
# Encodings of loads of 128 bits, mask and value, and for how many cycles nothing else ends then.
WIDE_LOADS = {'ldr q': (0xfec00000, 0x3cc00000), 'ldp q': (0xfe400000, 0xac400000),
              'ld1 of whole vectors': (0xff400000, 0x4c400000)}
BLOCKED = 2


def unit(classes, cycles, begins_after=1):
    """One that begins an instruction of these classes after so many cycles."""
    members = [parts.MinorOpClass(opClass=name) for name in classes]
    return parts.MinorFU(opClasses=parts.MinorOpClassSet(opClasses=members), opLat=cycles,
                         issueLat=begins_after)


def vector_units():
    """One in each cycle: instructions that take as long are a unit of gem5's, which has no other way
    to say it, and so they are shared by number of cycles."""
    lengths = {name: VECTOR_CYCLES.get(name, OTHER_VECTOR_CYCLES) for name in machine.VECTOR_CLASSES}
    return [unit([name for name, length in lengths.items() if length == cycles], cycles,
                 cycles if cycles > OTHER_VECTOR_CYCLES else 1)
            for cycles in sorted(set(lengths.values()))]


def memory_unit():
    both = unit([*machine.LOAD_CLASSES, *machine.STORE_CLASSES], 1)
    both.timings = [parts.MinorFUTiming(description=name, mask=mask, match=match,
                                        extraCommitLat=BLOCKED, srcRegsRelativeLats=[0])
                    for name, (mask, match) in WIDE_LOADS.items()]
    return both


def pipeline():
    units = [unit(['IntAlu'], 1), unit(['IntAlu'], 1), unit(['IntMult', 'IprAccess'], 3),
             unit(['IntDiv'], 8, 8), *vector_units(), memory_unit()]
    return parts.ArmMinorCPU(
        switched_out=True, cpu_id=0, executeFuncUnits=parts.MinorFUPool(funcUnits=units),
        decodeInputWidth=2, executeInputWidth=2, executeIssueLimit=2, executeMemoryIssueLimit=1,
        executeCommitLimit=2, executeMemoryCommitLimit=1, executeMemoryWidth=16,
        executeLSQRequestsQueueSize=2, executeLSQTransfersQueueSize=4, executeMaxAccessesInMemory=4)


machine.main(machine.Core(
    clock='1.8GHz', pipeline=pipeline,
    instructions=machine.Level('32kB', 4, (1, 1, 1), 4),
    l1=machine.Level('32kB', 4, (0, 1, 0), 6),
    l2=machine.Level('128kB', 4, (3, 4, 2), 12),
    l3=machine.Level('1MB', 16, (12, 15, 5), 24)))
