"""torchvision's networks with random weights, in the ways in which PyTorch runs them."""
import copy
import functools

import torch
import torchvision
from torch import nn
from torch.utils import mkldnn

BATCH, SIZE = 2, 32  # one image is too little for PyTorch to ask oneDNN; larger ones take hours under the emulator
NETWORKS = {
    'resnet50': ('resnet50', BATCH, SIZE, None),
    'mobilenet_v2': ('mobilenet_v2', BATCH, SIZE, None),
    'efficientnet_b0': ('efficientnet_b0', BATCH, SIZE, None),
    'vgg11': ('vgg11', BATCH, SIZE, None),
    'vgg11_pooled': ('vgg11_pooled', BATCH, SIZE, None),
    'resnet50_224': ('resnet50', 1, 224, ('eager', 'channels_last')),
}


def eager(network, data):
    return lambda: network(data)


def channels_last(network, data):
    network, data = (x.to(memory_format=torch.channels_last) for x in (network, data))
    return lambda: network(data)


def compiled(network, data, *passes):
    """Compiled at its second run, by what the first one showed; here is the first."""
    network = torch.jit.trace(network, data, check_trace=False)
    for change in passes:
        network = change(network)
    network(data)
    return lambda: network(data)


def frozen(network, data):
    return compiled(network, data, torch.jit.freeze)


def optimized(network, data):
    """Without PyTorch's own compiler: it takes an hour for MobileNet's under the emulator, and asks no library."""
    torch._C._jit_set_texpr_fuser_enabled(False)
    return compiled(network, data, torch.jit.freeze, torch.jit.optimize_for_inference)


def all_of_onednn(network, data):
    network = mkldnn.to_mkldnn(network)
    return lambda: network(data.to_mkldnn()).to_dense()


WAYS = {
    'eager': eager,
    'channels_last': channels_last,
    'freeze': frozen,
    'optimize_for_inference': optimized,
    'to_mkldnn': all_of_onednn,
}


def preparations(network, data, ways):
    """(way, what prepares it) of a network, which stays as it is."""
    return [(way, lambda way=way: WAYS[way](copy.deepcopy(network), data)) for way in ways]


def repeat_block(parameters, block):
    """Random numbers, scaled so that sums are as large as what they are of; biases are 0."""
    for parameter in parameters:
        scale = (2 / parameter[0].numel()) ** 0.5 if parameter.dim() > 1 else 0
        copies = -(-parameter.numel() // block.numel())
        parameter.copy_(block.repeat(copies)[:parameter.numel()].view_as(parameter) * scale)


def vgg11():
    return torchvision.models.vgg11(weights=None)


def vgg11_pooled():
    """What is left of an image becomes one pixel instead of 7 by 7, which PyTorch has oneDNN make of a multiple of them
    only: images of 224."""
    network = torchvision.models.vgg11(weights=None)
    network.avgpool = nn.AdaptiveAvgPool2d(1)
    network.classifier[0] = nn.Linear(512, 4096)
    return network


def of_repeated_block(make):
    """VGG's 123 million random weights are minutes of the emulator."""
    with torch.device('meta'):
        network = make()
    network = network.to_empty(device='cpu')
    with torch.no_grad():
        repeat_block(network.parameters(), torch.randn(65521))
    return network


MADE_HERE = {'vgg11': functools.partial(of_repeated_block, vgg11),
             'vgg11_pooled': functools.partial(of_repeated_block, vgg11_pooled)}


def network_and_images(name, batch, size):
    """The same weights and images each time."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    make = MADE_HERE.get(name) or functools.partial(torchvision.models.get_model, name, weights=None)
    return make().eval(), torch.randn(batch, 3, size, size)


def row(name):
    network, batch, size, ways = NETWORKS[name]
    return torch.inference_mode(), preparations(*network_and_images(network, batch, size), ways or WAYS)
