#!/usr/bin/env python3
"""Draws memory over time from a history, and a plan as boxes, as one SVG.

    tests/memory_plot.py HISTORY.csv [--plan PLAN.csv] [-o OUT.svg]
    tests/memory_plot.py --plan PLAN.csv -o OUT.svg

HISTORY.csv is what neo_engine_dump_memory_history() writes; its kinds and owners are stacked, and the
dashed line is the peak. PLAN.csv has the header name,start,finish,offset,size: each row is a tensor
that has bytes [offset, offset + size) from step start to step finish, both included; workspaces have
dashed borders, and the dashed line is what is alive at the busiest step: no plan can be smaller.
"""
import argparse
import csv
import sys
from xml.sax.saxutils import escape, quoteattr

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 1000, 360, 80, 40, 40, 110
HISTORY_FIELDS = ["time_ns", "event", "kind", "bytes", "owner", "current", "total_max"]
PLAN_FIELDS = ["name", "start", "finish", "offset", "size"]


class BadInput(Exception):
    pass


def read_rows(path, fields):
    """The rows as dictionaries; every field but the texts as a number."""
    texts = {"event", "kind", "owner", "name"}
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


def round_step(limit, ticks, base):
    """The smallest of 1, 2, 5 (decimal) or 1, 2, 4 … (binary) times a power that needs few ticks."""
    step = 1
    factors = (2, 2) if base == 2 else (2, 2.5, 2)
    index = 0
    while limit / step > ticks:
        step *= factors[index % len(factors)]
        index += 1
    return int(step)


class Panel:
    """One drawing area with axes from 0 to x_max and 0 to y_max."""

    def __init__(self, top, x_max, y_max):
        self.top, self.x_max, self.y_max = top, max(x_max, 1), max(y_max, 1)

    def x(self, value):
        return LEFT + value / self.x_max * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return self.top + PANEL - value / self.y_max * PANEL

    def axes(self, title, x_name, x_text):
        bottom = self.top + PANEL
        yield f'<text x="{LEFT}" y="{self.top - 14}" class="title">{escape(title)}</text>'
        for value in range(0, int(self.y_max) + 1, round_step(self.y_max, 8, 2)):
            y = self.y(value)
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="grid"/>'
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="y">{bytes_text(value)}</text>'
        for value in range(0, int(self.x_max) + 1, round_step(self.x_max, 12, 10)):
            yield (f'<text x="{self.x(value):.1f}" y="{bottom + 16}" class="x">'
                   f"{escape(x_text(value))}</text>")
        yield (f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{bottom + 34}" class="x">'
               f"{escape(x_name)}</text>")

    def line(self, value, name, text):
        y = self.y(value)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="{name}"/>'
        yield f'<text x="{WIDTH - RIGHT}" y="{y - 5:.1f}" class="y">{escape(text)}</text>'


def series_of(rows):
    """For each kind and owner the list of (time, bytes), one for every event; the largest ones are
    first. What the ring has forgotten belongs to the owner "before"."""
    start = rows[0]["time_ns"]
    now, points = {}, {}
    for row in rows:
        before = (row["kind"], "before")
        change = row["bytes"] if row["event"] == "allocate" else -row["bytes"]
        if before not in now:
            now[before] = row["current"] - change
        key = (row["kind"], row["owner"])
        now[key] = now.get(key, 0) + change
        if now[key] < 0:  # freed, but allocated before the ring begins
            now[before] += now[key]
            now[key] = 0
        for name, value in now.items():
            points.setdefault(name, {})[row["time_ns"] - start] = value
    times = sorted({row["time_ns"] - start for row in rows})
    series = {name: [(time, of.get(time, 0)) for time in times] for name, of in points.items()}
    series = {name: of for name, of in series.items() if any(value for _, value in of)}
    return dict(sorted(series.items(), key=lambda item: -max(value for _, value in item[1])))


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


def legend(index, text, top):
    x, y = LEFT + 220 * (index % 4), top + PANEL + 44 + 16 * (index // 4)
    yield f'<rect x="{x}" y="{y}" width="11" height="11" fill="{color_of(index)}"/>'
    yield f'<text x="{x + 16}" y="{y + 10}">{escape(text)}</text>'


def draw_history(rows, top):
    if not rows:
        yield f'<text x="{LEFT}" y="{top}" class="title">the history is empty</text>'
        return
    series = series_of(rows)
    times = [time for time, _ in next(iter(series.values()))] if series else [0]
    peak = max(row["total_max"] for row in rows)
    panel = Panel(top, times[-1], int(peak * 1.08))
    unit, text = next(((u, t) for u, t in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
                       if times[-1] >= 2 * u), (1, "ns"))
    yield from panel.axes(f"memory over time: {len(rows)} events", f"time in {text}",
                          lambda x: f"{x / unit:.4g}")
    below = [0] * len(times)
    for index, ((kind, owner), of) in enumerate(series.items()):
        above = [base + value for base, (_, value) in zip(below, of)]
        outline = steps(panel, times, above) + steps(panel, times, below)[::-1]
        yield (f'<polygon class="kind" fill="{color_of(index)}" points="{" ".join(outline)}">'
               f"<title>{escape(f'{kind}: {owner}')}</title></polygon>")
        yield from legend(index, f"{kind}: {owner}", top)
        below = above
    yield from panel.line(peak, "peak", f"peak {bytes_text(peak)}")


def depth_of(rows, end):
    """The most bytes that are alive at one step."""
    changes = [0] * (end + 1)
    for row in rows:
        changes[row["start"]] += row["size"]
        changes[row["finish"] + 1 if row["finish"] >= 0 else end] -= row["size"]
    alive = most = 0
    for change in changes:
        alive += change
        most = max(most, alive)
    return most


def draw_plan(rows, top):
    if not rows:
        yield f'<text x="{LEFT}" y="{top}" class="title">the plan is empty</text>'
        return
    end = max(max(row["finish"], row["start"]) for row in rows) + 1
    total = max(row["offset"] + row["size"] for row in rows)
    panel = Panel(top, end, int(total * 1.08))
    yield from panel.axes(f"plan: {len(rows)} buffers of {bytes_text(sum(r['size'] for r in rows))} "
                          f"in {bytes_text(total)}", "step", str)
    for index, row in enumerate(rows):
        finish = row["finish"] if row["finish"] >= 0 else end - 1  # -1: to the end
        x, y = panel.x(row["start"]), panel.y(row["offset"] + row["size"])
        width = panel.x(finish + 1) - x
        height = panel.y(row["offset"]) - y
        about = (f"{row['name']}: steps {row['start']} to {finish}, offset {row['offset']}, "
                 f"{row['size']} bytes")
        dashes = ' stroke-dasharray="3 2"' if row["name"].endswith(".workspace") else ""
        yield (f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
               f'height="{height:.1f}" fill="{color_of(index)}"{dashes} '
               f'data-name={quoteattr(row["name"])}><title>{escape(about)}</title></rect>')
        if width > 7 * len(row["name"]) and height > 12:
            yield (f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" class="x">'
                   f'{escape(row["name"])}</text>')
    depth = depth_of(rows, end)
    yield from panel.line(depth, "bound", f"lower bound {bytes_text(depth)}")


STYLE = """text{font:12px sans-serif}.title{font-size:14px}.y{text-anchor:end}.x{text-anchor:middle}
.grid{stroke:#ddd}.peak,.bound{stroke:#c00;stroke-dasharray:6 4}.box{stroke:#333;stroke-width:.5}
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
