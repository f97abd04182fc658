"""client.py ROW FOLDER: one row of `make check-clients`, run by the unpacked Python with one library or the other.

Each way of a row is run twice. The second run is the one that is measured: between two marks that the emulator's
plugin sees (tests/perf/region.h). FOLDER gets WAY.f32, the values; `ways`, a line for each; `maps`, where libraries
are, once a way; and `done` at last."""
import ctypes
import functools
import mmap
import os
import resource
import signal
import struct
import sys

MARKS = 'CLIENT_MARKS' in os.environ  # under the plugin only
ISB, RET = 0xD5033FDF, 0xD65F03C0
BEGIN, END = 0xD5032E1F, 0xD5032E3F
BATCH, SIZE = 2, 32  # one image is too little for PyTorch to ask oneDNN; larger ones take hours under the emulator
FORWARDS = int(os.environ.get('CLIENT_FORWARDS', '3'))
# Of many passes: every call of the whole network on a larger image, and a tenth of the work.
SLIM, SMALLEST = {'width_per_group': 8}, 8
GROWTH = 2 << 20  # bytes: what allocators round up to, and not 3 KiB a pass of a thousand
LIMIT = 300  # seconds of one way of a network
TOKENS, WIDTH, HEADS, LAYERS = 128, 768, 12, 2  # layers are alike, so that two of twelve tell


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


# ---- torchvision ----

def channels_last(torch, network, image):
    network, image = (x.to(memory_format=torch.channels_last) for x in (network, image))
    return lambda: network(image)


def compiled(torch, network, image, *passes):
    """Compiled at its second run, by what the first one showed; here is the first."""
    network = torch.jit.trace(network, image, check_trace=False)
    for change in passes:
        network = change(network)
    network(image)
    return lambda: network(image)


def frozen(torch, network, image):
    return compiled(torch, network, image, torch.jit.freeze)


def optimized(torch, network, image):
    """Without PyTorch's own compiler: that one takes an hour for MobileNet's under the emulator, and asks no library."""
    torch._C._jit_set_texpr_fuser_enabled(False)
    return compiled(torch, network, image, torch.jit.freeze, torch.jit.optimize_for_inference)


def all_of_onednn(torch, network, image):
    from torch.utils import mkldnn
    network = mkldnn.to_mkldnn(network)
    return lambda: network(image.to_mkldnn()).to_dense()


WAYS = {
    'eager': lambda torch, network, image: lambda: network(image),
    'channels_last': channels_last,
    'freeze': frozen,
    'optimize_for_inference': optimized,
    'to_mkldnn': all_of_onednn,
}


def image_network(name, batch, size, ways, **options):
    """(way, its preparation): a network with random weights, the same for each."""
    import torch
    import torchvision
    torch.set_num_threads(1)

    def prepare(way):
        torch.manual_seed(1)
        network = torchvision.models.get_model(name, weights=None, **options).eval()
        return WAYS[way](torch, network, torch.randn(batch, 3, size, size))
    return torch.inference_mode(), [(way, lambda way=way: prepare(way)) for way in ways]


# ---- growth ----

def resident():
    with open('/proc/self/statm', encoding='utf-8') as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def growth():
    """Many forward passes of ResNet-50 with fewer channels, after whose second one memory stays as it is."""
    context, ways = image_network('resnet50', BATCH, SMALLEST, WAYS, **SLIM)

    def repeated(forward):
        def run():
            for _ in range(2):
                value = forward()
            before = resident()
            for _ in range(FORWARDS - 2):
                value = forward()
            grown = resident() - before
            print(f'{FORWARDS} forward passes: {before} bytes after the second, {grown} more after the last', flush=True)
            if grown > GROWTH:
                raise RuntimeError(f'memory grew by {grown} bytes in {FORWARDS} forward passes')
            return value
        return functools.cache(run)
    return context, [(way, lambda prepare=prepare: repeated(prepare())) for way, prepare in ways]


# ---- transformers ----

def encoder():
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, activation='gelu', batch_first=True)
    network = torch.nn.TransformerEncoder(layer, LAYERS).eval()
    tokens = torch.randn(1, TOKENS, WIDTH)
    return torch.inference_mode(), [(way, lambda way=way: WAYS[way](torch, network, tokens)) for way in
                                    ('eager', 'freeze', 'optimize_for_inference')]


def decoder():
    """One token after TOKENS others, whose keys and values are kept."""
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    nn, functional = torch.nn, torch.nn.functional
    blocks = [nn.ModuleList((nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH),
                             nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)))
              for _ in range(LAYERS)]
    past = torch.randn(LAYERS, 2, HEADS, TOKENS, WIDTH // HEADS)
    head = nn.Linear(WIDTH, 8192, bias=False)
    token = torch.randn(1, WIDTH)

    def attend(qkv, kept):
        q, k, v = qkv.view(3, HEADS, 1, WIDTH // HEADS)
        k, v = (torch.cat((old, new), 1) for old, new in zip(kept, (k, v)))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / (WIDTH // HEADS) ** 0.5, -1)
        return torch.bmm(weights, v).reshape(1, WIDTH)

    def step():
        x = token
        for (before, to_qkv, out, after, up, down), kept in zip(blocks, past):
            x = x + out(attend(to_qkv(before(x)), kept))
            x = x + down(functional.gelu(up(after(x)), approximate='tanh'))
        return head(x)
    return torch.inference_mode(), [('eager', lambda: step)]


# ---- torch.distributed ----

def check_that_weights_are_mapped():
    """Packed weights are the file's pages, which processes have in common."""
    path = os.environ.get('NEOPRENE_WEIGHTS_CACHE')
    with open('/proc/self/maps', encoding='utf-8') as maps:
        if path and not any(line.rstrip().endswith(path) for line in maps):
            raise RuntimeError(f'{path} is not mapped: packed weights are this process\'s own')


def halves():
    """Two processes share a batch by gloo's collectives. With ours they share packed weights too, by the file that
    NEOPRENE_WEIGHTS_CACHE names."""
    import contextlib
    import torch
    import torch.distributed as distributed
    torch.set_num_threads(1)
    torch.manual_seed(1)
    nn = torch.nn
    network = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                            nn.Conv2d(64, 64, 3), nn.Flatten(), nn.LazyLinear(10)).eval()
    batch = torch.randn(8, 3, 17, 17)
    whole = network(batch)  # also what makes the last layer, before there are two
    store = os.path.join(sys.argv[2], 'store')
    child = os.fork()
    rank = int(child == 0)
    distributed.init_process_group('gloo', init_method=f'file://{store}', rank=rank, world_size=2)

    def run():
        parts = [torch.empty(4, 10) for _ in range(2)]
        distributed.all_gather(parts, network(batch[4 * rank:4 * rank + 4]))
        result = torch.cat(parts)
        error = (result - whole).abs().max() / whole.abs().max()
        if not error <= 1e-6:
            raise RuntimeError(f'rank {rank}: halves differ from the whole by {error}')
        return result

    def follow():
        """The other process's part, as often as this one runs."""
        status = 1
        try:
            run()
            run()
            distributed.barrier()
            status = 0
        finally:
            os._exit(status)

    @contextlib.contextmanager
    def together():
        with torch.inference_mode():
            yield
        distributed.barrier()
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError('the other process failed')
        check_that_weights_are_mapped()
    return together(), [('two processes', lambda: follow() if rank else run)]


# ---- training ----

def training():
    """Gradients of every parameter: what our library does not serve is the distribution's, behind it."""
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    nn = torch.nn
    network = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, stride=2),
                            nn.ReLU(), nn.Conv2d(32, 32, 3, groups=32), nn.Flatten(), nn.Linear(32 * 25, 10))
    batch = torch.randn(4, 3, 32, 32)

    def run():
        network.zero_grad()
        network(batch).square().mean().backward()
        return torch.cat([parameter.grad.flatten() for parameter in network.parameters()])
    return torch.enable_grad(), [('eager', lambda: run)]


# ---- numpy ----

def products():
    """Matrices, slices, transposes and batches, which become many calls of sgemm and sgemv."""
    import contextlib
    import numpy
    random = numpy.random.default_rng(1)

    def matrix(*sizes):
        whole = random.standard_normal([2 * size for size in sizes], dtype=numpy.float32)
        return whole[tuple(slice(0, None, int(random.integers(1, 3))) for _ in sizes)][
            tuple(slice(0, size) for size in sizes)]

    def transposed(x):
        return numpy.asfortranarray(x) if random.integers(2) else x
    sizes = [[int(size) for size in random.integers(1, 70, 4)] for _ in range(60)]
    operands = [(transposed(matrix(m, k)), transposed(matrix(k, n)), matrix(b, m, k), matrix(k))
                for m, n, k, b in sizes]

    def run():
        results = []
        for a, b, batch, vector in operands:
            results += [a @ b, numpy.dot(b.T, a.T), numpy.matmul(batch, b), a @ vector, vector @ b,
                        numpy.einsum('bmk,kn->bnm', batch, b, optimize=True), numpy.dot(a, a.T)]
        return numpy.concatenate([result.ravel() for result in results])
    return contextlib.nullcontext(), [('matmul_dot_einsum', lambda: run)]


# ---- ONNX Runtime ----

def node_tests():
    """Values are 1 for each of the standard's tests of one node that passes with the dnnl provider, else 0."""
    import contextlib
    import glob
    import numpy
    import onnxruntime
    import onnx_tensor
    onnxruntime.set_default_logger_severity(4)
    root = os.path.join(sys.prefix, 'share', 'libonnx-testdata', 'data', 'node')
    folders = [folder for folder in sorted(os.listdir(root)) if not ONNX_ONLY or ONNX_ONLY in folder]

    results = mmap.mmap(-1, len(folders))  # of all processes; 0: has not run

    def tensors(folder, kind):
        paths = glob.glob(os.path.join(folder, f'{kind}_*.pb'))
        return [onnx_tensor.read(path) for path in sorted(paths, key=lambda path: int(path.split('_')[-1][:-3]))]

    def passes(name):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        folder = os.path.join(root, name)
        try:
            session = onnxruntime.InferenceSession(os.path.join(folder, 'model.onnx'), options,
                                                   providers=['DnnlExecutionProvider', 'CPUExecutionProvider'])
            data = os.path.join(folder, 'test_data_set_0')
            names = [argument.name for argument in session.get_inputs()]
            got = session.run(None, dict(zip(names, tensors(data, 'input'))))
            return all(numpy.allclose(a, b, 1e-3, 1e-5, equal_nan=True)
                       for a, b in zip(got, tensors(data, 'output'), strict=True))
        except Exception:  # whatever it is, the test does not pass, and the other library decides
            return False

    def run_from(first):
        for i in range(first, len(folders)):
            results[i] = NOT_PASSED + passes(folders[i])
            print(folders[i], results[i] == PASSED, flush=True)

    def run():
        """In another process, and from the next one on in a new one where a test ended it, as one of the distribution's
        library does."""
        first = results.find(b'\0')
        while first >= 0:
            if os.fork() == 0:
                run_from(first)
                os._exit(0)
            os.wait()
            ended = results.find(b'\0')
            if ended >= 0:
                print(folders[ended], 'ended the process', flush=True)
                results[ended] = NOT_PASSED
            first = results.find(b'\0')
        return numpy.frombuffer(results, numpy.uint8).astype(numpy.float32) - NOT_PASSED
    return contextlib.nullcontext(), [('node tests', lambda: functools.cache(run))]  # once is enough


NETWORKS = ('resnet50', 'mobilenet_v2', 'efficientnet_b0', 'vgg11')
ONNX_ONLY = os.environ.get('CLIENT_NODE_TESTS', '')
NOT_PASSED, PASSED = 1, 2
ROWS = {
    **{name: lambda name=name: image_network(name, BATCH, SIZE, WAYS)
       for name in NETWORKS},
    'resnet50_224': lambda: image_network('resnet50', 1, 224, ['eager', 'channels_last']),
    'growth': growth,
    'bert': encoder,
    'gpt2': decoder,
    'distributed': halves,
    'training': training,
    'numpy': products,
    'onnx': node_tests,
}


def measured(run):
    """(value, page faults) of the second run."""
    run()
    before = faults()
    begin()
    value = run()
    end()
    return value, faults() - before


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
    context, ways = ROWS[row]()
    with context:
        for way, prepare in ways:
            (run_way_apart if row in NETWORKS else run_way)(folder, way, prepare)
    with open(os.path.join(folder, 'done'), 'w', encoding='utf-8'):
        pass


if __name__ == '__main__':
    main()
