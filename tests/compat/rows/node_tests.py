"""The ONNX standard's tests of one node, by ONNX Runtime's dnnl provider.

Values are 1 for each test that passes, else 0. CLIENT_NODE_TESTS chooses those with a word in their name."""
import contextlib
import functools
import glob
import mmap
import os
import sys

import numpy
import onnxruntime
from rows import onnx_tensor

ROOT = os.path.join(sys.prefix, 'share', 'libonnx-testdata', 'data', 'node')
ONLY = os.environ.get('CLIENT_NODE_TESTS', '')
NOT_RUN, NOT_PASSED, PASSED = 0, 1, 2


def tensors(folder, kind):
    paths = glob.glob(os.path.join(folder, f'{kind}_*.pb'))
    return [onnx_tensor.read(path) for path in sorted(paths, key=lambda path: int(path.split('_')[-1][:-3]))]


def passes(name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    folder = os.path.join(ROOT, name)
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


class Results:
    """Of all processes: a byte for each test."""

    def __init__(self, names):
        self.names = names
        self.bytes = mmap.mmap(-1, len(names))

    def first_that_has_not_run(self):
        return self.bytes.find(bytes([NOT_RUN]))

    def run_from(self, first):
        for i in range(first, len(self.names)):
            self.bytes[i] = PASSED if passes(self.names[i]) else NOT_PASSED
            print(self.names[i], self.bytes[i] == PASSED, flush=True)

    def run(self):
        """In another process, and from the next one on in a new one where a test ended it, as one of the distribution's
        library does."""
        while (first := self.first_that_has_not_run()) >= 0:
            if os.fork() == 0:
                self.run_from(first)
                os._exit(0)
            os.wait()
            ended = self.first_that_has_not_run()
            if ended >= 0:
                print(self.names[ended], 'ended the process', flush=True)
                self.bytes[ended] = NOT_PASSED
        return numpy.frombuffer(self.bytes, numpy.uint8).astype(numpy.float32) - NOT_PASSED


def row(_):
    onnxruntime.set_default_logger_severity(4)
    results = Results([folder for folder in sorted(os.listdir(ROOT)) if ONLY in folder])
    return contextlib.nullcontext(), [('node tests', lambda: functools.cache(results.run))]  # once is enough
