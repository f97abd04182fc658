"""Does the library choose its fastest implementation? `make perf-choices` counts each candidate
of some products and convolutions, models its cycles, and compares. Where weights come from memory, and
bytes decide as much as products, the models see half of it: these run on the cycle simulator, if it is
there (GEM5=).

The last implementation, the reference, is left out: it is not meant to be fast."""
import shutil
from types import SimpleNamespace

import cycles
import shapes
from cores import CORES
from emulator import MeasureError, asking

OURS = 'neoprene'
# The chosen one may be so much slower than the best: estimates count lines that miss the L1 cache,
# which the model does not see.
TOLERANCE = 1.2
MOST = 8
# Layout, descriptor. Convolutions are small: the reference runs too.
PRODUCTS = (
    ('packed', '8x8:8x8'), ('packed', '16x16:16x16'), ('packed', '64x64:64x64'),
    ('packed', '128x128:128x128'), ('packed', '256x256:256x256'), ('packed', '1x512:512x512'),
    ('packed', '4x512:512x512'), ('packed', '16x512:512x512'), ('packed', '64x1024:1024x64'),
    ('packed', '256x512:512x49'), ('packed', '512x512:512x1'), ('packed', '96x8x8:96x8x8'),
    ('packed', '5x3:3x490'), ('packed', '7x7:7x490'),
    ('plain', '16x16:16x16'), ('plain', '64x64:64x64'), ('plain', '128x128:128x128'),
    ('plain', '1x512:512x512'), ('plain', '4x512:512x512'), ('plain', '32x256:256x256'),
    ('plain', '256x4:4x256'), ('plain', '127x131:131x129'),
    ('plain', '62x1238:1238x11'), ('plain', '50x3000:3000x13'),
    ('plain', '40x30:30x2'), ('packed', '3x37:37x3'), ('packed', '9x32:32x2'),
    ('bt', '2x5:5x3'), ('bt', '7x13:13x9'), ('bt', '9x17:17x13'), ('bt', '7x64:64x12'),
    ('bt', '13x75:75x4'), ('bt', '2x6:6x29'), ('bt', '40x30:30x2'), ('bt', '8x64:64x512'),
    ('abt', '15x15:15x15'), ('abt', '67x73:73x71'),
)
CONVOLUTIONS = tuple((layout, text) for layout in ('nhwc', 'nchw') for text in (
    'mb1ic4ih14oc16oh14kh3ph1', 'mb1ic16ih28oc16oh28kh3ph1', 'mb1ic64ih28oc64oh28kh3ph1',
    'mb1ic256ih7oc256oh7kh3ph1', 'mb1ic96ih4oc96oh4kh3ph1', 'mb1ic128ih3oc128oh1kh3ph0',
    'mb1ic3ih32oc32oh16kh3sh2ph1', 'mb1ic64ih28oc64oh14kh3sh2ph1', 'mb1ic64ih14oc256oh14kh1ph0',
    'mb1ic256ih1oc256oh1kh5ph2', 'mb1ic256ih2oc256oh2kh5ph2',
    'mb1ic512ih1oc128oh1kh1ph0', 'g8mb1ic64ih14oc64oh14kh3ph1', 'mb1ic32ih16oc32oh16kh3ph2dh1',
    'mb1ic48iw100oc64ow100kw3pw1', 'mb1ic19ih5oc3oh5kh1ph0', 'mb1ic2ih14oc24oh14kh3ph1',
    'mb1ic16ih14oc15oh14kh3ph1', 'mb1ic21ih6oc33oh1kh6ph0', 'g4mb1ic20ih14oc8oh14kh3ph1')) + (
    ('nhwc', 'g4mb1ic8ih14oc8oh14kh1ph0'), ('nhwc', 'g4mb1ic24ih14oc24oh14kh3ph1'))
# Weights are larger than half of the L2 cache, and read within a good part of the products' time.
# What is in no cache takes as long in each call, so less is tolerated.
FAR = (
    ('matmul', 'packed', '4x512:512x512'), ('matmul', 'packed', '32x512:512x512'),
    ('conv', 'nhwc', 'mb1ic128ih7oc128oh7kh3ph1'), ('conv', 'nhwc', 'mb1ic128ih14oc128oh14kh3ph1'),
    ('conv', 'nhwc', 'mb1ic192ih7oc192oh7kh3ph1'), ('conv', 'nhwc', 'mb1ic256ih4oc256oh4kh3ph1'),
    ('conv', 'nhwc', 'mb1ic256ih8oc128oh8kh3ph1'),
)
FAR_TOLERANCE = 1.05


def implementations(measurer, core, layout, problem):
    """What each implementation but the last executed, the best estimate first."""
    results = []
    for index in range(MOST):
        with asking('PERF_IMPLEMENTATION', index):
            result = measurer.count(OURS, core.guest, [problem.line(layout)])[0]
        if 'refused' in result:
            break
        results.append(result)
    return results[:-1] or results


def candidates(measurer, core, layout, problem):
    return measurer.model.cycles(core, implementations(measurer, core, layout, problem))


def compare_one(measurer, core, layout, problem):
    """Whether the chosen implementation is far slower than another one."""
    cycles = candidates(measurer, core, layout, problem)
    if not cycles:
        raise MeasureError(f'{problem.text} is refused')
    bad = cycles[0] > TOLERANCE * min(cycles)
    print(f"{layout:7} {problem.text:32} {'  '.join(f'{c:11.0f}' for c in cycles)}"
          f"{'   not the fastest' if bad else ''}", flush=True)
    return bad


def simulated(simulator, core, line, memory):
    """Of each implementation but the last the time, the best estimate first."""
    runs = [cycles.Run(simulator.driver, line, memory, str(index), core) for index in range(MOST)]
    times = [time for time in map(cycles.time_of, simulator.run_all(runs)) if time]
    return times[:-1] or times


def compare_far_one(simulator, core, layout, problem, memory):
    times = simulated(simulator, core, problem.line(layout), memory)
    bad = times[0].microseconds > FAR_TOLERANCE * min(time.microseconds for time in times)
    print(f"{layout:7} {problem.text:32} {memory:8} {'  '.join(f'{t.name} {t.microseconds:.1f}' for t in times)}"
          f"{'   not the fastest' if bad else ''}", flush=True)
    return bad


def compare_far(simulator, core):
    print(f'{core.name}, simulated: µs of each implementation with cold weights')
    return sum(compare_far_one(simulator, core, layout, shapes.PARSERS[operation](text), memory)
               for operation, layout, text in FAR for memory in cycles.BANDWIDTHS)


def far_choices(args, name):
    """How many are wrong where bytes decide."""
    core = cycles.CORES.get(name)
    if not core or not shutil.which(args.gem5):
        print(f'rows where bytes decide are left out: {args.gem5 if core else "a simulated " + name} is not there (GEM5=)')
        return 0
    return compare_far(cycles.Simulator(SimpleNamespace(
        gem5=args.gem5, driver=args.cycles_driver, cores=[core], warm=False), cycles.Executed(args.emulator)), core)


def compare(measurer, args):
    core = CORES[measurer.core_names[0]]
    print(f'{core.name}: modelled cycles of each implementation, in the order of the estimates')
    wrong = sum(compare_one(measurer, core, layout, shapes.PARSERS[operation](text))
                for operation, problems in (('matmul', PRODUCTS), ('conv', CONVOLUTIONS))
                for layout, text in problems)
    measurer.costs.save()
    return 1 if wrong + far_choices(args, core.name) else 0
