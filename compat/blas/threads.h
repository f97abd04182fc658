/* The engine of the process, and the threads on which products run. */
#ifndef COMPAT_BLAS_THREADS_H
#define COMPAT_BLAS_THREADS_H

#include "neoprene/neoprene.h"

/* Made by the first call, and never destroyed. NULL: memory was exhausted then. */
neo_engine *threads_engine(void);
neo_stream *threads_stream(void);

#endif
