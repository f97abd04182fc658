/* One row for each known core. Throughputs are of 128-bit operations; in-order is
 * IN_ORDER_NARROW or 0; slow is how many cycles it takes what is no sum (lists, copies,
 * transforms), if Neoverse N1 needs one; sizes are typical ones. */
#include "arch/cores.h"

#include <string.h>

enum { ARM = 0x41, CAVIUM = 0x43, FUJITSU = 0x46, HISILICON = 0x48, NVIDIA = 0x4e };
enum { QUALCOMM = 0x51, APPLE = 0x61, AMPERE = 0xc0 };
enum { K = 1024, M = 1024 * 1024 };

/* What threads cost: cycles of code, of which an in-order core needs twice as many, and times that
 * a cache line goes from one core to another, which takes about so many cycles. Both are computed
 * for these cores, not measured; bench-threads measures the machine that it runs on. */
#define THREADS(slowness, cycles_of_a_line) \
    (slowness) * 3000 + 8 * (cycles_of_a_line), (slowness)*500 + 4 * (cycles_of_a_line)
#define LITTLE THREADS(2, 55)  /* in order, in one cluster */
#define CLUSTER THREADS(1, 80) /* phones and laptops */
#define MESH THREADS(1, 125)   /* servers of one die */
#define FAR THREADS(1, 200)    /* of many cores or several dies */

/* GB/s: what one core reads from memory when all cores of such a machine do, at a usual clock: four
 * fifths of the memory's peak, by its channels, divided by the cores. Boards and phones by the ones
 * that are most common: Raspberry Pi 3, 4 and 5 (A53, A72, A76), LPDDR4X and LPDDR5 on 64 bits for
 * eight cores; servers: Ampere Altra and Graviton2 (N1, eight DDR4-3200 for 64), Graviton3 (V1,
 * eight DDR5-4800 for 64), Yitian 710 (N2, eight DDR5-4400 for 128), Graviton4 (V2, twelve
 * DDR5-5600 for 96), A64FX (HBM2), Kunpeng 920, AmpereOne (eight DDR5-5200 for 192); Apple's as it
 * states. */

/* Multiply-accumulates by MAC_*: f32, f16, FMLAL, SDOT, SMMLA, BFDOT, BFMMLA, SMULL. Those of the
 * X2, A510, A520, Apple's and Oryon are measured, most others are as documented. Where all kinds
 * are as fast the widest does most, but SMMLA and bf16 are slower on Apple's cores than what they
 * stand for, BFMMLA on Oryon and the A520, and both kinds of bf16 on the A510. */
/* clang-format off */
#define MAC_OLD {1, 0, 0, 0, 0, 0, 0, 1} /* Armv8.0 */
#define MAC_OLD_NARROW {1, 0, 0, 0, 0, 0, 0, 0.5f} /* beside loads, and what adds the products */
#define MAC_OLD_WIDE {2, 0, 0, 0, 0, 0, 0, 1}
#define MAC_NARROW {1, 1, 0, 1, 0, 0, 0, 1} /* Armv8.2 */
#define MAC_DOT {2, 2, 0, 2, 0, 0, 0, 1}
#define MAC_DOT_WIDE {4, 4, 4, 4, 0, 0, 0, 2}
#define MAC_ALL {2, 2, 2, 2, 2, 2, 2, 1} /* Armv8.6 */
#define MAC_ALL_WIDE {4, 4, 4, 4, 4, 4, 4, 2}
#define MAC_ALL_WIDEST {6, 6, 6, 6, 6, 6, 6, 3}
#define MAC_A510 {1, 1, 1, 1, 1, 0.43f, 0.18f, 1}
#define MAC_A520 {1, 1, 1, 1, 1, 1, 0.4f, 1}
#define MAC_APPLE {4, 4, 4, 4, 1.65f, 1, 0.48f, 4}
#define MAC_APPLE_LITTLE {2, 2, 2, 2, 0.8f, 0.5f, 0.24f, 2}
#define MAC_ORYON {4, 4, 4, 4, 1.7f, 4, 1.75f, 4}

const struct core cores[] = {
    /* name           model                     implementer part  fmla latency loads in-order slow l1    l2     threads  multiply-accumulates  GHz GB/s */
    {"cortex-a34",    "Arm Cortex-A34",          ARM,       0xd02, 1,   8,      0,    1,      2.5, 32*K, 256*K, LITTLE, MAC_OLD_NARROW, 1.4, 0.8},
    {"cortex-a35",    "Arm Cortex-A35",          ARM,       0xd04, 1,   8,      0,    1,      2.5, 32*K, 256*K, LITTLE, MAC_OLD_NARROW, 1.4, 0.8},
    {"cortex-a53",    "Arm Cortex-A53",          ARM,       0xd03, 1,   4,      0,    1,      2.5, 32*K, 512*K, LITTLE, MAC_OLD_NARROW, 1.4, 0.8},
    {"cortex-a55",    "Arm Cortex-A55",          ARM,       0xd05, 1,   4,      0,    1,      2.5, 32*K, 128*K, LITTLE, MAC_NARROW, 1.8, 1.5},
    {"cortex-a57",    "Arm Cortex-A57",          ARM,       0xd07, 1,   4,      1,    0,      1,   32*K, 1*M,   CLUSTER, MAC_OLD, 1.9, 3},
    {"cortex-a72",    "Arm Cortex-A72",          ARM,       0xd08, 1,   3,      1,    0,      1,   32*K, 1*M,   CLUSTER, MAC_OLD, 1.8, 1},
    {"cortex-a73",    "Arm Cortex-A73",          ARM,       0xd09, 1,   4,      1,    0,      1,   64*K, 1*M,   CLUSTER, MAC_OLD, 2.2, 3},
    {"cortex-a75",    "Arm Cortex-A75",          ARM,       0xd0a, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.6, 4},
    {"cortex-a76",    "Arm Cortex-A76",          ARM,       0xd0b, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.4, 3},
    {"cortex-a76ae",  "Arm Cortex-A76AE",        ARM,       0xd0e, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.2, 5},
    {"neoverse-n1",   "Arm Neoverse N1",         ARM,       0xd0c, 2,   4,      2,    0,      1,   64*K, 1*M,   MESH, MAC_DOT, 2.5, 3},
    {"cortex-a77",    "Arm Cortex-A77",          ARM,       0xd0d, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.8, 5},
    {"cortex-a78",    "Arm Cortex-A78",          ARM,       0xd41, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_DOT, 2.8, 5},
    {"cortex-a78ae",  "Arm Cortex-A78AE",        ARM,       0xd42, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_DOT, 2.2, 5},
    {"cortex-a78c",   "Arm Cortex-A78C",         ARM,       0xd4b, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_DOT, 2.8, 5},
    {"cortex-a510",   "Arm Cortex-A510",         ARM,       0xd46, 1,   4,      2,    0,      1.7, 32*K, 256*K, LITTLE, MAC_A510, 1.8, 4},
    {"cortex-a520",   "Arm Cortex-A520",         ARM,       0xd80, 1,   4,      2,    0,      1.7, 32*K, 256*K, LITTLE, MAC_A520, 2.0, 5},
    {"cortex-a710",   "Arm Cortex-A710",         ARM,       0xd47, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_ALL, 2.8, 6},
    {"cortex-a715",   "Arm Cortex-A715",         ARM,       0xd4d, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_ALL, 2.8, 6},
    {"cortex-a720",   "Arm Cortex-A720",         ARM,       0xd81, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_ALL, 2.8, 6},
    {"cortex-a725",   "Arm Cortex-A725",         ARM,       0xd87, 2,   4,      3,    0,      1,   64*K, 512*K, CLUSTER, MAC_ALL, 3.0, 7},
    {"neoverse-e1",   "Arm Neoverse E1",         ARM,       0xd4a, 1,   4,      1,    0,      1,   32*K, 256*K, MESH, MAC_NARROW, 2.0, 3},
    {"neoverse-n2",   "Arm Neoverse N2",         ARM,       0xd49, 2,   4,      3,    0,      1,   64*K, 1*M,   MESH, MAC_ALL, 2.75, 2.4},
    {"neoverse-n3",   "Arm Neoverse N3",         ARM,       0xd8e, 2,   4,      3,    0,      1,   64*K, 1*M,   MESH, MAC_ALL, 3.0, 4},
    {"cortex-x1",     "Arm Cortex-X1",           ARM,       0xd44, 4,   4,      3,    0,      0.6, 64*K, 1*M,   CLUSTER, MAC_DOT_WIDE, 2.9, 6},
    {"cortex-x1c",    "Arm Cortex-X1C",          ARM,       0xd4c, 4,   4,      3,    0,      0.6, 64*K, 1*M,   CLUSTER, MAC_DOT_WIDE, 3.0, 6},
    {"neoverse-v1",   "Arm Neoverse V1",         ARM,       0xd40, 4,   4,      3,    0,      0.6, 64*K, 1*M,   MESH, MAC_ALL_WIDE, 2.6, 4},
    {"cortex-x2",     "Arm Cortex-X2",           ARM,       0xd48, 4,   2,      3,    0,      0.6, 64*K, 1*M,   CLUSTER, MAC_ALL_WIDE, 3.0, 7},
    {"cortex-x3",     "Arm Cortex-X3",           ARM,       0xd4e, 4,   2,      3,    0,      0.6, 64*K, 1*M,   CLUSTER, MAC_ALL_WIDE, 3.2, 7},
    {"neoverse-v2",   "Arm Neoverse V2",         ARM,       0xd4f, 4,   2,      3,    0,      0.6, 64*K, 2*M,   FAR, MAC_ALL_WIDE, 2.8, 5},
    {"cortex-x4",     "Arm Cortex-X4",           ARM,       0xd82, 4,   2,      3,    0,      0.6, 64*K, 2*M,   CLUSTER, MAC_ALL_WIDE, 3.3, 8},
    {"neoverse-v3",   "Arm Neoverse V3",         ARM,       0xd84, 4,   2,      3,    0,      0.6, 64*K, 2*M,   FAR, MAC_ALL_WIDE, 3.0, 5},
    {"cortex-x925",   "Arm Cortex-X925",         ARM,       0xd85, 6,   2,      4,    0,      0.6, 64*K, 2*M,   CLUSTER, MAC_ALL_WIDEST, 3.6, 8},
    {"thunderx2",     "Cavium ThunderX2",        CAVIUM,    0x0af, 2,   6,      2,    0,      1,   32*K, 256*K, MESH, MAC_OLD_WIDE, 2.2, 4.5},
    {"a64fx",         "Fujitsu A64FX",           FUJITSU,   0x001, 2,   9,      2,    0,      1,   64*K, 8*M,   FAR, MAC_DOT, 2.2, 17},
    {"tsv110",        "HiSilicon Kunpeng 920",   HISILICON, 0xd01, 1,   4,      2,    0,      1,   64*K, 512*K, FAR, MAC_NARROW, 2.6, 2.5},
    {"carmel",        "NVIDIA Carmel",           NVIDIA,    0x004, 2,   4,      2,    0,      1,   64*K, 2*M,   MESH, MAC_DOT, 2.2, 14},
    {"kryo-2xx-gold", "Qualcomm Kryo 2xx Gold",  QUALCOMM,  0x800, 1,   4,      1,    0,      1,   64*K, 1*M,   CLUSTER, MAC_OLD, 2.4, 4},
    {"kryo-2xx-silver", "Qualcomm Kryo 2xx Silver", QUALCOMM, 0x801, 1, 4,      0,    1,      2.5, 32*K, 512*K, LITTLE, MAC_OLD_NARROW, 1.8, 2},
    {"kryo-3xx-gold", "Qualcomm Kryo 3xx Gold",  QUALCOMM,  0x802, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.4, 4},
    {"kryo-3xx-silver", "Qualcomm Kryo 3xx Silver", QUALCOMM, 0x803, 1, 4,      0,    1,      2.5, 32*K, 128*K, LITTLE, MAC_NARROW, 1.8, 2},
    {"kryo-4xx-gold", "Qualcomm Kryo 4xx Gold",  QUALCOMM,  0x804, 2,   4,      2,    0,      1,   64*K, 256*K, CLUSTER, MAC_DOT, 2.4, 4},
    {"kryo-4xx-silver", "Qualcomm Kryo 4xx Silver", QUALCOMM, 0x805, 1, 4,      0,    1,      2.5, 32*K, 128*K, LITTLE, MAC_NARROW, 1.8, 2},
    {"oryon",         "Qualcomm Oryon",          QUALCOMM,  0x001, 4,   4,      4,    0,      0.6, 96*K, 12*M,  CLUSTER, MAC_ORYON, 3.8, 9},
    {"m1-icestorm",   "Apple M1 efficiency",     APPLE,     0x022, 2,   4,      2,    0,      1,   64*K, 4*M,   CLUSTER, MAC_APPLE_LITTLE, 2.1, 7},
    {"m1-firestorm",  "Apple M1 performance",    APPLE,     0x023, 4,   4,      3,    0,      0.6, 128*K, 12*M,  CLUSTER, MAC_APPLE, 3.2, 7},
    {"m1pro-icestorm", "Apple M1 Pro efficiency", APPLE,    0x024, 2,   4,      2,    0,      1,   64*K, 4*M,   CLUSTER, MAC_APPLE_LITTLE, 2.1, 18},
    {"m1pro-firestorm", "Apple M1 Pro performance", APPLE,  0x025, 4,   4,      3,    0,      0.6, 128*K, 12*M,  CLUSTER, MAC_APPLE, 3.2, 18},
    {"m1max-icestorm", "Apple M1 Max efficiency", APPLE,    0x028, 2,   4,      2,    0,      1,   64*K, 4*M,   CLUSTER, MAC_APPLE_LITTLE, 2.1, 30},
    {"m1max-firestorm", "Apple M1 Max performance", APPLE,  0x029, 4,   4,      3,    0,      0.6, 128*K, 12*M,  CLUSTER, MAC_APPLE, 3.2, 30},
    {"m2-blizzard",   "Apple M2 efficiency",     APPLE,     0x032, 2,   4,      2,    0,      1,   64*K, 4*M,   CLUSTER, MAC_APPLE_LITTLE, 2.4, 10},
    {"m2-avalanche",  "Apple M2 performance",    APPLE,     0x033, 4,   4,      3,    0,      0.6, 128*K, 16*M,  CLUSTER, MAC_APPLE, 3.5, 10},
    {"ampere1",       "Ampere AmpereOne",        AMPERE,    0xac3, 2,   4,      2,    0,      1,   64*K, 2*M,   FAR, MAC_ALL, 3.2, 1.6},
    {"ampere1a",      "Ampere AmpereOne A",      AMPERE,    0xac4, 2,   4,      2,    0,      1,   64*K, 2*M,   FAR, MAC_ALL, 3.2, 1.6},
    {"generic",       "an unknown core",         0,         0x000, 2,   4,      2,    0,      1,   32*K, 512*K, MESH, MAC_ALL, 2.5, 3},
};
/* clang-format on */
#undef THREADS
#undef LITTLE
#undef CLUSTER
#undef MESH
#undef FAR
#undef MAC_OLD
#undef MAC_OLD_NARROW
#undef MAC_OLD_WIDE
#undef MAC_NARROW
#undef MAC_DOT
#undef MAC_DOT_WIDE
#undef MAC_ALL
#undef MAC_ALL_WIDE
#undef MAC_ALL_WIDEST
#undef MAC_A510
#undef MAC_A520
#undef MAC_APPLE
#undef MAC_APPLE_LITTLE
#undef MAC_ORYON
const size_t core_count = sizeof cores / sizeof cores[0];

const struct core *core_find(uint64_t midr)
{
    uint64_t implementer = midr >> 24 & 0xff, part = midr >> 4 & 0xfff;
    size_t i = 0;
    while (i + 1 < core_count && (cores[i].implementer != implementer || cores[i].part != part))
        i++;
    return &cores[i];
}

const struct core *core_named(const char *name)
{
    for (size_t i = 0; i < core_count; i++)
        if (!strcmp(cores[i].name, name))
            return &cores[i];
    return NULL;
}

int core_speed(const struct core *core)
{
    return 2 * core->fmla_per_cycle - (core->in_order != 0);
}
