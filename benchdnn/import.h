/* Tensors whose values come from files instead of a generator. */
#ifndef BENCHDNN_IMPORT_H
#define BENCHDNN_IMPORT_H

#include "benchdnn/tensor.h"

/* If there is a file PREFIX.ARG.bin (--buffer-prefix=PREFIX, the tensor's argument number), reads
 * it as the bytes of the tensor's buffer and sets values to what they mean; the buffer is then to
 * be stored again. A file of another size ends the program with status 1. */
neo_status import_values(struct tensor *tensor, neo_engine *engine, neo_stream *stream);

#endif
