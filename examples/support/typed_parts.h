/* What layers are made of in a network of one type. Each function ends the program if it cannot do
 * what it is asked for. */
#ifndef EXAMPLES_SUPPORT_TYPED_PARTS_H
#define EXAMPLES_SUPPORT_TYPED_PARTS_H

#include "examples/support/typed.h"

/* ---- descriptors ---- */

neo_memory_desc typed_describe(neo_data_type type, const char *tag, int ndims, const neo_dim *dims);
neo_memory_desc typed_describe_image(neo_data_type type, neo_dim channels, neo_dim h, neo_dim w);
neo_memory_desc typed_describe_vector(neo_dim count);

/* Of a layer's result. That of the network is f32, and so are logits that a softmax replaces by
 * it. */
neo_data_type typed_type_of(const typed_network *n, int at);
neo_memory_desc typed_desc_of(const typed_network *n, int at);

/* ---- tensors, by their numbers in the network ---- */

int typed_add_tensor(typed_network *n, const neo_tensor *given);
int typed_add_shared(typed_network *n, neo_memory_desc desc, neo_tensor_sharing how, int with);
int typed_add_constant(typed_network *n, neo_memory *memory); /* which is the network's then */
int typed_add_vector(typed_network *n, const float *values, neo_dim count);

/* The one value by which a layer's result is quantised, and the tensor that has it. */
float typed_scale_value(const typed_network *n, int at);
int typed_scale_tensor(typed_network *n, int at);

/* A copy of f32 numbers in another type; s8 is what they are in units of scales, which have one
 * value for each index of a dimension in the mask. */
neo_memory *typed_converted(typed_network *n, neo_memory *from, neo_data_type type, int mask,
                            neo_memory *scales);

/* ---- nodes ---- */

/* Begun with attributes, to which scales are added together with their arguments; ended with the
 * description of a primitive, which goes. */
typed_node *typed_begin_node(typed_network *n, const char *name);
void typed_add_arg(typed_node *node, int arg, int tensor, uint32_t access);
void typed_add_scale(typed_node *node, int arg, int mask, int tensor);
void typed_end_node(typed_network *n, typed_node *node, neo_primitive_desc *pd);

/* A layer's result as an argument, with its scale if it is integers. */
void typed_add_layer_arg(typed_network *n, typed_node *node, int arg, int at, int tensor,
                         uint32_t access);
void typed_add_src(typed_network *n, typed_node *node, int arg, int at);

#endif
