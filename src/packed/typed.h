/* Packing plain weights into the layouts of src/tensor/typed_layout.h, and back. */
#ifndef SRC_PACKED_TYPED_H
#define SRC_PACKED_TYPED_H

#include "neoprene/memory.h"
#include "src/packed/side.h"
#include "src/threading/parallel.h"

/* Two descriptors of the same tensor, one plain and one packed, with their first elements, and how
 * the plain one's elements become the panels'. Packing writes each byte of packed once; unpacking
 * each element of plain, which has packed's type. Work is split over panels. */
struct typed_transfer {
    const neo_memory_desc *plain, *packed;
    void *plain_data, *packed_data; /* the side that is read is not written */
    struct gemm_side side;
};

void typed_pack(const struct typed_transfer *transfer, const struct parallel *parallel,
                int threads);
void typed_unpack(const struct typed_transfer *transfer, const struct parallel *parallel,
                  int threads);

#endif
