#!/usr/bin/env python3
"""Draws memory over time from a history, and a plan as boxes, as one SVG.

    tests/memory_plot.py HISTORY.csv [--plan PLAN.csv] [-o OUT.svg]
    tests/memory_plot.py --plan PLAN.csv -o OUT.svg

HISTORY.csv is what neo_engine_dump_memory_history() writes; its kinds are stacked, and the dashed
line is the peak. PLAN.csv has the header name,start,finish,offset,size: each row is a tensor that
has bytes [offset, offset + size) from step start to step finish, both included.
"""
import argparse
import csv
import sys
from xml.sax.saxutils import escape, quoteattr

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 1000, 360, 90, 20, 30, 60
HISTORY_FIELDS = ["time_ns", "event", "kind", "bytes", "current", "total_current", "total_max"]
PLAN_FIELDS = ["name", "start", "finish", "offset", "size"]


class BadInput(Exception):
    pass


def read_rows(path, fields):
    """The rows as dictionaries; every field but the texts as a number."""
    texts = {"event", "kind", "name"}
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in fields if name not in (reader.fieldnames or [])]
        if missing:
            raise BadInput(f"{path}: the header lacks {', '.join(missing)}")
        rows = []
        for row in reader:
            try:
                rows.append({f: row[f] if f in texts else int(row[f]) for f in fields})
            except (TypeError, ValueError):
                raise BadInput(f"{path}, line {reader.line_num}: a number is wrong") from None
        return rows


def color_of(index, lightness=60):
    """Neighbours differ: the golden angle never comes back near its start."""
    return f"hsl({index * 137.508 % 360:.0f},65%,{lightness}%)"


def bytes_text(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} B"


class Panel:
    """One drawing area with axes from 0 to x_max and 0 to y_max."""

    def __init__(self, top, x_max, y_max):
        self.top, self.x_max, self.y_max = top, max(x_max, 1), max(y_max, 1)

    def x(self, value):
        return LEFT + value / self.x_max * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return self.top + PANEL - value / self.y_max * PANEL

    def axes(self, title, x_text):
        bottom = self.top + PANEL
        yield f'<text x="{LEFT}" y="{self.top - 10}" class="title">{escape(title)}</text>'
        for i in range(5):
            value = self.y_max * i // 4
            y = self.y(value)
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="grid"/>'
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="y">{bytes_text(value)}</text>'
            x = self.x(self.x_max * i / 4)
            text = escape(x_text(self.x_max * i / 4))
            yield f'<text x="{x:.1f}" y="{bottom + 16}" class="x">{text}</text>'


def series_of(rows):
    """For each kind the list of (time, bytes), one for every event, from the history's start."""
    start = rows[0]["time_ns"]
    kinds = sorted({row["kind"] for row in rows})
    now = {}
    for row in reversed(rows):  # what there was before the first event that the ring still has
        sign = 1 if row["event"] == "free" else -1
        now[row["kind"]] = row["current"] + sign * row["bytes"]
    points = {kind: [(0, now[kind])] for kind in kinds}
    for row in rows:
        now[row["kind"]] = row["current"]
        for kind in kinds:
            points[kind].append((row["time_ns"] - start, now[kind]))
    return points


def steps(panel, times, values):
    """A line that changes value only at the events."""
    path, last = [], None
    for time, value in zip(times, values):
        x, y = panel.x(time), panel.y(value)
        if last is not None:
            path.append(f"{x:.1f},{last:.1f}")
        path.append(f"{x:.1f},{y:.1f}")
        last = y
    return path


def draw_history(rows, top):
    if not rows:
        yield f'<text x="{LEFT}" y="{top}" class="title">the history is empty</text>'
        return
    points = series_of(rows)
    times = [time for time, _ in next(iter(points.values()))]
    peak = max(row["total_max"] for row in rows)
    panel = Panel(top, times[-1], peak * 1.05)
    panel.y_max = int(panel.y_max)
    yield from panel.axes("memory over time", lambda x: f"{x / 1e6:.4g} ms")
    below = [0] * len(times)
    for index, (kind, series) in enumerate(points.items()):
        above = [base + value for base, (_, value) in zip(below, series)]
        outline = steps(panel, times, above) + steps(panel, times, below)[::-1]
        yield (f'<polygon class="kind" fill="{color_of(index)}" points="{" ".join(outline)}">'
               f"<title>{escape(kind)}</title></polygon>")
        yield (f'<text x="{LEFT + 10 + 130 * index}" y="{top + PANEL + 34}" '
               f'fill="{color_of(index, 35)}">{escape(kind)}</text>')
        below = above
    y = panel.y(peak)
    yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="peak"/>'
    yield f'<text x="{WIDTH - RIGHT}" y="{y - 4:.1f}" class="y">peak {bytes_text(peak)}</text>'


def draw_plan(rows, top):
    if not rows:
        yield f'<text x="{LEFT}" y="{top}" class="title">the plan is empty</text>'
        return
    end = max(max(row["finish"], row["start"]) for row in rows) + 1
    total = max(row["offset"] + row["size"] for row in rows)
    panel = Panel(top, end, total)
    yield from panel.axes(f"plan: {len(rows)} tensors in {total} bytes", lambda x: f"step {x:.4g}")
    for index, row in enumerate(rows):
        finish = row["finish"] if row["finish"] >= 0 else end - 1  # -1: to the end
        x, y = panel.x(row["start"]), panel.y(row["offset"] + row["size"])
        width = panel.x(finish + 1) - x
        height = panel.y(row["offset"]) - y
        about = (f"{row['name']}: steps {row['start']} to {finish}, offset {row['offset']}, "
                 f"{row['size']} bytes")
        yield (f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
               f'height="{height:.1f}" fill="{color_of(index)}" data-name={quoteattr(row["name"])}>'
               f"<title>{escape(about)}</title></rect>")
        if width > 8 * len(row["name"]) and height > 12:
            yield (f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" class="x">'
                   f'{escape(row["name"])}</text>')


STYLE = """text{font:12px sans-serif}.title{font-size:14px}.y{text-anchor:end}.x{text-anchor:middle}
.grid{stroke:#ddd}.peak{stroke:#c00;stroke-dasharray:6 4}.box{stroke:#333;stroke-width:.5}
.kind{fill-opacity:.8}"""


def draw(history, plan):
    panels = [(draw_history, history), (draw_plan, plan)]
    panels = [(function, rows) for function, rows in panels if rows is not None]
    height = TOP + len(panels) * (PANEL + GAP)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}">')
    yield f"<style>{STYLE}</style>"
    yield '<rect width="100%" height="100%" fill="white"/>'
    for index, (function, rows) in enumerate(panels):
        yield from function(rows, TOP + index * (PANEL + GAP))
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description="draws memory over time, and a plan, as SVG")
    parser.add_argument("history", nargs="?", help="CSV of allocations and frees")
    parser.add_argument("--plan", help="CSV with the header name,start,finish,offset,size")
    parser.add_argument("-o", "--output", help="the SVG file; standard output without it")
    options = parser.parse_args()
    if not options.history and not options.plan:
        parser.error("give a history, a plan, or both")
    try:
        history = read_rows(options.history, HISTORY_FIELDS) if options.history else None
        plan = read_rows(options.plan, PLAN_FIELDS) if options.plan else None
        text = "\n".join(draw(history, plan)) + "\n"
        if options.output:
            with open(options.output, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            sys.stdout.write(text)
    except (BadInput, OSError) as error:
        sys.exit(f"memory_plot.py: {error}")


if __name__ == "__main__":
    main()
