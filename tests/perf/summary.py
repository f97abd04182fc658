"""What docs has of a long run's tables: means of each file, and one plot. `make perf SUMMARY=…` writes them."""
import os
from dataclasses import dataclass

import report
import svg

TELLING = ('square', 'ragged, matmul', 'bert base', 'decoder decode', 'resnet 50', 'mobilenet v2', 'unet', '1d models')
ORDINARY = ('packed', 'nhwc')
OTHERS = {'plain': 'all of these products that have plain weights', 'bt': 'all that have weights transposed',
          'nchw': 'MobileNets with channels first'}
INTRODUCTION = '''# Performance in short

How many times Neoprene's cycles others take, by the models of [measuring.md](measuring.md), not by hardware: one call,
one thread, caches warm, weights packed before, channels last, Neoverse N1. Geometric means over the rows of a file in
benchdnn/inputs; "best" is the fastest peer on each row; "behind" counts rows on which one of them is faster than
Neoprene. A dash: the peer has no such operation, or nobody has counted it. Every row is in build/performance.md after

    make perf {root}FILES=published CORES={cores} PEERS={peers} RECORDED=1 SUMMARY=docs/performance-summary.md

which writes this file, too. It needs no peer: tests/perf/peers has what they were counted at. These are {debian}

![Speed of peers, percent of Neoprene's](pictures/speed.svg)
'''


# What peers are of, and what the command says of it, where they were not unpacked, and where they were.
INSTALLED = ('PEERS_ROOT= ', "Debian 12's;\n[limits.md](limits.md) says where Debian 13's are faster.")
UNPACKED = ('', "Debian 13's.")


@dataclass
class Part:
    """One table: for each row, how many times our cycles each peer takes that computes it."""
    title: str
    layout: str
    rows: list

    def best(self):
        return [min(row.values()) for row in self.rows if row]


def titles(tables):
    """Of (operation, file) each: the file's name, and the operation if several have such a file."""
    operations = {file: {operation for operation, same in tables if same == file} for _, file in tables}
    return [file.replace('shapes_', '').replace('_', ' ') + f', {operation}' * (len(operations[file]) > 1)
            for operation, file in tables]


def parts_of(document):
    names = titles([(section.operation, section.file) for section in document.sections])
    return [Part(name, section.layout, [
        {peer: ratio for peer in document.peers
         if (ratio := document.ratio(section.figures[document.libraries[0]][i], section.figures[peer][i]))}
        for i in range(len(section.problems))]) for name, section in zip(names, document.sections)]


def mean(ratios):
    value = report.geometric_mean(ratios)
    return f'{value:.2f}' if value else '–'


def cells(title, parts, peers):
    rows = [row for part in parts for row in part.rows]
    best = [ratio for part in parts for ratio in part.best()]
    return [title, str(len(rows)), *(mean(row[peer] for row in rows if peer in row) for peer in peers), mean(best),
            str(sum(ratio < report.BEHIND for ratio in best))]


def by_file(parts, peers):
    rows = [['file', 'rows', *(report.NAMES[peer] for peer in peers), 'best', 'behind']]
    rows += [cells(part.title, [part], peers) for part in parts if part.layout in ORDINARY]
    for layout, title in OTHERS.items():
        some = [part for part in parts if part.layout == layout]
        rows += [cells(title, some, peers)] if some else []
    return rows


def plot(parts, peers):
    """Modelled speed in percent of ours: 100 over how many times our cycles a peer takes."""
    shown = [part for title in TELLING for part in parts if part.title == title and part.layout in ORDINARY]
    series = []
    for peer in peers:
        means = [report.geometric_mean(row[peer] for row in part.rows if peer in row) for part in shown]
        series.append((report.NAMES[peer], [100 / value if value else None for value in means]))
    return svg.bars("Speed in percent of Neoprene's (modelled, Neoverse N1)", [part.title for part in shown], series)


def text(parts, cores, peers, by_core, root=''):
    command, debian = UNPACKED if root else INSTALLED
    return '\n'.join((INTRODUCTION.format(root=command, debian=debian, cores=','.join(cores), peers=','.join(peers)),
                      report.Report.aligned(by_file(parts, peers)), '', '## All tables, by core', '',
                      report.Report.aligned(by_core), ''))


def write(document, path, root=''):
    parts, peers = parts_of(document), document.peers
    report.write(path, text(parts, document.cores, peers, document.by_core(), root))
    report.write(os.path.join(os.path.dirname(path), 'pictures', 'speed.svg'), plot(parts, peers))
