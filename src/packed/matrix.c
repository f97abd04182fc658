/* Plain weights as matrices, which become panels and come back. Rows of one tap are a regular
 * matrix. Those of several taps are gathered lane by lane, some of them at a time, since a panel's
 * groups do not end where taps do. */
#include "src/packed/matrix.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/tensor/element.h"

enum { LANE_BYTES = 64 /* whole groups of any type */, LANES = GEMM_MOST_NR };

struct weights_matrix weights_matrix_of(const neo_memory_desc *plain)
{
    int last = plain->ndims - 1;
    return (struct weights_matrix){.taps = 1,
                                   .channels = (size_t)plain->dims[last - 1],
                                   .lane = plain->strides[last],
                                   .channel = plain->strides[last - 1],
                                   .tap_count = {1, 1, 1}};
}

struct weights_matrix weights_matrix_of_convolution(const neo_memory_desc *plain, bool grouped)
{
    int first = grouped, ndims = plain->ndims;
    struct weights_matrix matrix = {.taps = 1,
                                    .channels = (size_t)plain->dims[first + 1],
                                    .lane = plain->strides[first],
                                    .channel = plain->strides[first + 1],
                                    .tap_count = {1, 1, 1}};
    for (int i = 1; i <= ndims - first - 2; i++) {
        matrix.tap_count[MATRIX_TAP_DIMS - i] = plain->dims[ndims - i];
        matrix.tap[MATRIX_TAP_DIMS - i] = plain->strides[ndims - i];
        matrix.taps *= (size_t)plain->dims[ndims - i];
    }
    return matrix;
}

static neo_dim tap_offset(const struct weights_matrix *matrix, size_t tap)
{
    neo_dim offset = 0;
    for (int i = MATRIX_TAP_DIMS - 1; i >= 0; i--) {
        offset += (neo_dim)(tap % (size_t)matrix->tap_count[i]) * matrix->tap[i];
        tap /= (size_t)matrix->tap_count[i];
    }
    return offset;
}

static neo_dim lane_offset(const struct weights_matrix *matrix, const struct weights_panel *panel,
                           size_t i)
{
    return panel->matrix + (neo_dim)(panel->first + i) * matrix->lane;
}

/* The bytes of rows [row, row + count) of a lane, from the tensor or to it. */
static void copy_rows(const struct weights_matrix *matrix, size_t bytes, unsigned char *lane,
                      size_t row, size_t count, unsigned char *rows, bool to_tensor)
{
    neo_dim step = matrix->channel * (neo_dim)bytes;
    while (count) {
        size_t channel = row % matrix->channels;
        size_t part = min_size(matrix->channels - channel, count);
        unsigned char *at = lane + tap_offset(matrix, row / matrix->channels) * (neo_dim)bytes +
                            (neo_dim)channel * step;
        for (size_t i = 0; i < part; i++, at += step, rows += bytes)
            memcpy(to_tensor ? at : rows, to_tensor ? rows : at, bytes);
        row += part, count -= part;
    }
}

static void pack_regular(const struct weights_matrix *matrix, const struct gemm_side *side,
                         const struct weights_panel *panel)
{
    gemm_side_pack(side, &(struct gemm_side_panel){
                             .data = panel->data,
                             .first = (ptrdiff_t)(lane_offset(matrix, panel, 0) +
                                                  (neo_dim)panel->row * matrix->channel),
                             .lane = (ptrdiff_t)matrix->lane,
                             .step = (ptrdiff_t)matrix->channel,
                             .width = panel->width,
                             .count = panel->lanes,
                             .k = panel->depth,
                             .out = panel->panel,
                             .sums = panel->sums,
                         });
}

static void pack_taps(const struct weights_matrix *matrix, const struct gemm_side *side,
                      const struct weights_panel *panel)
{
    size_t bytes = element_bytes(side->stored), rows = LANE_BYTES / bytes;
    for (size_t p = 0; p < panel->depth; p += rows) {
        _Alignas(16) unsigned char values[LANES * LANE_BYTES];
        size_t count = min_size(rows, panel->depth - p);
        for (size_t i = 0; i < panel->lanes; i++)
            copy_rows(matrix, bytes,
                      (unsigned char *)panel->data + lane_offset(matrix, panel, i) * (neo_dim)bytes,
                      panel->row + p, count, values + i * LANE_BYTES, false);
        size_t at = gemm_panel_at(side->group, panel->width, 0, p);
        gemm_side_pack(side, &(struct gemm_side_panel){
                                 .data = values,
                                 .lane = (ptrdiff_t)rows,
                                 .step = 1,
                                 .width = panel->width,
                                 .count = panel->lanes,
                                 .k = count,
                                 .out = (char *)panel->panel + at * element_bytes(side->to),
                                 .sums = panel->sums,
                             });
    }
}

void weights_matrix_pack(const struct weights_matrix *matrix, const struct gemm_side *side,
                         const struct weights_panel *panel)
{
    (matrix->taps == 1 ? pack_regular : pack_taps)(matrix, side, panel);
}

static void unpack_taps(const struct weights_matrix *matrix, const struct gemm_type *type,
                        neo_data_type to, const struct weights_panel *panel)
{
    size_t bytes = element_bytes(element_of(to)), rows = LANE_BYTES / bytes;
    for (size_t p = 0; p < panel->depth; p += rows) {
        _Alignas(16) unsigned char values[LANES * LANE_BYTES];
        size_t count = min_size(rows, panel->depth - p);
        size_t at = gemm_panel_at(type->group, panel->width, 0, p);
        unpack_panel(&(struct unpack_panel){
            .from = type->element,
            .to = element_of(to),
            .group = type->group,
            .width = panel->width,
            .count = panel->lanes,
            .k = count,
            .panel = (const char *)panel->panel + at * element_bytes(type->element),
            .dst = values,
            .lane = (ptrdiff_t)rows,
            .step = 1,
        });
        for (size_t i = 0; i < panel->lanes; i++)
            copy_rows(matrix, bytes,
                      (unsigned char *)panel->data + lane_offset(matrix, panel, i) * (neo_dim)bytes,
                      panel->row + p, count, values + i * LANE_BYTES, true);
    }
}

void weights_matrix_unpack(const struct weights_matrix *matrix, const struct gemm_type *type,
                           neo_data_type to, const struct weights_panel *panel)
{
    if (matrix->taps > 1) {
        unpack_taps(matrix, type, to, panel);
        return;
    }
    neo_dim first = lane_offset(matrix, panel, 0) + (neo_dim)panel->row * matrix->channel;
    unpack_panel(&(struct unpack_panel){
        .from = type->element,
        .to = element_of(to),
        .group = type->group,
        .width = panel->width,
        .count = panel->lanes,
        .k = panel->depth,
        .panel = panel->panel,
        .dst = element_to(to, panel->data, first),
        .lane = (ptrdiff_t)matrix->lane,
        .step = (ptrdiff_t)matrix->channel,
    });
}
