"""Memory over many forward passes: none is left behind by any of them.

Of FORWARDS passes of a network in each way the first tenth fills caches. What is resident, what malloc has given out and
what is mapped after it is what the last one leaves, but for the bounds below; less than ENOUGH passes do not tell."""
import ctypes
import functools
import gc
import mmap
import os

import torch
from rows import images

FORWARDS = int(os.environ.get('CLIENT_FORWARDS', '1000'))
# Bytes, bytes and their number: malloc's bound is 70 bytes a pass, the others are what allocators round up to.
ENOUGH = 50
BOUNDS = {'resident': 1 << 20, 'allocated': 64 << 10, 'mappings': 4}


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ('arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks',
                                                     'fsmblks', 'uordblks', 'fordblks', 'keepcost')]


mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo2


def memory():
    gc.collect()
    given = mallinfo2()
    with open('/proc/self/statm', encoding='utf-8') as file:
        resident = int(file.read().split()[1]) * mmap.PAGESIZE
    with open('/proc/self/maps', encoding='utf-8') as file:
        mappings = len(file.readlines())
    return {'resident': resident, 'allocated': given.uordblks + given.hblkhd, 'mappings': mappings}


def repeated(name, forward, count):
    """Its last value, after as many passes."""
    first = max(count // 10, 1)
    for done in range(1, count + 1):
        value = forward()
        if done == first:
            before = memory()
        if done % first == 0:
            print(f'{name}: {done} of {count} forward passes', flush=True)
    grown = {what: after - before[what] for what, after in memory().items()}
    print(f'{name}: {count} forward passes, of which the last {count - first} left ' +
          ', '.join(f'{what} {number:+}' for what, number in grown.items()), flush=True)
    for what, number in grown.items():
        if count >= ENOUGH and number > BOUNDS[what]:
            raise MemoryError(f'{name}: {what} grew by {number} in {count - first} forward passes')
    return value


def row(name):
    network, batch, size, ways = images.NETWORKS[name.removeprefix('growth_')]
    network, data = images.network_and_images(network, batch, size)

    def prepared(prepare, way):
        return functools.cache(functools.partial(repeated, f'{name} {way}', prepare(), FORWARDS))  # measured twice
    return torch.inference_mode(), [(way, functools.partial(prepared, prepare, way))
                                    for way, prepare in images.preparations(network, data, ways or images.WAYS)]
