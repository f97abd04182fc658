"""constants.py FILE...: no decimal constant in src but where one is no estimate.

What estimates take for known has a name, and a row for each class of core, in arch/costs.c. A whole number in floating
point (0.0f, 4.0) is none; those of tables and formulas that are no costs are allowed by their file.
"""
import re
import sys

DECIMAL = re.compile(r'(?<![\w.])(\d*\.\d+|\d+\.)(?:e[-+]?\d+)?f?\b')
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)

# File: why its decimals are no costs.
ALLOWED = {
    'src/memory/shapes/settings.c': 'defaults of a setting, and rounding',
    'src/resampling/resampling.c': 'pixels have their centres half a pixel from their edges',
    'src/tensor/winograd.c': 'points of polynomials',
    'src/threading/parallel.c': 'the part of the work that is levelled',
    'src/threading/partition.c': 'rounding',
}


def decimals(text):
    """(line, constant) of each that is no whole number."""
    code = NO_CODE.sub(lambda found: re.sub(r'[^\n]', ' ', found.group()), text)
    return [(code.count('\n', 0, found.start()) + 1, found.group()) for found in DECIMAL.finditer(code)
            if float(found.group(1)) % 1]


def main():
    wrong, found_in = [], set()
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            for line, constant in decimals(file.read()):
                found_in.add(path)
                if path not in ALLOWED:
                    wrong.append(f'{path}:{line}: {constant}: a cost has a name in arch/costs.h')
    wrong += [f'{path}: has no decimal constant any more: it needs no exception' for path in set(ALLOWED) - found_in]
    print('\n'.join(wrong), end='\n' if wrong else '')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
