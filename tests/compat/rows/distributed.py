"""Two processes share a batch by gloo's collectives (torch.distributed).

With ours they share packed weights too, by the file that NEOPRENE_WEIGHTS_CACHE names. Each process has half of the
CPUs, which all of its threads keep to."""
import contextlib
import os
import sys

import torch
from torch import distributed, nn

RUNS = 2  # of each way, by client.py
TASKS = '/proc/self/task'


def check_that_weights_are_mapped():
    """Packed weights are the file's pages, which processes have in common."""
    path = os.environ.get('NEOPRENE_WEIGHTS_CACHE')
    with open('/proc/self/maps', encoding='utf-8') as maps:
        if path and not any(line.rstrip().endswith(path) for line in maps):
            raise RuntimeError(f'{path} is not mapped: packed weights are this process\'s own')


# ---- affinity ----

def threads():
    """Thread -> the CPUs that the kernel lets it run on, an emulator's threads included."""
    return {int(thread): os.sched_getaffinity(int(thread)) for thread in os.listdir(TASKS)}


def take_half(rank):
    """Of the CPUs; where there is only one, both processes have it. Threads begin where those that start them are."""
    cpus = sorted(os.sched_getaffinity(0))
    half = set(cpus[rank::2] or cpus)
    for thread in threads():
        os.sched_setaffinity(thread, half)
    return half


def check_that_threads_stay(network, batch, half):
    """In a pass with more threads than the process has CPUs."""
    before = len(threads())
    torch.set_num_threads(len(half) + 2)
    network(batch)
    now = threads()
    if len(now) <= before:
        raise RuntimeError(f'{len(now)} threads with {len(half) + 2} for a product, {before} before')
    outside = {thread: cpus for thread, cpus in now.items() if not cpus <= half}
    print(f'{len(now)} threads, CPUs {sorted(half)}; outside of them: {outside}', flush=True)
    if outside:
        raise RuntimeError(f'the process has CPUs {half}, threads have others: {outside}')


# ---- the two processes ----

def other_process(child, work):
    """In the child: ends it, with what became of the work."""
    if child:
        return
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def row(_):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                            nn.Conv2d(64, 64, 3), nn.Flatten(), nn.LazyLinear(10)).eval()
    batch = torch.randn(8, 3, 17, 17)
    whole = network(batch)  # also what makes the last layer, before there are two
    store = os.path.join(sys.argv[2], 'store')
    child = os.fork()
    rank = int(child == 0)
    half = take_half(rank)
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
        """The other process's part."""
        with torch.inference_mode():
            for _ in range(RUNS):
                run()
            distributed.barrier()
            check_that_threads_stay(network, batch, half)

    @contextlib.contextmanager
    def together():
        with torch.inference_mode():
            yield
            distributed.barrier()
            check_that_threads_stay(network, batch, half)
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError('the other process failed')
        check_that_weights_are_mapped()
    other_process(child, follow)
    return together(), [('two processes', lambda: run)]
