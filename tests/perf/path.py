"""path.py ADDR2LINE PROGRAM [EMULATOR...]: how far a reader goes to follow the description of a problem.

Counts the functions that are entered, and how often the one entered next is in another file: helpers in headers and
kernels are left out, as no reader leaves a file for them.
"""
import subprocess
import sys
from collections import Counter

PROBLEMS = {'conv2': 'a convolution of 3x3, stride 2', 'conv1': 'the same of stride 1 (Winograd)',
            'matmul': 'a product of 64x64x64'}


def files_entered(addr2line, program, emulator, problem):
    run = subprocess.run([*emulator, program, problem], check=True, capture_output=True, text=True)
    found = subprocess.run([addr2line, '-e', program], input=run.stdout, check=True, capture_output=True, text=True)
    files = [line.split(':')[0] for line in found.stdout.splitlines()]
    return [file[file.rindex('/src/') + 1:] for file in files if '/src/' in file and file.endswith('.c')]


def main():
    addr2line, program, *emulator = sys.argv[1:]
    for problem, text in PROBLEMS.items():
        files = files_entered(addr2line, program, emulator, problem)
        changes = sum(a != b for a, b in zip(files, files[1:]))
        most = ', '.join(f'{file} {n}' for file, n in Counter(b for a, b in zip([''] + files, files) if a != b).most_common(4))
        print(f'{text}: {len(files)} functions, {len(set(files))} files, {changes} changes of file; most to {most}')


if __name__ == '__main__':
    main()
