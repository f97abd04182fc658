"""Two kinds of plot as SVG text: values in percent over labelled positions."""
from html import escape

COLOURS = ('#0b6e99', '#d9822b', '#5c8a3a', '#8a4f9e', '#7a7a7a')
STEP, HEIGHT, LEFT, TOP, BOTTOM = 34, 260, 48, 52, 130
NAME, LETTER = 110, 7.5  # room for a name in the legend, and for a letter of the title


class Canvas:
    def __init__(self, title, labels, series):
        self.labels = labels
        values = [value for _, row in series for value in row if value is not None]
        self.top_value = 50 * (int(max(values + [100]) - 1) // 50 + 1)
        self.width = LEFT + int(max(STEP * len(labels), NAME * len(series), LETTER * len(title))) + 20
        self.parts = [f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>']
        self.grid()
        self.axis()
        self.legend([name for name, _ in series])

    def x(self, i):
        return LEFT + STEP * (i + 0.5)

    def y(self, value):
        return TOP + HEIGHT * (1 - value / self.top_value)

    def add(self, part):
        self.parts.append(part)

    def grid(self):
        for value in range(0, self.top_value + 1, 25 if self.top_value <= 150 else 50):
            y = self.y(value)
            colour = '#555' if value in (0, 100) else '#ddd'
            self.add(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{self.width - 20}" y2="{y:.1f}" '
                     f'stroke="{colour}"/>')
            self.add(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')

    def axis(self):
        for i, label in enumerate(self.labels):
            x, y = self.x(i), TOP + HEIGHT + 12
            self.add(f'<text x="{x:.1f}" y="{y}" text-anchor="end" '
                     f'transform="rotate(-50 {x:.1f} {y})">{escape(label)}</text>')

    def legend(self, names):
        for i, name in enumerate(names):
            x = LEFT + NAME * i
            self.add(f'<rect x="{x}" y="28" width="12" height="12" fill="{COLOURS[i]}"/>')
            self.add(f'<text x="{x + 17}" y="38">{escape(name)}</text>')

    def text(self):
        height = TOP + HEIGHT + BOTTOM
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" '
                f'font-family="sans-serif" font-size="11">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n' + '\n'.join(self.parts) +
                '\n</svg>\n')


def curves(title, labels, series):
    canvas = Canvas(title, labels, series)
    for (_, values), colour in zip(series, COLOURS):
        points = [(canvas.x(i), canvas.y(value)) for i, value in enumerate(values)
                  if value is not None]
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
        canvas.add(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in points:
            canvas.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>')
    return canvas.text()


def bars(title, labels, series):
    canvas = Canvas(title, labels, series)
    width = 0.8 * STEP / len(series)
    for s, ((_, values), colour) in enumerate(zip(series, COLOURS)):
        for i, value in enumerate(values):
            if value is None:
                continue
            x, y = canvas.x(i) - 0.4 * STEP + s * width, canvas.y(value)
            canvas.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                       f'height="{canvas.y(0) - y:.1f}" fill="{colour}"/>')
    return canvas.text()
