"""How many times faster are other types than f32? `make perf-ratios` counts files with both, f32 without Winograd,
which other types have not: the models' cycles of f32 over theirs, row by row, and geometric means."""
import os
from statistics import geometric_mean

import report
import shapes
from emulator import ASKED, MeasureError, asking, asking_all

OURS = 'neoprene'


def cycles_of(measurer, problems, layout):
    """A dictionary by core for each problem."""
    figures = measurer.measure(OURS, problems, layout)
    refused = [f.refused for f in figures if f.refused]
    if refused:
        raise MeasureError(f'{OURS} refused: {refused[0]}')
    return [f.cycles for f in figures]


def ratios_of(measurer, asked, problems, layout):
    """A list of each core, in the order of problems."""
    with asking('PERF_DIRECT', 1):
        f32 = cycles_of(measurer, problems, layout)
        with asking_all(asked):
            other = cycles_of(measurer, problems, layout)
    return {core: [one[core] / two[core] for one, two in zip(f32, other)] for core in measurer.core_names}


def table(title, problems, ratios):
    width = max(len(problem.name) for problem in problems)
    yield f'{title}\n{"":{width}}' + ''.join(f'{core:>8}' for core in ratios)
    for i, problem in enumerate(problems):
        yield f'{problem.name:{width}}' + ''.join(f'{values[i]:8.2f}' for values in ratios.values())
    yield f'{"geometric mean":{width}}' + ''.join(f'{geometric_mean(values):8.2f}' for values in ratios.values()) + '\n'


def publish(measurer, tables, asked):
    """asked: variables of drivers. Those of the environment would be f32's, too."""
    said = [name for name in ASKED if name in os.environ]
    if said:
        raise MeasureError(f'{said[0]} is in the environment, and would be asked for with f32, too: say it to make, as TYPES=')
    types = ' '.join(map(str, asked.values()))
    all_ratios = {core: [] for core in measurer.core_names}
    for operation, file, layout in tables:
        problems = shapes.read_file(operation, file)
        measurer.what = os.path.basename(file)
        ratios = ratios_of(measurer, asked, problems, layout)
        for core, values in ratios.items():
            all_ratios[core] += values
        title = report.Section(operation, file, layout, [], {}).title
        print('\n'.join(table(f'{title}: f32 over {types}', problems, ratios)), flush=True)
    print('all rows: ' + ', '.join(f'{core} {geometric_mean(values):.2f}' for core, values in all_ratios.items()))
    return 0
