"""structure.py circles|layers NM BUILD OBJECT...: what the objects and the #include lines say about the structure.

circles: no file needs, through symbols of any number of others, itself.
layers:  no folder includes, or needs a symbol of, one that tests/layers.txt does not allow it.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEFINED = set('TDBRCVWGS')


def symbol_arrows(nm, build, objects):
    """{file: {file that it needs: names}} by the objects; a file is its source without the suffix."""
    output = subprocess.run([nm, '-A', '-P', '-g', *objects], check=True, capture_output=True, text=True).stdout
    home, needed = {}, []
    for line in output.splitlines():
        path, name, kind = re.match(r'(.*?)(?:\[.*\])?: (\S+) (\S)', line).groups()
        file = os.path.splitext(os.path.relpath(path, build))[0]
        if kind in DEFINED:
            home.setdefault(name, file)
        else:
            needed.append((file, name))
    arrows = defaultdict(lambda: defaultdict(set))
    for file, name in needed:
        if home.get(name, file) != file:
            arrows[file][home[name]].add(name)
    return arrows


def circles_of(arrows):
    """The strongly connected components of more than one file (Tarjan's algorithm)."""
    number, lowest, path, found = {}, {}, [], []

    def visit(file):
        number[file] = lowest[file] = len(number)
        path.append(file)
        for other in sorted(arrows[file]) if file in arrows else ():
            if other not in number:
                visit(other)
            if other in path:
                lowest[file] = min(lowest[file], lowest[other])
        if lowest[file] == number[file]:
            circle = path[path.index(file):]
            del path[path.index(file):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for file in sorted(arrows):
        if file not in number:
            visit(file)
    return found


def judge_circles(arrows):
    found = circles_of(arrows)
    for circle in found:
        print(f'a circle of {len(circle)} files:')
        for file in circle:
            for other in circle:
                if names := arrows[file].get(other):
                    print(f'  {file} -> {other}: {" ".join(sorted(names))}')
    if not found:
        print(f'circles: none among {len(arrows)} files that need others')
    return not found


def read_layers():
    """{folder: what it may see}, lowest first."""
    layers = {}
    with open(os.path.join(ROOT, 'tests/layers.txt'), encoding='utf-8') as table:
        for line in table:
            if line.strip() and not line.startswith('#'):
                folder, seen = line.split(':')
                layers[folder] = [w for word in seen.split() for w in (list(layers) if word == 'lower' else [word])]
    return layers


def folder_of(layers, file):
    return next((folder for folder in layers if file.startswith(folder + '/')), None)


def include_arrows(folders):
    """(file, included file) for each #include of a file of ours."""
    for folder in folders:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if not name.endswith(('.c', '.h', '.S')):
                    continue
                path = os.path.join(place, name)
                with open(path, encoding='utf-8') as text:
                    for target in re.findall(r'^\s*#\s*include\s+[<"]([^">]+)', text.read(), re.M):
                        for start in (ROOT, place, os.path.join(ROOT, 'include')):
                            if os.path.exists(os.path.join(start, target)):
                                yield os.path.relpath(path, ROOT), os.path.relpath(os.path.join(start, target), ROOT)
                                break


def allowed(layers, file, other, names):
    mine, theirs = folder_of(layers, file), folder_of(layers, other)
    if mine is None or mine == theirs or theirs in layers[mine] or other in layers[mine]:
        return True
    is_public = all(name.startswith('neo_') for name in names)
    return bool(names) and is_public and not mine.startswith('src/') and 'include' in layers[mine]


def judge_layers(arrows):
    layers = read_layers()
    wrong = [f'{file} includes {other}' for file, other in include_arrows(layers) if not allowed(layers, file, other, ())]
    for file, others in arrows.items():
        for other, names in others.items():
            if not allowed(layers, file + '.c', other + '.c', names):
                wrong.append(f'{file} needs {" ".join(sorted(names))} of {other}')
    for line in sorted(wrong):
        print('not allowed by tests/layers.txt:', line)
    if not wrong:
        print(f'layers: every include and every symbol goes down, in {len(layers)} folders')
    return not wrong


def main():
    judge = {'circles': judge_circles, 'layers': judge_layers}[sys.argv[1]]
    sys.exit(not judge(symbol_arrows(sys.argv[2], sys.argv[3], sys.argv[4:])))


if __name__ == '__main__':
    main()
