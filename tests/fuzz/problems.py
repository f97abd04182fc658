#!/usr/bin/env python3
"""Random problems for benchdnn, of every combination of types and attributes that is said to be served.

  tests/fuzz/problems.py DRIVER COUNT [SEED]    prints a batch file for conv, matmul or reorder

Each problem begins with --reset and so stands alone; benchdnn compares it with its scalar reference. Whatever
is printed has to be computed: UNIMPLEMENTED is a fault of the library, or of the table in docs/quantization.md.
"""
import random
import sys

FLOATS = ["f32", "f16", "bf16"]
BYTES = ["s8", "u8"]
HALVES = ["s4", "u4"]
WHOLE = FLOATS + BYTES + ["s32"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 24, 31, 33, 48, 65]

r = random.Random()


def maybe(share):
    return r.random() < share


def subset(bits):
    return r.randrange(1 << bits)


def is_integer(data_type):
    return data_type[0] in "su"


# ---- attributes ----


def scale(arg, mask, ndims=0, groups=None):
    """Values are powers of two, so that sums stay exact; with one value it is given."""
    data_type = r.choice(FLOATS)
    if mask == 0:
        return f"{arg}:common:{r.choice([0.25, 0.5, 2])}:{data_type}"
    tail = f":{groups[0]}x{groups[1]}" if groups else ""
    return f"{arg}:{mask}:{data_type}{tail}"


def zero_point(arg, mask, groups=None):
    data_type = r.choice(["s32", "s8", "u8", "s4", "u4"])
    if mask == 0:
        return f"{arg}:common:{r.choice([0, 1, 2, 3])}:{data_type}"
    tail = f":{groups[0]}x{groups[1]}" if groups else ""
    return f"{arg}:{mask}:{data_type}{tail}"


def post_ops(ndims):
    def one():
        kind = r.choice(["sum", "eltwise", "binary", "prelu", "select"])
        if kind == "sum":
            return r.choice(["sum", "sum:0.5", f"sum:0.25:{r.choice([1, 2])}"])
        if kind == "eltwise":
            return r.choice(["relu", "relu:0.5", "linear:0.5:1", "abs", "clip:-8:8", "hardswish:0.25:0.5", "logistic"])
        if kind == "prelu":
            return f"prelu:{r.choice([0, 2, (1 << ndims) - 1])}"
        if kind == "select":
            return f"select:{r.choice(WHOLE)}.{subset(ndims)}:{subset(ndims)}"
        return f"{r.choice(['add', 'sub', 'mul', 'max', 'min', 'ge'])}:{r.choice(WHOLE)}:{subset(ndims)}"

    return "+".join(one() for _ in range(r.choice([0, 0, 1, 1, 2, 3])))


def depthwise(ndims, weights):
    """A depthwise convolution as a post-operation, what is before and behind it, its scales and zero points, and the
    type of the image in between. What is before it is exact, since a rounding there is multiplied by the weights."""
    between = r.choice(BYTES if weights in BYTES and maybe(0.7) else FLOATS)
    kernel = r.choice([1, 2, 3, 3, 4, 5])
    before = r.choice(["", "", "relu+", "abs+", f"max:{r.choice(WHOLE)}:{subset(ndims)}+"])
    own = f"dw:k{kernel}s{r.choice([1, 1, 2, 3])}p{r.randrange(kernel)}:{r.choice(WHOLE)}"
    behind = post_ops(ndims)
    scales = [r.choice([scale("attr_post_op_dw_wei", 0), "attr_post_op_dw_wei:per_oc"]) if maybe(0.4) else "",
              scale("attr_post_op_dw_dst", 0) if maybe(0.3) else ""]
    zero_points = [zero_point("attr_post_op_dw_dst", 0) if maybe(0.3) else ""]
    return between, before + own + (f"+{behind}" if behind else ""), scales, zero_points


def option(name, *values):
    text = "+".join(value for value in values if value)
    return [f"--{name}={text}"] if text else []


def permuted(ndims):
    letters = list("abcdefgh"[:ndims])
    r.shuffle(letters)
    return "".join(letters)


# ---- matmul ----


def batch_sizes(dims):
    """src's and weights' sizes of batch dimensions: each may be broadcast."""
    return [1 if maybe(0.3) else d for d in dims], [1 if maybe(0.3) else d for d in dims]


def k_group(k):
    return r.choice([d for d in range(1, k + 1) if k % d == 0])


def matmul():
    batch = [r.choice([2, 3, 4]) for _ in range(r.choice([0, 0, 0, 1, 2]))]
    m, n, k = (r.choice(SIZES) for _ in range(3))
    left, right = batch_sizes(batch)
    ndims = len(batch) + 2
    integers = maybe(0.5)
    src = r.choice(BYTES if integers else FLOATS)
    weights = r.choice((BYTES + BYTES + HALVES) if integers else (FLOATS + BYTES + HALVES))
    dst = r.choice(WHOLE)
    row, column = 1 << (ndims - 2), 1 << (ndims - 1)
    # Groups along K add parts of different scales: those of f32 would need more digits than there are.
    group = k_group(k) if "f32" not in (src, weights) and k > 1 and maybe(0.3) else 0
    groups = (group, 1) if group else None
    grouped = row | column
    scales = [scale("src", r.choice([0, row])) if maybe(0.4) else "",
              scale("wei", grouped if group else r.choice([0, column]), groups=groups) if maybe(0.6) or group else "",
              scale("dst", r.choice([0, column])) if maybe(0.3) else ""]
    zero_points = [zero_point("src", r.choice([0, row])) if integers and maybe(0.4) else "",
                   zero_point("wei", grouped if group else r.choice([0, column]), groups)
                   if is_integer(weights) and maybe(0.4) else "",
                   zero_point("dst", r.choice([0, column])) if maybe(0.3) else ""]
    out = [f"--dt={src}:{weights}:{dst}"]
    if maybe(0.5):
        out += [f"--bia-dt={r.choice(WHOLE)}", f"--bia_mask={subset(ndims)}"]
    plain = "abcdefgh"[:ndims]
    turned = plain[:-2] + plain[-1] + plain[-2]
    out += [f"--stag={r.choice(['any', plain, turned])}", f"--wtag={r.choice(['any', plain, turned])}",
            f"--dtag={r.choice(['any', plain, plain, turned])}"]
    out += option("attr-scales", *scales) + option("attr-zero-points", *zero_points)
    out += option("attr-post-ops", post_ops(ndims))
    if is_integer(weights) and not integers:
        out += [f"--attr-fpmath={r.choice(['bf16', 'f16', 'any'])}:true"]
    elif src == weights == "f32" and maybe(0.3):
        out += [f"--attr-fpmath={r.choice(['bf16', 'f16', 'any'])}"]
    shape = "x".join(map(str, left + [m, k])) + ":" + "x".join(map(str, right + [k, n]))
    return out + [shape]


# ---- convolution ----


def axis(letter):
    kernel = r.choice([1, 1, 2, 3, 3, 4, 5])
    stride, dilation, padding = r.choice([1, 1, 2, 3]), r.choice([0, 0, 1]), r.randrange(kernel)
    extent = (kernel - 1) * (dilation + 1) + 1
    size = extent + r.randrange(9)
    return "".join(f"{k}{letter}{v}" for k, v in zip("ikspd", (size, kernel, stride, padding, dilation)))


def conv():
    space = "dhw"[r.choice([0, 1, 1, 1, 2]):]
    groups = r.choice([1, 1, 1, 2, 3, 8])
    ic, oc = r.choice([1, 1, 3, 4, 8, 17]), r.choice([1, 1, 2, 5, 8, 19])
    integers = maybe(0.5)
    src = r.choice(BYTES if integers else FLOATS)
    weights = r.choice(BYTES if integers else FLOATS + BYTES)
    channels = "per_oc"
    scales = [scale("src", 0) if maybe(0.4) else "",
              r.choice([scale("wei", 0), f"wei:{channels}"]) if maybe(0.5) else "",
              r.choice([scale("dst", 0), "dst:per_dim_1"]) if maybe(0.3) else ""]
    zero_points = [r.choice([zero_point("src", 0), zero_point("src", 2)]) if integers and maybe(0.4) else "",
                   zero_point("wei", 0) if is_integer(weights) and maybe(0.3) else "",
                   r.choice([zero_point("dst", 0), zero_point("dst", 2)]) if maybe(0.3) else ""]
    dst, ops = r.choice(WHOLE), post_ops(len(space) + 2)
    if maybe(0.2):  # the image in between is what the second convolution reads: it has one scale and zero point
        dst, ops, more_scales, more_zero_points = depthwise(len(space) + 2, weights)
        middle = is_integer(dst) and maybe(0.3)
        scales[2:] = [scale("dst", 0) if maybe(0.3) else ""] + more_scales
        zero_points[2:] = [zero_point("dst", 0) if middle else ""] + more_zero_points
    out = [f"--dir={r.choice(['FWD_I', 'FWD_D'])}", f"--dt={src}:{weights}:{dst}"]
    if maybe(0.5):
        out += [f"--bia-dt={r.choice(WHOLE)}"]
    if src == weights == "f32" and maybe(0.3):
        out += [f"--attr-fpmath={r.choice(['bf16', 'f16', 'any'])}"]
    tags = ["any", "abx", "axb"]
    out += [f"--stag={r.choice(tags)}", f"--wtag={r.choice(['any', 'any', 'abx'])}", f"--dtag={r.choice(tags)}"]
    out += option("attr-scales", *scales) + option("attr-zero-points", *zero_points)
    out += option("attr-post-ops", ops)
    grouping = f"g{groups}" if groups > 1 or maybe(0.2) else ""
    shape = f"{grouping}mb{r.choice([1, 2])}ic{ic * groups}oc{oc * groups}"
    return out + [shape + "".join(axis(letter) for letter in space)]


# ---- reorder ----


def reorder():
    ndims = r.choice([1, 2, 3, 4, 5])
    dims = [r.choice([1, 2, 3, 4, 6, 9, 17]) for _ in range(ndims)]
    types = WHOLE + HALVES
    scales = [scale(arg, subset(ndims)) if maybe(0.4) else "" for arg in ("src", "dst")]
    zero_points = [zero_point(arg, subset(ndims)) if maybe(0.4) else "" for arg in ("src", "dst")]
    out = [f"--sdt={r.choice(types)}", f"--ddt={r.choice(types)}", f"--stag={permuted(ndims)}",
           f"--dtag={permuted(ndims)}"]
    out += option("attr-scales", *scales) + option("attr-zero-points", *zero_points)
    return out + ["x".join(map(str, dims))]


def main():
    driver, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    r.seed(f"{driver} {seed}")
    print(f"# {count} random problems, seed {seed}")
    make = {"conv": conv, "matmul": matmul, "reorder": reorder}[driver]
    for _ in range(count):
        print("--reset", *make())


if __name__ == "__main__":
    main()
