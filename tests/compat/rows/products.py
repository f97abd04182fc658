"""numpy's matrices, slices, transposes and batches, which become many calls of sgemm and sgemv."""
import contextlib

import numpy

random = numpy.random.default_rng(1)


def matrix(*sizes):
    whole = random.standard_normal([2 * size for size in sizes], dtype=numpy.float32)
    return whole[tuple(slice(0, None, int(random.integers(1, 3))) for _ in sizes)][
        tuple(slice(0, size) for size in sizes)]


def transposed(x):
    return numpy.asfortranarray(x) if random.integers(2) else x


def row(_):
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
