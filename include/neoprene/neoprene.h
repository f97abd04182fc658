/* Neoprene: convolution and matrix-multiplication primitives for AArch64. This header has all of it
 * but neoprene/openmp.h, which is for programs that use OpenMP. */
#ifndef NEOPRENE_NEOPRENE_H
#define NEOPRENE_NEOPRENE_H

#include "neoprene/allocation.h"
#include "neoprene/attributes.h"
#include "neoprene/binary.h"
#include "neoprene/block_weights.h"
#include "neoprene/cache.h"
#include "neoprene/concat.h"
#include "neoprene/convolution.h"
#include "neoprene/deconvolution.h"
#include "neoprene/eltwise.h"
#include "neoprene/engine.h"
#include "neoprene/inner_product.h"
#include "neoprene/log.h"
#include "neoprene/lrn.h"
#include "neoprene/matmul.h"
#include "neoprene/memory.h"
#include "neoprene/network.h"
#include "neoprene/normalization.h"
#include "neoprene/packed_weights.h"
#include "neoprene/pooling.h"
#include "neoprene/prelu.h"
#include "neoprene/primitive.h"
#include "neoprene/quantization.h"
#include "neoprene/reduction.h"
#include "neoprene/reorder.h"
#include "neoprene/resampling.h"
#include "neoprene/shape_predictor.h"
#include "neoprene/shuffle.h"
#include "neoprene/softmax.h"
#include "neoprene/sum.h"
#include "neoprene/threadpool.h"
#include "neoprene/types.h"
#include "neoprene/weights.h"

#endif
