"""Tables, means, worst rows and plots of what was measured."""
import os
import subprocess
from math import exp, log

import svg
from cores import CORES

WORST = 5
NAMES = {'neoprene': 'Neoprene', 'blas': 'OpenBLAS', 'blis': 'BLIS', 'xnnpack': 'XNNPACK',
         'acl': 'ACL', 'onednn': 'oneDNN', 'kleidiai': 'KleidiAI', 'mlas': 'MLAS'}
BEHIND = 0.995  # a row this close to a peer is level with it
INTRODUCTION = '''# Performance

Made by `make perf`; docs/measuring.md says what the figures mean and how far to trust them. They are counted and modelled, not timed: i/MAC is executed instructions
per useful vector multiply-accumulate (four f32 products), a percentage is of the core's peak for
those, caches warm. "×" is how many times as many modelled cycles the peer takes on the first core.
Tables with several peers have a peer's i/MAC and its percentage on that core only.

Measured at commit {commit}.
'''
LAYOUTS = {'packed': 'weights packed beforehand', 'plain': 'plain weights',
           'at': 'A transposed', 'bt': 'B transposed', 'abt': 'A and B transposed',
           'ct': 'C transposed',
           'nhwc': 'channels last', 'nchw': 'channels first'}


def geometric_mean(values):
    values = [value for value in values if value > 0]
    return exp(sum(map(log, values)) / len(values)) if values else 0.0


def markdown_table(rows):
    """The first row is the head; all columns but the first are numbers."""
    rows = [rows[0], ['---'] + ['---:'] * (len(rows[0]) - 1), *rows[1:]]
    return '\n'.join('| ' + ' | '.join(row) + ' |' for row in rows) + '\n'


def commit():
    process = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True,
                             text=True, check=False)
    return process.stdout.strip() or 'unknown'


def write(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


class Section:
    """One input file in one layout: problems and each library's figures for them."""

    def __init__(self, operation, file, layout, problems, figures):
        self.operation, self.file, self.layout = operation, file, layout
        self.problems, self.figures = problems, figures

    @property
    def title(self):
        activations = self.problems and all(getattr(p, 'is_batched', False) for p in self.problems)
        layout = 'plain' if activations and self.layout == 'packed' else self.layout
        return f"{self.file.replace('shapes_', '').replace('_', ' ')}, {LAYOUTS[layout]}"

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

    def is_detailed(self, name):
        """One peer is shown like ours; of several only what fits."""
        return name == self.libraries[0] or len(self.peers) == 1

    def header(self):
        columns = ['problem', 'M MAC']
        for name in self.libraries:
            columns.append(f'{NAMES[name]} i/MAC')
            columns += ['done/useful', 'ld/MAC', *self.cores] if self.is_detailed(name) else self.cores[:1]
            columns += ['L1', 'L2'] if self.with_caches else []
        return columns + [f'× {NAMES[peer]}' for peer in self.peers]

    def cells(self, name, f):
        detailed = self.is_detailed(name)
        cores = self.cores if detailed else self.cores[:1]
        if f.refused:
            return ['–'] * (1 + 2 * detailed + len(cores) + 2 * self.with_caches)
        cells = [f'{f.per_mac:.3f}']
        cells += [f'{f.executed_ratio:.3f}', f'{f.loads_per_mac:.3f}'] if detailed else []
        cells += [f'{f.percent(core):.1f}' for core in cores]
        return cells + ([f'{f.l1_lines:.1f}', f'{f.l2_lines:.1f}'] if self.with_caches else [])

    def ratio(self, ours, theirs, core=None):
        """0 where there is none: somebody refuses, or a recorded peer was not counted on the core."""
        core = core or self.cores[0]
        if ours.refused or theirs.refused or core not in theirs.cycles:
            return 0.0
        return theirs.cycles[core] / ours.cycles[core]

    def row(self, section, i):
        problem = section.problems[i]
        name = problem.name.split(':')[-1]
        count = f' ×{problem.count}' if problem.count > 1 else ''
        cells = [f'{name}{count} `{problem.text}`', f'{problem.macs / 1e6:.3g}']
        figures = [section.figures[library][i] for library in self.libraries]
        for library, f in zip(self.libraries, figures):
            cells += self.cells(library, f)
        ratios = (self.ratio(figures[0], theirs) for theirs in figures[1:])
        return cells + [f'{ratio:.2f}' if ratio else '–' for ratio in ratios]

    def mean_row(self, section):
        cells = ['**geometric mean**', '']
        for name in self.libraries:
            done, detailed = section.done(name), self.is_detailed(name)
            cells += [f'{geometric_mean([f.per_mac for f in done]):.3f}', *[''] * (2 * detailed)]
            cells += [f'{geometric_mean([f.percent(core) for f in done]):.1f}'
                      for core in (self.cores if detailed else self.cores[:1])]
            cells += [''] * (2 * self.with_caches)
        return cells + [self.mean_cell([section], peer) for peer in self.peers]

    def mean_cell(self, sections, peer, core=None):
        """The geometric mean of a peer's cycles over ours."""
        mean = geometric_mean([self.ratio(*pair, core) for section in sections
                               for pair in section.common(self.libraries[0], peer)])
        return f'{mean:.2f}' if mean else '–'

    def network_row(self, section):
        cells = ['**all layers**', f'{sum(p.macs * p.count for p in section.problems) / 1e6:.4g}']
        for name in self.libraries:
            detailed = self.is_detailed(name)
            cells += [''] * (1 + 2 * detailed)
            cells += [f'{section.network_percent(name, core, CORES[core].peak):.1f}'
                      for core in (self.cores if detailed else self.cores[:1])]
            cells += [''] * (2 * self.with_caches)
        return cells + [self.network_cell(section, peer) for peer in self.peers]

    def network_cell(self, section, peer):
        """A peer's cycles over ours for the layers that both do, each as often as there are of it."""
        pairs = [(problem.count, ours, theirs) for problem, ours, theirs in
                 zip(section.problems, section.figures[self.libraries[0]], section.figures[peer])
                 if not ours.refused and not theirs.refused]
        core = self.cores[0]
        cycles = [sum(row[0] * row[side].cycles[core] for row in pairs) for side in (1, 2)]
        return f'{cycles[1] / cycles[0]:.2f}' if pairs else '–'

    # ---- all sections together ----

    def best_peers(self, section, core):
        """(ratio, peer, problem, our figures) of each row: the peer that is fastest on it."""
        rows = []
        for i, problem in enumerate(section.problems):
            ours = section.figures[self.libraries[0]][i]
            ratios = [(self.ratio(ours, section.figures[peer][i], core), peer) for peer in self.peers]
            ratios = [pair for pair in ratios if pair[0]]
            if ratios:
                rows.append((*min(ratios), problem, ours))
        return rows

    def behind(self, section, core):
        return sorted((row for row in self.best_peers(section, core) if row[0] < BEHIND),
                      key=lambda row: row[0])

    def by_section(self):
        """How many times our cycles each peer takes, and the best of them, on the first core."""
        core = self.cores[0]
        rows = [['shapes', 'rows', *(NAMES[peer] for peer in self.peers), 'best peer', 'rows behind']]
        for section in self.sections:
            best = self.best_peers(section, core)
            rows.append([section.title, str(len(section.problems)),
                         *(self.mean_cell([section], peer) for peer in self.peers),
                         f'{geometric_mean([row[0] for row in best]):.2f}' if best else '–',
                         str(len(self.behind(section, core)))])
        return rows

    def by_core(self):
        rows = [['core', *(NAMES[peer] for peer in self.peers), 'best peer', 'rows', 'rows behind']]
        for core in self.cores:
            best = [row for section in self.sections for row in self.best_peers(section, core)]
            rows.append([core, *(self.mean_cell(self.sections, peer, core) for peer in self.peers),
                         f'{geometric_mean([row[0] for row in best]):.2f}' if best else '–',
                         str(len(best)), str(sum(row[0] < BEHIND for row in best))])
        return rows

    def behind_rows(self, core):
        rows = [['shapes', 'problem', f'ours, % of {core}', 'peer', '% of it', '×']]
        for section in self.sections:
            for ratio, peer, problem, ours in self.behind(section, core):
                percent = ours.percent(core)
                rows.append([section.title, f'{problem.name} `{problem.text}`', f'{percent:.1f}',
                             NAMES[peer], f'{percent / ratio:.1f}', f'{ratio:.3f}'])
        return self.aligned(rows) if len(rows) > 1 else 'None.'

    def summary(self):
        if not self.peers:
            return ''
        behind = '\n\n'.join(f'Rows on which a peer is faster on {core} by the model:\n\n'
                             f'{self.behind_rows(core)}' for core in self.cores)
        return (f'Geometric means: how many times our modelled cycles a peer takes on '
                f'{self.cores[0]}, over the rows that both compute; "best peer" is the fastest of '
                f'them on each row.\n\n'
                f'{self.aligned(self.by_section())}\n\nAll rows, by core:\n\n'
                f'{self.aligned(self.by_core())}\n\n{behind}\n')

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
            if self.peers:
                print(f'## Summary\n\n{self.summary()}', file=file)
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
