"""Does the library choose its fastest implementation? `make perf-choices` counts each candidate
of some products, models its cycles, and compares.

The last implementation, the reference, is left out: it is not meant to be fast."""
import os

import shapes
from cores import CORES
from emulator import MeasureError

OURS = 'neoprene'
# The chosen one may be so much slower than the best: estimates count lines that miss the L1 cache,
# which the model does not see.
TOLERANCE = 1.2
MOST = 4
PROBLEMS = (
    ('packed', '8x8:8x8'), ('packed', '16x16:16x16'), ('packed', '64x64:64x64'),
    ('packed', '128x128:128x128'), ('packed', '256x256:256x256'), ('packed', '1x512:512x512'),
    ('packed', '4x512:512x512'), ('packed', '16x512:512x512'), ('packed', '64x1024:1024x64'),
    ('packed', '256x512:512x49'), ('packed', '512x512:512x1'), ('packed', '96x8x8:96x8x8'),
    ('plain', '16x16:16x16'), ('plain', '64x64:64x64'), ('plain', '128x128:128x128'),
    ('plain', '1x512:512x512'), ('plain', '4x512:512x512'), ('plain', '32x256:256x256'),
    ('plain', '256x4:4x256'), ('plain', '127x131:131x129'),
)


def candidates(measurer, core, layout, problem):
    """Cycles of each implementation but the last, the best estimate first."""
    cycles = []
    try:
        for index in range(MOST):
            os.environ['PERF_IMPLEMENTATION'] = str(index)
            result = measurer.count(OURS, core.guest, [problem.line(layout)])[0]
            if 'refused' in result:
                break
            cycles += measurer.model.cycles(core, [result])
    finally:
        os.environ.pop('PERF_IMPLEMENTATION', None)
    return cycles[:-1] or cycles


def compare(measurer):
    core = CORES[measurer.core_names[0]]
    wrong = 0
    print(f'{core.name}: modelled cycles of each implementation, in the order of the estimates')
    for layout, text in PROBLEMS:
        cycles = candidates(measurer, core, layout, shapes.PARSERS['matmul'](text))
        if not cycles:
            raise MeasureError(f'{text} is refused')
        bad = cycles[0] > TOLERANCE * min(cycles)
        wrong += bad
        print(f"{layout:7} {text:18} {'  '.join(f'{c:11.0f}' for c in cycles)}"
              f"{'   not the fastest' if bad else ''}", flush=True)
    measurer.costs.save()
    return 1 if wrong else 0
