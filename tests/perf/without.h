/* The library without some of its kernels: what they are worth is what is slower then. */
#ifndef PERF_WITHOUT_H
#define PERF_WITHOUT_H

/* Takes kernels out of their lists before the first primitive is made. Names are shell patterns,
 * separated by commas, as in "gemm_f32_panels_2x*_neon,dot_f32_neon". */
void without_kernels(const char *names);

/* A line for each kernel: its name, and how far its functions and tables are behind `origin`. */
void print_kernels(const void *origin);

#endif
