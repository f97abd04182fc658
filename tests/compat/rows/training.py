"""Gradients of every parameter: what our library does not serve is the distribution's, behind it."""
import torch
from torch import nn


def row(_):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, stride=2),
                            nn.ReLU(), nn.Conv2d(32, 32, 3, groups=32), nn.Flatten(), nn.Linear(32 * 25, 10))
    batch = torch.randn(4, 3, 32, 32)

    def run():
        network.zero_grad()
        network(batch).square().mean().backward()
        return torch.cat([parameter.grad.flatten() for parameter in network.parameters()])
    return torch.enable_grad(), [('eager', lambda: run)]
