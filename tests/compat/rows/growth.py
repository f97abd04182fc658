"""Memory over many forward passes: none is left behind by any of them.

Of FORWARDS passes of each network and way the first tenth fills caches. What is resident, what malloc has given out and
what is mapped after it is what the last one leaves, but for the bounds below; less than ENOUGH passes do not tell."""
import ctypes
import functools
import gc
import mmap
import os

import torch
from rows import images

FORWARDS = int(os.environ.get('CLIENT_FORWARDS', '1000'))
# Every call of the networks, on the smallest images, with few channels and without repetitions: what a pass leaves
# behind depends on its calls. Only ResNet goes all five ways; VGG-11 has no call that it has not.
BATCH, SIZE = 2, 8
NETWORKS = (('resnet_short', FORWARDS, {'width_per_group': 1, 'num_classes': 10}),
            ('mobilenet_v2', FORWARDS // 10, {'width_mult': 0.25, 'num_classes': 10}))
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


def ways_of(name, count, options):
    network, data = images.network_and_images(name, BATCH, SIZE, **options)

    def prepared(way, prepare):
        return functools.cache(functools.partial(repeated, f'{name} {way}', prepare(), max(count, 2)))  # measured twice
    return [(f'{name} {way}', functools.partial(prepared, way, prepare))
            for way, prepare in images.preparations(network, data, images.WAYS)]


def row(_):
    return torch.inference_mode(), (way for network in NETWORKS for way in ways_of(*network))
