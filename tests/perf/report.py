"""Tables, means, worst rows and plots of what was measured."""
import os
import subprocess
from math import exp, log

import svg
from cores import CORES

WORST = 5
NAMES = {'neoprene': 'Neoprene', 'blas': 'OpenBLAS', 'blis': 'BLIS', 'xnnpack': 'XNNPACK',
         'acl': 'ACL'}
INTRODUCTION = '''# Performance

Made by `make perf OUT=docs/performance.md`; [measuring.md](measuring.md) says what the figures mean
and how far to trust them. They are counted and modelled, not timed: i/MAC is executed instructions
per useful vector multiply-accumulate (four f32 products), a percentage is of the core's peak for
those, caches warm. "×" is how many times as many modelled cycles the peer takes on the first core.

Measured at commit {commit}.
'''
LAYOUTS = {'packed': 'weights packed beforehand', 'plain': 'plain weights',
           'nhwc': 'channels last', 'nchw': 'channels first'}


def geometric_mean(values):
    values = [value for value in values if value > 0]
    return exp(sum(map(log, values)) / len(values)) if values else 0.0


def commit():
    process = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True,
                             text=True, check=False)
    return process.stdout.strip() or 'unknown'


class Section:
    """One input file in one layout: problems and each library's figures for them."""

    def __init__(self, operation, file, layout, problems, figures):
        self.operation, self.file, self.layout = operation, file, layout
        self.problems, self.figures = problems, figures

    @property
    def title(self):
        return f"{self.file.replace('shapes_', '').replace('_', ' ')}, {LAYOUTS[self.layout]}"

    def done(self, name):
        return [f for f in self.figures[name] if not f.refused]

    def common(self, ours, peer):
        return [pair for pair in zip(self.figures[ours], self.figures[peer])
                if not pair[0].refused and not pair[1].refused]

    def network_percent(self, name, core, peak):
        """Of peak for all layers together, each as often as the network has it."""
        pairs = [(problem.count, f) for problem, f in zip(self.problems, self.figures[name])
                 if not f.refused]
        cycles = sum(count * f.cycles[core] for count, f in pairs)
        return 100 * sum(count * f.vectors for count, f in pairs) / cycles / peak if cycles else 0.0


class Report:
    def __init__(self, cores, libraries, with_caches):
        self.cores, self.libraries, self.with_caches = cores, libraries, with_caches
        self.sections = []

    def add(self, *section):
        self.sections.append(Section(*section))
        return self.sections[-1]

    @property
    def peers(self):
        return self.libraries[1:]

    # ---- text ----

    def header(self):
        columns = ['problem', 'M MAC']
        for name in self.libraries:
            columns += [f'{NAMES[name]} i/MAC', 'done/useful', 'ld/MAC', *self.cores]
            columns += ['L1', 'L2'] if self.with_caches else []
        return columns + [f'× {NAMES[peer]}' for peer in self.peers]

    def cells(self, f):
        width = 3 + len(self.cores) + 2 * self.with_caches
        if f.refused:
            return ['–'] * width
        cells = [f'{f.per_mac:.3f}', f'{f.executed_ratio:.3f}', f'{f.loads_per_mac:.3f}']
        cells += [f'{f.percent(core):.1f}' for core in self.cores]
        return cells + ([f'{f.l1_lines:.1f}', f'{f.l2_lines:.1f}'] if self.with_caches else [])

    def ratio(self, ours, theirs):
        if ours.refused or theirs.refused:
            return 0.0
        return theirs.cycles[self.cores[0]] / ours.cycles[self.cores[0]]

    def row(self, section, i):
        problem = section.problems[i]
        name = problem.name.split(':')[-1]
        count = f' ×{problem.count}' if problem.count > 1 else ''
        cells = [f'{name}{count} `{problem.text}`', f'{problem.macs / 1e6:.3g}']
        figures = [section.figures[library][i] for library in self.libraries]
        for f in figures:
            cells += self.cells(f)
        ratios = (self.ratio(figures[0], theirs) for theirs in figures[1:])
        return cells + [f'{ratio:.2f}' if ratio else '–' for ratio in ratios]

    def mean_row(self, section):
        cells = ['**geometric mean**', '']
        for name in self.libraries:
            done = section.done(name)
            cells += [f'{geometric_mean([f.per_mac for f in done]):.3f}', '', '']
            cells += [f'{geometric_mean([f.percent(core) for f in done]):.1f}' for core in self.cores]
            cells += [''] * (2 * self.with_caches)
        for peer in self.peers:
            pairs = section.common(self.libraries[0], peer)
            cells.append(f'{geometric_mean([self.ratio(*pair) for pair in pairs]):.2f}')
        return cells

    def network_row(self, section):
        cells = ['**all layers**', f'{sum(p.macs * p.count for p in section.problems) / 1e6:.4g}']
        for name in self.libraries:
            cells += ['', '', '']
            cells += [f'{section.network_percent(name, core, CORES[core].peak):.1f}'
                      for core in self.cores]
            cells += [''] * (2 * self.with_caches)
        return cells + [''] * len(self.peers)

    def worst(self, section):
        """Where we are behind most; without a peer, where the figure is lowest."""
        core, rows = self.cores[0], []
        for i, problem in enumerate(section.problems):
            ours, *theirs = (section.figures[name][i] for name in self.libraries)
            if ours.refused:
                continue
            ratios = [self.ratio(ours, f) for f in theirs if not f.refused]
            rows.append((min(ratios) if ratios else ours.percent(core) / 100, problem))
        rows.sort(key=lambda row: row[0])
        what = 'modelled speed against the best peer' if self.peers else f'part of the peak of {core}'
        listed = '; '.join(f'{problem.name} {value:.2f}' for value, problem in rows[:WORST])
        refused = [problem.name for problem, f in
                   zip(section.problems, section.figures[self.libraries[0]]) if f.refused]
        return f'Worst rows ({what}): {listed}.' + (
            f' Not supported: {", ".join(refused)}.' if refused else '')

    def table(self, section):
        rows = [self.header()] + [self.row(section, i) for i in range(len(section.problems))]
        rows.append(self.mean_row(section))
        if any(problem.count > 1 for problem in section.problems):
            rows.append(self.network_row(section))
        return rows

    @staticmethod
    def aligned(rows):
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ['| ' + ' | '.join(cell.ljust(width) if i == 0 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(row, widths))) + ' |'
                 for row in rows]
        rule = '|' + '|'.join('-' * (width + 1) + ('-' if i == 0 else ':')
                              for i, width in enumerate(widths)) + '|'
        return '\n'.join([lines[0], rule, *lines[1:]])

    def text(self, section):
        return f'{section.title}\n\n{self.aligned(self.table(section))}\n\n{self.worst(section)}\n'

    # ---- files ----

    def write(self, path):
        plots = os.path.join(os.path.dirname(path), 'plots')
        os.makedirs(plots, exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            print(INTRODUCTION.format(commit=commit()), file=file)
            for section in self.sections:
                print(f'## {section.title[0].upper() + section.title[1:]}\n', file=file)
                for plot in self.plots(section, plots):
                    print(f'![{section.title}](plots/{plot})\n', file=file)
                print(self.aligned(self.table(section)), file=file)
                print('\n' + self.worst(section) + '\n', file=file)

    def plots(self, section, folder):
        """Files written: a plot for each of the first two cores."""
        written = []
        for core in self.cores[:2]:
            draw = (self.curves if section.operation == 'matmul' and section.file in CURVES
                    else self.bars if section.file in BARS else None)
            if draw:
                name = f'{section.file.replace("shapes_", "")}_{section.layout}_{core}.svg'.lower()
                with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                    file.write(draw(section, core))
                written.append(name)
        return written

    def series(self, section, core):
        return [(NAMES[name], [None if f.refused else f.percent(core)
                               for f in section.figures[name]]) for name in self.libraries]

    def curves(self, section, core):
        labels = [problem.name.split(':')[-1].replace('_', ' ') for problem in section.problems]
        return svg.curves(f'{section.title}: percent of the peak of {core} (modelled)', labels,
                          self.series(section, core))

    def bars(self, section, core):
        labels = [problem.name.split(':')[-1].replace('_', ' ') for problem in section.problems]
        return svg.bars(f'{section.title}: percent of the peak of {core} (modelled)', labels,
                        self.series(section, core))


CURVES = ('shapes_square', 'shapes_skinny')
BARS = ('shapes_resnet_50', 'shapes_mobilenet_v1', 'shapes_mobilenet_v2', 'shapes_mobilenet_v3_large')
