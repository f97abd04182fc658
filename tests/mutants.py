"""tests/mutants.py [--only WORD] [--jobs N] [--list] [--resume]: do the tests notice when a line is wrong?

tests/mutants.txt has one-line faults, each with the test programs that must fail with it. They are
put one after the other into a copy of the tree, the programs are built (TARGET=portable, with ccache
where there is one) and run. A fault that no program notices is a missing test. With --resume, faults
that an earlier run saw noticed (build/mutants-noticed.txt) count and are not tried again."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

TABLE = pathlib.Path("tests/mutants.txt")
COPY = pathlib.Path("build/mutants")
NOTICED = pathlib.Path("build/mutants-noticed.txt")
BUILD = "build/portable-gcc"
LEAST_SECONDS, TIMES = 20, 10  # a fault can make a program hang: what it may take, beside what it takes without


class Mutant:
    def __init__(self, head, old, new, number):
        self.file, *self.tests = head.split()
        self.old, self.new, self.number = old, new, number

    def __str__(self):
        return f"{self.file}: {self.old}  →  {self.new}"


def read_table():
    mutants, block = [], []
    for number, line in enumerate(TABLE.read_text().splitlines() + [""], 1):
        if line.startswith("#"):
            continue
        if line:
            block.append(line)
        elif block:
            if len(block) != 3 or block[1][:2] != "- " or block[2][:2] != "+ " or " " not in block[0]:
                sys.exit(f"{TABLE}:{number}: not 'file tests…', '- old line', '+ new line'")
            mutants.append(Mutant(block[0], block[1][2:], block[2][2:], number - 3))
            block = []
    return mutants


def places_of(mutant, lines):
    return [i for i, line in enumerate(lines) if line.strip() == mutant.old.strip()]


def mutated(mutant, text):
    lines = text.split("\n")
    lines[places_of(mutant, lines)[0]] = mutant.new
    return "\n".join(lines)


def misfits(mutants):
    """What of the table does not fit the files, which change: a sentence each."""
    for mutant in mutants:
        path = pathlib.Path(mutant.file)
        count = len(places_of(mutant, path.read_text().split("\n"))) if path.exists() else 0
        if count != 1:
            yield f"{TABLE}:{mutant.number}: {mutant.file} has {count} lines '{mutant.old}'"
        for test in mutant.tests:
            if not pathlib.Path(f"tests/{test}.c").exists():
                yield f"{TABLE}:{mutant.number}: there is no tests/{test}.c"


def copy_tree():
    COPY.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        source, target = pathlib.Path(name), COPY / name
        if not source.is_file():
            continue
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def build(tests, jobs):
    programs = [f"{BUILD}/tests/{test}" for test in tests]
    return subprocess.run(["make", f"-j{jobs}", "TARGET=portable", "WERROR=", *programs], cwd=COPY,
                          capture_output=True, text=True)


def fails(test, seconds=None):
    try:
        return subprocess.run([f"{BUILD}/tests/{test}"], cwd=COPY, capture_output=True,
                              timeout=seconds).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def notices(mutant, jobs, seconds):
    """The programs that fail; None if the fault does not compile."""
    path = COPY / mutant.file
    right = path.read_text()
    path.write_text(mutated(mutant, right))
    try:
        if build(mutant.tests, jobs).returncode:
            return None
        return [test for test in mutant.tests if fails(test, seconds[test])]
    finally:
        path.write_text(right)


def check_sound(mutants, jobs):
    """Nothing fails without a fault. Returns how many seconds each program may take with one."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    result = build(tests, jobs)
    if result.returncode:
        sys.exit("mutants: the tree does not build\n" + result.stderr[-2000:])
    failing, seconds = [], {}
    for test in tests:
        begin = time.monotonic()
        if fails(test):
            failing.append(test)
        seconds[test] = LEAST_SECONDS + TIMES * (time.monotonic() - begin)
    if failing:
        sys.exit(f"mutants: without any fault these fail: {' '.join(failing)}")
    return seconds


def noticed_before(resume):
    if not resume:
        NOTICED.unlink(missing_ok=True)
    return set(NOTICED.read_text().splitlines()) if NOTICED.exists() else set()


def try_all(mutants, jobs, seconds):
    """How many survive; what is noticed is written down at once."""
    survivors = 0
    for i, mutant in enumerate(mutants, 1):
        found = notices(mutant, jobs, seconds)
        fate = "no code " if found is None else "caught  " if found else "SURVIVED"
        print(f"  {i}/{len(mutants)} {fate} {TABLE}:{mutant.number} {mutant}", flush=True)
        survivors += not found
        if found:
            with NOTICED.open("a") as file:
                print(mutant, file=file)
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="faults whose file or line has this word")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="only check that the table fits the files")
    parser.add_argument("--resume", action="store_true", help="go on where the last run stopped")
    parser.add_argument("--survivors", type=int, default=0, help="so many may survive")
    options = parser.parse_args()
    mutants = [m for m in read_table() if options.only in str(m)]
    wrong = list(misfits(mutants))
    if wrong:
        sys.exit("\n".join(wrong))
    if options.list:
        print(f"mutants: {len(mutants)} faults fit the files")
        return 0
    copy_tree()
    before = noticed_before(options.resume)
    left = [mutant for mutant in mutants if str(mutant) not in before]
    survivors = try_all(left, options.jobs, check_sound(left, options.jobs))
    print(f"mutants: {len(mutants) - survivors} of {len(mutants)} faults are noticed")
    return survivors > options.survivors


if __name__ == "__main__":
    sys.exit(main())
