/* How many threads a pool has when nobody says. */
#ifndef SRC_THREADING_THREADS_H
#define SRC_THREADING_THREADS_H

/* NEOPRENE_NUM_THREADS if it is a number from 1 to DEFAULT_POOL_MAX_THREADS, else what the machine
 * grants the calling thread now. Reads files; keep the answer. */
int threads_default(void);

#endif
