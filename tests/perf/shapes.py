"""Problems: read from benchdnn's input files, written as lines for the drivers."""
import os
import re
from dataclasses import dataclass, field
from math import prod

INPUTS = os.path.join('benchdnn', 'inputs')
OPERATIONS = os.path.join('tests', 'perf', 'operations.txt')
# Layouts of a product whose weights are plain: the operands whose columns are contiguous, not their
# rows, as the drivers' bits: weights 1, source 2, destination 4.
TRANSPOSED = {'plain': 0, 'bt': 1, 'at': 2, 'abt': 3, 'ct': 4}
MATMUL_LAYOUTS = ('packed', *TRANSPOSED)
CONV_LAYOUTS = ('nhwc', 'nchw')
MACS_PER_VECTOR = 4  # f32 in 128 bits


def layouts(operation):
    return {'matmul': MATMUL_LAYOUTS, 'conv': CONV_LAYOUTS}.get(operation, CONV_LAYOUTS[:1])


class ShapeError(Exception):
    """A descriptor or file that cannot be read; the text names it."""


@dataclass(frozen=True)
class Matmul:
    """dst[m][n] = src[m][k] * weights[k][n] for each element of a batch."""
    name: str
    count: int
    m: int
    n: int
    k: int
    src_batch: tuple
    weights_batch: tuple
    kind: str = field(default='matmul', init=False)

    @property
    def batch(self):
        return prod(max(pair) for pair in zip(self.src_batch, self.weights_batch))

    @property
    def macs(self):
        return self.batch * self.m * self.n * self.k

    @property
    def is_batched(self):
        """Both sides are activations: nobody packs them beforehand."""
        return self.src_batch != (1,)

    @property
    def text(self):
        def dims(batch, rows, columns):
            return 'x'.join(map(str, (*(batch if self.is_batched else ()), rows, columns)))
        return dims(self.src_batch, self.m, self.k) + ':' + dims(self.weights_batch, self.k, self.n)

    def line(self, layout):
        packed = int(layout == 'packed' and not self.is_batched)
        batches = ('x'.join(map(str, batch)) for batch in (self.src_batch, self.weights_batch))
        transposed = TRANSPOSED.get(layout, 0)
        return f'matmul {self.m} {self.n} {self.k} {packed} {transposed} ' + ' '.join(batches)


@dataclass(frozen=True)
class Conv:
    """Sizes along space are (depth, height, width) whatever the dimension."""
    name: str
    count: int
    groups: int
    mb: int
    ic: int
    oc: int
    size: tuple
    out: tuple
    kernel: tuple
    stride: tuple
    pad: tuple
    dilation: tuple
    spatial_dims: int
    text: str
    kind: str = field(default='conv', init=False)

    @property
    def macs(self):
        """Taps in the padding count, as in the product that im2col makes of it."""
        return self.mb * self.oc * prod(self.out) * (self.ic // self.groups) * prod(self.kernel)

    def line(self, layout):
        values = (self.groups, self.mb, self.ic, self.oc, *self.size, *self.out, *self.kernel,
                  *self.stride, *self.pad, *self.dilation, self.spatial_dims,
                  int(layout != 'nchw'))
        return 'conv ' + ' '.join(map(str, values))


@dataclass(frozen=True)
class Operation:
    """An operation on images with channels last (operations.h). Its work is the elements that it reads and writes."""
    name: str
    count: int
    operation: str
    mb: int
    channels: int
    size: tuple
    out: tuple
    kernel: int
    stride: int
    pad: int
    text: str
    kind: str = field(default='operation', init=False)

    @property
    def macs(self):
        sources = 2 if self.operation in ('add', 'multiply', 'concat') else 1
        twice = 2 if self.operation == 'concat' else 1
        return self.mb * self.channels * (sources * prod(self.size) + twice * prod(self.out))

    def line(self, layout):
        values = self.operation, self.mb, self.channels, *self.size, self.kernel, self.stride, self.pad
        return 'operation ' + ' '.join(map(str, values))


# ---- descriptors ----

def split_name(text):
    """'…n"net:layer*3"' -> ('…', 'net:layer', 3)"""
    match = re.fullmatch(r'(.*?)(?:_?n"?([^"]*)"?)?', text)
    body, name = match.group(1), match.group(2) or ''
    counted = re.fullmatch(r'(.*)\*(\d+)', name)
    return (body, counted.group(1), int(counted.group(2))) if counted else (body, name, 1)


def parse_matmul(text):
    body, name, count = split_name(text)
    sides = [tuple(map(int, side.split('x'))) for side in body.split(':')]
    if len(sides) != 2 or min(map(len, sides)) < 2 or len(sides[0]) != len(sides[1]):
        raise ShapeError(f"'{text}' is not MxK:KxN")
    src, weights = sides
    if src[-1] != weights[-2]:
        raise ShapeError(f"'{text}': K is {src[-1]} on the left and {weights[-2]} on the right")
    return Matmul(name or body, count, src[-2], weights[-1], src[-1], src[:-2] or (1,),
                  weights[:-2] or (1,))


CONV_KEYS = 'g mb ic oc id ih iw od oh ow kd kh kw sd sh sw pd ph pw dd dh dw'.split()


def conv_fields(body):
    tokens = re.findall(r'([a-z]+)(\d+)', body.replace('_', ''))
    if ''.join(key + value for key, value in tokens) != body.replace('_', ''):
        raise ShapeError(f"'{body}' is not a convolution")
    unknown = [key for key, _ in tokens if key not in CONV_KEYS]
    if unknown:
        raise ShapeError(f"'{body}': unknown key '{unknown[0]}'")
    return {key: int(value) for key, value in tokens}


def along(values, letter, default, dims):
    """One of i, o, k, s, p, d for depth, height, width. A lone d or h is copied to the rest."""
    given = [values.get(letter + axis) for axis in 'dhw'[3 - dims:]]
    for i in range(1, dims):
        if given[i] is None:
            given[i] = given[i - 1]
    return (None,) * (3 - dims) + tuple(default if value is None else value for value in given)


def output_size(size, kernel, stride, pad, dilation):
    return (size - ((kernel - 1) * (dilation + 1) + 1) + 2 * pad) // stride + 1


def left_pad(size, out, kernel, stride, dilation):
    return max(0, ((out - 1) * stride - size + (kernel - 1) * (dilation + 1) + 1) // 2)


def parse_conv(text):
    body, name, count = split_name(text)
    values = conv_fields(body)
    dims = 3 if 'id' in values or 'kd' in values else 2 if 'ih' in values or 'kh' in values else 1
    size, out, kernel, stride, pad, dilation = (
        along(values, letter, default, dims)
        for letter, default in (('i', None), ('o', None), ('k', None), ('s', 1), ('p', None), ('d', 0)))
    axes = range(3 - dims, 3)
    if any(size[i] is None or kernel[i] is None for i in axes):
        raise ShapeError(f"'{text}': a size of the source or the kernel is missing")
    pad = [0] * (3 - dims) + [
        pad[i] if pad[i] is not None else 0 if out[i] is None else
        left_pad(size[i], out[i], kernel[i], stride[i], dilation[i]) for i in axes]
    out = [1] * (3 - dims) + [
        out[i] if out[i] is not None else
        output_size(size[i], kernel[i], stride[i], pad[i], dilation[i]) for i in axes]

    def filled(values, default):
        return tuple(default if value is None else value for value in values)
    return Conv(name or body, count, values.get('g', 1), values.get('mb', 2), values['ic'],
                values['oc'], filled(size, 1), tuple(out), filled(kernel, 1), filled(stride, 1),
                tuple(pad), filled(dilation, 0), dims, body)


def parse_operation(text):
    """'max_pool:mb1c64ih112iw112kh3sh2ph1n"resnet:pool"'"""
    match = re.fullmatch('([^"]*?)(?:n"([^"]*)")?', text)
    if not match:
        raise ShapeError(f"'{text}' has a name that does not end")
    body, name = match.groups()
    operation, _, fields = body.partition(':')
    values = {key: int(value) for key, value in re.findall('([a-z]+)([0-9]+)', fields)}
    if ''.join(f'{key}{value}' for key, value in values.items()) != fields or not {'mb', 'c', 'ih', 'iw'} <= set(values):
        raise ShapeError(f"'{text}' is not OPERATION:mbNcNihNiwN, with khNshNphN where there are windows")
    size = values['ih'], values['iw']
    kernel, stride, pad = values.get('kh', 1), values.get('sh', 1), values.get('ph', 0)
    out = tuple(2 * length if operation == 'bilinear' else (length + 2 * pad - kernel) // stride + 1 for length in size)
    return Operation(name or body, 1, operation, values['mb'], values['c'], size, out, kernel, stride, pad, body)


PARSERS = {'matmul': parse_matmul, 'conv': parse_conv, 'operation': parse_operation}


def kind_of(text):
    """Products are two sides of numbers, convolutions are one word, operations begin with their name."""
    body = split_name(text)[0]
    return 'conv' if ':' not in body else 'matmul' if body[:1].isdecimal() else 'operation'


def parse(text):
    """(kind, problem) of any descriptor"""
    kind = kind_of(text)
    return kind, PARSERS[kind](text)


# ---- files ----

def tokens_of(path):
    joined = ''
    with open(path, encoding='utf-8') as file:
        for line in file:
            for token in line.split():
                if token.startswith('#'):
                    break
                if token.endswith('\\'):
                    joined += token[:-1]
                    continue
                yield joined + token
                joined = ''


def path_of(operation, name):
    """benchdnn's inputs; operations, whose benchdnn files have other descriptors, are in a file of their own."""
    return OPERATIONS if operation == 'operation' else os.path.join(INPUTS, operation, name)


def read_file(operation, name):
    """The problems of benchdnn/inputs/<operation>/<name>; options but --batch are left aside."""
    path = path_of(operation, name)
    if not os.path.exists(path):
        raise ShapeError(f'there is no input file {path}')
    problems = []
    for token in tokens_of(path):
        if token.startswith('--batch='):
            problems += read_file(operation, token[len('--batch='):])
        elif not token.startswith('--'):
            problems.append(PARSERS[operation](token))
    return problems


def find_file(name):
    """'resnet_50', 'shapes_resnet_50' or 'conv/shapes_resnet_50' -> ('conv', 'shapes_resnet_50')"""
    if name == 'operations':
        return 'operation', name
    wanted = name.split('/')
    operations = [wanted[0]] if len(wanted) == 2 else ['matmul', 'conv']
    for operation in operations:
        for file in (wanted[-1], 'shapes_' + wanted[-1]):
            if os.path.exists(os.path.join(INPUTS, operation, file)):
                return operation, file
    raise ShapeError(f"no input file is called '{name}'")


def all_files():
    """Every shape file that is not part of another one."""
    found = []
    for operation in ('matmul', 'conv'):
        folder = os.path.join(INPUTS, operation)
        names = sorted(name for name in os.listdir(folder) if name.startswith('shapes_'))
        included = {token[len('--batch='):] for name in names
                    for token in tokens_of(os.path.join(folder, name)) if token.startswith('--batch=')}
        found += [(operation, name) for name in names if name not in included]
    return found
