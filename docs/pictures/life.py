#!/usr/bin/env python3
"""Draws the life of a primitive: docs/pictures/life.py > docs/pictures/life.svg

Time goes to the right, through the five calls; below each of them what it does, in the order in which it does it, and
in a box that several of them touch what they touch."""
from html import escape

WIDTH, STEP_WIDTH, LEFT, TOP = 1110, 216, 15, 30
CALLS = (
    ('neo_…_primitive_desc_create', ('check the description', 'look up its key in the cache', 'if it is new:',
                                     '  every algorithm declines with', '  a sentence, or estimates cycles',
                                     '  the best one makes its plan')),
    ('neo_primitive_create', ('make a handle', 'reserve a block of scratch', '', '', '', '')),
    ('neo_primitive_execute', ('compare the arguments', 'ask how many threads there are', 'take the handle\'s block, or lease',
                               '  one if the handle is running', 'run the plan\'s kernels', '')),
    ('neo_primitive_destroy', ('give the block back', 'the implementation stays', '', '', '', '')),
    ('eviction', ('the one used longest ago goes', 'with its last handle its blocks', '  go to the engine\'s pool', '', '', '')),
)
# What lives longer than a call: its text, and from which call to which it is there.
OBJECTS = (('implementation: the plan, never written again; shared by handles, threads, streams', 0, 4, '#0b6e99'),
           ('handle: its user\'s; and one block, or as many as executions at once', 1, 3, '#d9822b'),
           ('pool of blocks: any primitive of the engine may take them', 0, 4, '#5c8a3a'))
LINE, ROW = 15, 30


def x(call):
    return LEFT + call * STEP_WIDTH


def text(left, top, words, more=''):
    indent = 10 * (len(words) - len(words.lstrip())) // 2
    return f'<text x="{left + indent}" y="{top}"{more}>{escape(words.strip())}</text>'


def calls():
    for i, (name, steps) in enumerate(CALLS):
        bold = ' font-weight="bold" font-size="11.5"'
        yield f'<rect x="{x(i)}" y="{TOP - 20}" width="{STEP_WIDTH - 8}" height="{30 + LINE * len(steps)}" rx="4" fill="#f2f5f7"/>'
        yield text(x(i) + 8, TOP - 3, name, bold)
        for n, step in enumerate(steps):
            if step:
                yield text(x(i) + 8, TOP + 18 + LINE * n, step)


def objects():
    top = TOP + 30 + LINE * len(CALLS[0][1])
    for i, (name, first, last, colour) in enumerate(OBJECTS):
        y = top + ROW * i
        yield (f'<rect x="{x(first)}" y="{y}" width="{STEP_WIDTH * (last - first + 1) - 8}" height="{ROW - 8}" rx="4" '
               f'fill="{colour}"/>')
        yield text(x(first) + 10, y + 15, name, ' fill="white"')


def picture():
    height = TOP + 30 + LINE * len(CALLS[0][1]) + ROW * len(OBJECTS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
             'font-size="11">', '<rect width="100%" height="100%" fill="white"/>', *calls(), *objects(), '</svg>']
    return '\n'.join(parts)


if __name__ == '__main__':
    print(picture())
