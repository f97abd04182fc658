/* Packing plain weights into the layouts of src/tensor/depthwise_layout.h, and back. */
#ifndef SRC_PACKED_DEPTHWISE_H
#define SRC_PACKED_DEPTHWISE_H

#include "neoprene/memory.h"
#include "src/threading/parallel.h"

/* Two descriptors of the same tensor, one plain and one packed, with their first elements. What is
 * packed from another type than packed's becomes that type first. Packing writes each byte of
 * packed once; unpacking each element of plain, which has packed's type. Work is split over blocks
 * of channels. */
struct depthwise_transfer {
    const neo_memory_desc *plain, *packed;
    void *plain_data, *packed_data; /* the side that is read is not written */
};

void depthwise_pack(const struct depthwise_transfer *transfer, const struct parallel *parallel,
                    int threads);
void depthwise_unpack(const struct depthwise_transfer *transfer, const struct parallel *parallel,
                      int threads);

#endif
