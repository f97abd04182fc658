"""client.py ROW FOLDER: one row of `make check-clients`, run by the unpacked Python with one library or the other.

Each way of a row is run twice. The second run is the one that is measured: between two marks that the emulator's
plugin sees (tests/perf/region.h). FOLDER gets WAY.f32, the values; `ways`, a line for each; `maps`, where libraries
are, once a way; and `done` at last."""
import ctypes
import importlib
import mmap
import os
import resource
import signal
import struct
import sys

NETWORKS = ('mobilenet_v2', 'efficientnet_b0', 'resnet50', 'vgg11', 'vgg11_pooled')
# The files of rows/ that a row is made of. The first one's row(NAME) gives what its ways are run in, and for each way
# its name and what prepares it: a function that returns what is run.
ROWS = {
    'numpy': ('products',),
    'gpt2': ('transformers', 'images'),
    'bert': ('transformers', 'images'),
    **{network: ('images',) for network in NETWORKS},
    'resnet50_224': ('images',),
    'distributed': ('distributed',),
    'training': ('training',),
    'onnx': ('node_tests', 'onnx_tensor'),
    'onnx_networks': ('onnx_networks', 'onnx_tensor'),
    **{'growth_' + network: ('growth', 'images') for network in NETWORKS},
}
APART = NETWORKS  # each way in a process of its own
LIMIT = 300  # seconds of one
MARKS = 'CLIENT_MARKS' in os.environ  # under the plugin only
ISB, RET = 0xD5033FDF, 0xD65F03C0
BEGIN, END = 0xD5032E1F, 0xD5032E3F


def mark(word):
    """A function of machine code: a hint between barriers, which end the emulator's blocks."""
    code = struct.pack('<4I', ISB, word, ISB, RET)
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return page, ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))


PAGES_AND_MARKS = [mark(word) for word in (BEGIN, END)] if MARKS else []
begin, end = (function for _, function in PAGES_AND_MARKS) if MARKS else (lambda: None, lambda: None)


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def measured(run):
    """(value, page faults) of the second run."""
    run()
    begin()
    before = faults()  # the plugin's own are before it begins
    value = run()
    count = faults() - before
    end()
    return value, count


def write_maps(folder):
    with open('/proc/self/maps', encoding='utf-8') as maps, \
            open(os.path.join(folder, 'maps'), 'a', encoding='utf-8') as out:
        out.write(''.join(line for line in maps if 'x' in line.split()[1]) + '\n')


def refusal(error):
    """PyTorch's sentences are in between of traces."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return next((line for line in lines if 'Could not run' in line or 'Error:' in line), lines[-1])[:160]


def note(folder, *fields):
    with open(os.path.join(folder, 'ways'), 'a', encoding='utf-8') as file:
        file.write('\t'.join(fields) + '\n')


def run_way(folder, way, prepare):
    try:
        value, count = measured(prepare())
    except RuntimeError as error:
        note(folder, way, 'refused', refusal(error))
        return
    except ArithmeticError as error:
        note(folder, way, 'wrong', str(error))
        return
    with open(os.path.join(folder, way + '.f32'), 'wb') as file:
        file.write((value.numpy() if hasattr(value, 'numpy') else value).tobytes())
    write_maps(folder)
    note(folder, way, 'ran', str(count))


def run_way_apart(folder, way, prepare):
    """In a process that ends after LIMIT seconds of processor time: the distribution's library takes hours for some."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            run_way(folder, way, prepare)
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        note(folder, way, 'slow', f'more than {LIMIT} s')
    elif status:
        sys.exit(f'{way}: status {status}')


def main():
    row, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    context, ways = importlib.import_module('rows.' + ROWS[row][0]).row(row)
    with context:
        for way, prepare in ways:
            (run_way_apart if row in APART else run_way)(folder, way, prepare)
    with open(os.path.join(folder, 'done'), 'w', encoding='utf-8'):
        pass


if __name__ == '__main__':
    main()
