/* Resources of handles. */
#include "src/primitive/resource.h"

/* An empty token means that there is nothing to give back: no block is needed, or the budget has no
 * room for one and executions lease theirs. */
static neo_status reserve_block(struct implementation *impl, struct reservation *token)
{
    if (!impl->reserve_bytes)
        return NEO_OK;
    neo_status status = block_manager_reserve(&impl->blocks, impl->reserve_bytes, token);
    return status == NEO_UNSUPPORTED ? NEO_OK : status;
}

static void destroy_own(struct implementation *impl, struct reservation *token)
{
    const struct operation *operation = impl->problem.operation;
    if (operation->destroy_resource)
        operation->destroy_resource(impl, token);
    else if (token->block)
        block_manager_unreserve(&impl->blocks, token);
}

/* Of the first count nested ones, the last one first. */
static void destroy_nested(struct implementation *impl, struct reservation *tokens, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        struct reservation *first = tokens + 1;
        for (int j = 0; j < i; j++)
            first += impl->nested[j]->token_count;
        destroy_nested(impl->nested[i], first, impl->nested[i]->nested_count);
        destroy_own(impl->nested[i], first);
    }
}

/* A nested one has its part of the holder's block. */
static neo_status create_tree(struct implementation *impl, struct reservation *tokens,
                              bool is_nested)
{
    const struct operation *operation = impl->problem.operation;
    neo_status status = NEO_OK;
    if (operation->create_resource)
        status = operation->create_resource(impl, tokens);
    else if (!is_nested)
        status = reserve_block(impl, tokens);
    if (status != NEO_OK)
        return status;
    struct reservation *first = tokens + 1;
    for (int i = 0; i < impl->nested_count; i++) {
        status = create_tree(impl->nested[i], first, true);
        if (status != NEO_OK) {
            destroy_nested(impl, tokens, i);
            destroy_own(impl, tokens);
            return status;
        }
        first += impl->nested[i]->token_count;
    }
    return NEO_OK;
}

neo_status create_resource(struct implementation *impl, struct reservation *tokens)
{
    return create_tree(impl, tokens, false);
}

void destroy_resource(struct implementation *impl, struct reservation *tokens)
{
    destroy_nested(impl, tokens, impl->nested_count);
    destroy_own(impl, tokens);
}
