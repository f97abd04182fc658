"""Executed blocks: read from the plugin's dump, joined where the emulator split them, disassembled."""
import subprocess
from collections import defaultdict

import isa

DISASSEMBLER = ['llvm-mc-19', '--disassemble', '-triple=aarch64', '-mattr=+all']
JOIN_TOLERANCE = 0.02  # a measured region begins and ends within blocks


def read_dump(path):
    """One dictionary a region: (address, symbol, words) -> runs."""
    regions = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            fields = line.split()
            if fields[0] == 'region':
                regions.append(defaultdict(int))
            else:
                words = tuple(int(word, 16) for word in fields[4:])
                regions[-1][int(fields[1], 16), fields[3], words] += int(fields[2])
    return regions


def ends_in_branch(words):
    """B, BL, B.cond, CBZ, TBZ, BR, BLR, RET: group 101x without system instructions."""
    return (words[-1] >> 26 & 7) == 5 and words[-1] >> 24 != 0xD5


def without_target(word):
    """An instruction without what changes as others move: where a call goes, and addresses of data."""
    if word >> 26 & 0x1f == 5:  # B, BL
        return word & 0xfc000000
    if word >> 24 & 0x1f == 0x10:  # ADR, ADRP
        return word & 0x9f00001f
    return word


def joined(region):
    """[(runs, symbol, words)]: the emulator ends a block at a page's end and at its own limit on
    length. What follows one that does not end in a branch ran each time after it, and is a part of it
    so often; there may be more than one that goes on there, a loop and its first time. What is left
    ran after a branch to it."""
    left = dict(region)
    by_address = defaultdict(list)
    for address, symbol, words in sorted(region):
        by_address[address].append((address, symbol, words))
    result = []
    for key in sorted(region):
        address, symbol, words = key
        runs = left.pop(key)
        while runs and not ends_in_branch(words):
            follower = next_part(by_address[address + 4 * len(words)], left, runs)
            if not follower:
                break
            left[follower] = max(left[follower] - runs, 0)
            words += follower[2]
        if runs:
            result.append((runs, symbol, words))
    return result


def next_part(candidates, left, runs):
    for key in candidates:
        if left.get(key, 0) >= (1 - JOIN_TOLERANCE) * runs - 1:
            return key
    return None


class Disassembler:
    """Remembers every instruction word that it has seen."""

    def __init__(self):
        self.known = {}

    def learn(self, words):
        new = sorted(set(words) - self.known.keys())
        if new:
            self.known.update(zip(new, disassemble(new)))

    def text(self, words):
        return '\n'.join(isa.normalised(self.known[word]) for word in words)


def disassemble(words):
    """One line a word. A word that the disassembler rejects leaves no line: then halve."""
    lines = ('0x%02x 0x%02x 0x%02x 0x%02x' % tuple(word.to_bytes(4, 'little')) for word in words)
    process = subprocess.run(DISASSEMBLER, input='\n'.join(lines), capture_output=True, text=True,
                             check=False)
    found = [line.strip().replace('\t', ' ') for line in process.stdout.splitlines()]
    found = [line for line in found if line and not line.startswith('.')]
    if len(found) == len(words):
        return found
    if len(words) == 1:
        return ['nop']
    half = len(words) // 2
    return disassemble(words[:half]) + disassemble(words[half:])
