/* NUMA nodes: system calls, and files below /sys/devices/system/node. */
#include "arch/nodes.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD_BITS = 8 * sizeof(unsigned long) };

/* The kernel takes one bit less than it is told of. */
bool nodes_allowed(struct nodes *nodes)
{
    memset(nodes, 0, sizeof *nodes);
    return syscall(SYS_get_mempolicy, NULL, nodes->bits, (unsigned long)NODES_MOST + 1, NULL,
                   (unsigned long)MPOL_F_MEMS_ALLOWED) == 0;
}

bool nodes_have(const struct nodes *nodes, int node)
{
    return node >= 0 && node < NODES_MOST && nodes->bits[node / WORD_BITS] >> node % WORD_BITS & 1;
}

void nodes_add(struct nodes *nodes, int node)
{
    nodes->bits[node / WORD_BITS] |= 1UL << node % WORD_BITS;
}

bool nodes_set_policy(void *data, size_t bytes, enum nodes_policy policy, const struct nodes *nodes)
{
    static const int modes[] = {[NODES_BIND] = MPOL_BIND, [NODES_INTERLEAVE] = MPOL_INTERLEAVE};
    return syscall(SYS_mbind, data, bytes, modes[policy], nodes->bits,
                   (unsigned long)NODES_MOST + 1, 0U) == 0;
}

/* The first line of a file, or an empty one. Nothing is allocated. */
static void read_line(const char *name, char *line, size_t size)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, line, size - 1);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file >= 0)
        (void)close(file);
}

/* Which of the nodes there are, counted from 0, this one is; -1: none. The list is as "0-3,8". */
static int place_in(const char *list, int node)
{
    int place = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        long first = strtol(list, &end, 10);
        if (end == list)
            return -1;
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (node >= first && node <= last)
            return place + (int)(node - first);
        place += (int)(last - first + 1);
        if (*end != ',')
            break;
    }
    return -1;
}

/* A node's file has a distance to each of the nodes there are. */
int nodes_distance(int node, int other)
{
    char line[1024], name[64];
    read_line("/sys/devices/system/node/online", line, sizeof line);
    int place = place_in(line, other);
    (void)snprintf(name, sizeof name, "/sys/devices/system/node/node%d/distance", node);
    read_line(name, line, sizeof line);
    const char *at = line;
    for (int i = 0; place >= 0; i++) {
        char *end;
        long distance = strtol(at, &end, 10);
        if (end == at || distance <= 0 || distance > INT_MAX)
            return 0;
        if (i == place)
            return (int)distance;
        at = end;
    }
    return 0;
}
