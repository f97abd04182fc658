"""Reads a tensor of the ONNX standard's test data: a message of Protocol Buffers with few fields."""
import numpy

DIMS, DATA_TYPE, RAW_DATA = 1, 2, 9  # fields of TensorProto
VARINT, BYTES = 0, 2                 # kinds of fields
TYPES = {1: 'f4', 2: 'u1', 3: 'i1', 4: 'u2', 5: 'i2', 6: 'i4', 7: 'i8', 9: '?', 10: 'f2', 11: 'f8', 12: 'u4', 13: 'u8'}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each; what is neither a number nor bytes ends the program's wish to read it."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == BYTES:
            value, at = data[at:at + value], at + value
        elif key & 7 != VARINT:
            raise ValueError(f'a field of kind {key & 7} is not in test data')
        yield key >> 3, value


def numbers(value):
    """Dimensions are a number each, or packed into bytes."""
    if isinstance(value, int):
        return [value]
    result, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        result.append(number)
    return result


def read(path):
    with open(path, 'rb') as file:
        parts = list(fields(file.read()))
    dims = [size for number, value in parts if number == DIMS for size in numbers(value)]
    given = dict(parts)
    return numpy.frombuffer(given.get(RAW_DATA, b''), '<' + TYPES[given[DATA_TYPE]]).reshape(dims)
