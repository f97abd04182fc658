"""Whole networks by ONNX Runtime's dnnl provider: the ONNX standard's, whose weights are constants, with the image that
its results are for."""
import contextlib
import os
import sys

import numpy
import onnxruntime
from rows import onnx_tensor

ROOT = os.path.join(sys.prefix, 'share', 'libonnx-testdata', 'data', 'light')
NETWORKS = ('squeezenet', 'shufflenet', 'resnet50')


def image(shape):
    count = numpy.prod(shape)
    return (numpy.arange(count, dtype=numpy.float64).reshape(shape) / count).astype(numpy.float32)


def prepared(name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(os.path.join(ROOT, f'light_{name}.onnx'), options,
                                           providers=['DnnlExecutionProvider', 'CPUExecutionProvider'])
    data = {argument.name: image(argument.shape) for argument in session.get_inputs()}
    expected = onnx_tensor.read(os.path.join(ROOT, f'light_{name}_output_0.pb'))

    def run():
        value, = session.run(None, data)
        if not numpy.allclose(value, expected, 1e-3, 1e-7):
            raise ArithmeticError(f'{abs(value - expected).max():.1e} from the standard\'s values')
        return value
    return run


def row(_):
    onnxruntime.set_default_logger_severity(4)
    return contextlib.nullcontext(), [(name, lambda name=name: prepared(name)) for name in NETWORKS]
