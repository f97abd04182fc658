"""Layers of BERT's and of GPT-2's sizes. Their data has no channels that could be last."""
import torch
from rows import images
from torch import nn

TOKENS, WIDTH, HEADS, LAYERS = 128, 768, 12, 2  # layers are alike, so that two of twelve tell
WAYS = ('eager', 'freeze', 'optimize_for_inference')


def encoder():
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, activation='gelu', batch_first=True)
    network = nn.TransformerEncoder(layer, LAYERS).eval()
    return network, torch.randn(1, TOKENS, WIDTH)


class Decoder(nn.Module):
    """One token after TOKENS others, whose keys and values are kept."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.ModuleList((nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH),
                           nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)))
            for _ in range(LAYERS))
        self.past = torch.randn(LAYERS, 2, HEADS, TOKENS, WIDTH // HEADS)
        self.head = nn.Linear(WIDTH, 8192, bias=False)

    @staticmethod
    def attend(qkv, kept):
        q, k, v = qkv.view(3, HEADS, 1, WIDTH // HEADS)
        k, v = (torch.cat((old, new), 1) for old, new in zip(kept, (k, v)))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / (WIDTH // HEADS) ** 0.5, -1)
        return torch.bmm(weights, v).reshape(1, WIDTH)

    def forward(self, x):
        for (before, to_qkv, out, after, up, down), kept in zip(self.blocks, self.past):
            x = x + out(self.attend(to_qkv(before(x)), kept))
            x = x + down(nn.functional.gelu(up(after(x)), approximate='tanh'))
        return self.head(x)


def decoder():
    return Decoder().eval(), torch.randn(1, WIDTH)


NETWORKS = {'bert': encoder, 'gpt2': decoder}


def row(name):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return torch.inference_mode(), images.preparations(*NETWORKS[name](), WAYS)
