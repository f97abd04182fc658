/* Limits, usage and dumps of a domain. */
#include "src/memory/domain_report.h"

#include <errno.h>
#include <string.h>

#include "src/core/log.h"

void domain_set_limits(struct memory_domain *domain, size_t object_bytes, size_t total_bytes)
{
    atomic_store(&domain->limits.user_object, object_bytes);
    atomic_store(&domain->limits.user_total, total_bytes);
}

void domain_get_limits(struct memory_domain *domain, size_t *object_bytes, size_t *total_bytes)
{
    if (object_bytes)
        *object_bytes = limits_object(&domain->limits);
    if (total_bytes)
        *total_bytes = limits_total(&domain->limits);
}

neo_status domain_set_budget(struct memory_domain *domain, neo_allocation_kind kind, size_t bytes)
{
    if ((size_t)kind >= NEO_KIND_COUNT)
        return log_refusal("neo_engine_set_memory_budget", "there is no such kind");
    atomic_store(&domain->limits.kinds[kind].budget, bytes);
    return NEO_OK;
}

neo_status domain_get_usage(struct memory_domain *domain, neo_allocation_kind kind,
                            neo_memory_usage *out)
{
    if ((size_t)kind > NEO_KIND_ALL || !out)
        return log_refusal("neo_engine_get_memory_usage", "there is no such kind, or out is NULL");
    *out = tracker_usage(&domain->tracker, kind);
    return NEO_OK;
}

FILE *report_open(const char *path)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    FILE *file = fopen(path, "we");
    if (!file)
        log_error("cannot write '%s': %s", path, strerror(errno));
    return file;
}

neo_status report_close(FILE *file, const char *path, neo_status status)
{
    int failed = file == stdout ? fflush(file) : fclose(file);
    if (failed && status == NEO_OK)
        status = NEO_IO_ERROR;
    if (status == NEO_IO_ERROR)
        log_error("cannot write '%s': %s", path, strerror(errno));
    return status;
}

static neo_status dump(struct memory_domain *domain, const char *path,
                       neo_status (*write_to)(struct tracker *, FILE *))
{
    if (!path)
        return log_refusal("dump of memory", "path is NULL");
    FILE *file = report_open(path);
    return file ? report_close(file, path, write_to(&domain->tracker, file)) : NEO_IO_ERROR;
}

neo_status domain_dump_history(struct memory_domain *domain, const char *path)
{
    return dump(domain, path, tracker_write_history);
}

neo_status domain_dump_peak(struct memory_domain *domain, const char *path)
{
    return dump(domain, path, tracker_write_peak);
}
