"""clients.py OUT [REFERENCE]: torchvision's networks with random weights, in the ways in which PyTorch runs them.

The results go to OUT; with REFERENCE, what a run with another library wrote, they are compared: each has to be within
1e-5 of the largest value there. What PyTorch refuses with the other library too is named, and not compared. Run by `make check-clients`, with Debian's libdnnl.so and then with ours.
"""
import sys

import torch
import torchvision
from torch.utils import mkldnn

LIMIT = 1e-5
BATCH, SIZE = 2, 64  # one small image is too little for PyTorch to ask oneDNN
NETWORKS = ('resnet18', 'mobilenet_v2')


def channels_last(network, image):
    return network.to(memory_format=torch.channels_last)(image.to(memory_format=torch.channels_last))


def frozen(network, image):
    return torch.jit.freeze(torch.jit.trace(network, image))(image)


def optimized(network, image):
    return torch.jit.optimize_for_inference(torch.jit.trace(network, image))(image)


def all_of_onednn(network, image):
    return mkldnn.to_mkldnn(network)(image.to_mkldnn())


WAYS = {
    'eager': lambda network, image: network(image),
    'channels_last': channels_last,
    'freeze': frozen,
    'optimize_for_inference': optimized,
    'to_mkldnn': all_of_onednn,
}


def result(name, way):
    """A tensor, or what PyTorch says instead."""
    torch.manual_seed(1)
    network = torchvision.models.get_model(name, weights=None).eval()
    image = torch.randn(BATCH, 3, SIZE, SIZE)
    try:
        with torch.no_grad():
            value = WAYS[way](network, image)
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        return next((line for line in lines if 'Could not run' in line), lines[-1])[:120]
    return (value.to_dense() if value.is_mkldnn else value).contiguous().clone()


def judge(expected, got):
    if isinstance(expected, str):
        return True, f'not with the other library: {expected}'
    if isinstance(got, str):
        return False, f'WRONG: {got}'
    error = ((got - expected).abs().max() / expected.abs().max()).item()
    return error <= LIMIT, f'{error:.1e}{"" if error <= LIMIT else "  WRONG"}'


def main():
    torch.set_num_threads(1)
    results = {(name, way): result(name, way) for name in NETWORKS for way in WAYS}
    torch.save(results, sys.argv[1])
    if len(sys.argv) < 3:
        return 0
    wrong = 0
    for key, expected in torch.load(sys.argv[2]).items():
        is_right, text = judge(expected, results[key])
        wrong += not is_right
        print(f'{key[0]:14} {key[1]:24} {text}', flush=True)
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
