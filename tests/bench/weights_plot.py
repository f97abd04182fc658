"""Plots what make bench-weights printed:

    weights_plot.py REPORT OUT.svg

Left: the time to have all packed weights, by kind of start, on a logarithmic scale. Right: what 1, 2
and 4 processes hold together, in copies of the weights."""
import sys
from html import escape
from math import ceil, floor, log10

COLOURS = ('#8a4f9e', '#d9822b', '#5c8a3a', '#0b6e99', '#b03a48', '#777777')
STARTS = ('cold start', 'first warm start', 'warm, always verified start', 'warm start',
          'warm, content known, always verified start', 'warm, content known start')
PROCESSES = ('1 process', '2 processes', '4 processes')
TOP, HEIGHT, BAR, GAP, LEFT = 100, 240, 16, 26, 60


def read(path):
    """{network: {what: value}} in the order of the file."""
    networks = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            if line.startswith('#'):
                continue
            name, rest = line.split(maxsplit=1)
            what, value, _ = rest.rsplit(maxsplit=2)
            networks.setdefault(name, {})[what.strip()] = float(value)
    return networks


def shown(value):
    return f'{value:.0f}' if value >= 100 else f'{value:.3g}'


class Chart:
    """Groups of bars over a scale: position(value) is 0 at the bottom and 1 at the top."""

    def __init__(self, left, title, ticks, position):
        self.left, self.position, self.x = left, position, left + GAP / 2
        self.parts = [f'<text x="{left}" y="20" font-size="14">{escape(title)}</text>']
        self.ticks = ticks

    def y(self, value):
        return TOP + HEIGHT * (1 - self.position(value))

    def group(self, label, values):
        width = BAR * len(values)
        for i, value in enumerate(values):
            y, x = self.y(value), self.x + BAR * i
            self.parts.append(f'<rect x="{x}" y="{y:.1f}" width="{BAR - 2}" '
                              f'height="{TOP + HEIGHT - y:.1f}" fill="{COLOURS[i]}"/>')
            self.parts.append(f'<text x="{x + BAR / 2 + 2}" y="{y - 4:.1f}" font-size="9" '
                              f'transform="rotate(-60 {x + BAR / 2 + 2} {y - 4:.1f})">'
                              f'{shown(value)}</text>')
        self.parts.append(f'<text x="{self.x + width / 2}" y="{TOP + HEIGHT + 16}" '
                          f'text-anchor="middle">{escape(label)}</text>')
        self.x += max(width, 90) + GAP

    def legend(self, names):
        for i, name in enumerate(names):
            x, y = self.left + 240 * (i % 2), 30 + 15 * (i // 2)
            self.parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{COLOURS[i]}"/>'
                              f'<text x="{x + 15}" y="{y + 9}">{escape(name)}</text>')

    def text(self):
        lines = []
        for value, label in self.ticks:
            y = self.y(value)
            lines.append(f'<line x1="{self.left}" y1="{y:.1f}" x2="{self.x}" y2="{y:.1f}" '
                         f'stroke="#ddd"/><text x="{self.left - 6}" y="{y + 4:.1f}" '
                         f'text-anchor="end">{label}</text>')
        return '\n'.join(lines + self.parts)


def starts_chart(networks):
    values = [rows[start] for rows in networks.values() for start in STARTS]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    ticks = [(10.0 ** power, f'{10.0 ** power:g}') for power in range(low, high + 1)]
    chart = Chart(LEFT, 'Until all packed weights are there (ms)', ticks,
                  lambda value: (log10(value) - low) / (high - low))
    for name, rows in networks.items():
        chart.group(name, [rows[start] for start in STARTS])
    chart.legend([start.removesuffix(' start') for start in STARTS])
    return chart


def copies_chart(networks, left):
    top = max(2.0, max(rows[f'proportional, {p}'] for rows in networks.values() for p in PROCESSES))
    chart = Chart(left, 'Proportional set size of all processes (copies)',
                  [(value / 2, f'{value / 2:g}') for value in range(int(top * 2) + 1)],
                  lambda value: value / top)
    for name, rows in networks.items():
        chart.group(name, [rows[f'proportional, {p}'] for p in PROCESSES])
    chart.legend(PROCESSES)
    return chart


def main():
    report, out = sys.argv[1:3]
    networks = read(report)
    left = starts_chart(networks)
    right = copies_chart(networks, left.x + LEFT)
    with open(out, 'w', encoding='utf-8') as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{max(right.x, right.left + 430):.0f}" '
                   f'height="{TOP + HEIGHT + 34}" font-family="sans-serif" font-size="11">\n'
                   f'<rect width="100%" height="100%" fill="white"/>\n'
                   f'{left.text()}\n{right.text()}\n</svg>\n')
    print(f'plot: {out}')


if __name__ == '__main__':
    main()
