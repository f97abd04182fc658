/* Packing plain weights into a packed layout, and back. */
#ifndef SRC_PACKED_PACK_H
#define SRC_PACKED_PACK_H

#include "arch/cpu.h"
#include "neoprene/memory.h"
#include "src/threading/parallel.h"

/* Two descriptors of the same tensor, one plain (strided) and one packed, with their first
 * elements. Packing writes each byte of packed once; unpacking each element of plain; it cannot
 * undo Winograd's transform. Work is split over panels. */
struct weights_transfer {
    const neo_memory_desc *plain, *packed;
    float *plain_data, *packed_data; /* the side that is read is not written */
    const struct cpu *cpu;
};

void weights_pack(const struct weights_transfer *transfer, const struct parallel *parallel,
                  int threads);
void weights_unpack(const struct weights_transfer *transfer, const struct parallel *parallel,
                    int threads);

#endif
