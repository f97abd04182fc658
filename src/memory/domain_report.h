/* What a user can set and read of a domain: limits, budgets, usage, dumps to files. */
#ifndef SRC_MEMORY_DOMAIN_REPORT_H
#define SRC_MEMORY_DOMAIN_REPORT_H

#include "src/memory/allocation.h"

/* 0 is the machine's limit. */
void domain_set_limits(struct memory_domain *domain, size_t object_bytes, size_t total_bytes);

/* Those in force; either pointer may be NULL. */
void domain_get_limits(struct memory_domain *domain, size_t *object_bytes, size_t *total_bytes);

/* NEO_INVALID_ARGUMENT: no such kind. NEO_KIND_ALL is none for a budget, and the sum for usage. */
neo_status domain_set_budget(struct memory_domain *domain, neo_allocation_kind kind, size_t bytes);
neo_status domain_get_usage(struct memory_domain *domain, neo_allocation_kind kind,
                            neo_memory_usage *out);

/* NEO_IO_ERROR: the file cannot be written, with the reason in the log. */
neo_status domain_dump_history(struct memory_domain *domain, const char *path);
neo_status domain_dump_peak(struct memory_domain *domain, const char *path);

/* For all dumps; "-" is the standard output. NULL, or close's status (which is given that of the
 * writing), with the reason in the log. */
FILE *report_open(const char *path);
neo_status report_close(FILE *file, const char *path, neo_status status);

#endif
