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

/* Where those of its nested ones begin. */
static struct reservation *after_own(const struct implementation *impl, struct reservation *tokens,
                                     bool is_nested)
{
    return tokens + (is_nested && !impl->problem.operation->create_resource ? 0 : 1);
}

static void destroy_tree(struct implementation *impl, struct reservation *tokens, bool is_nested);

/* The first count ones, the last one first. */
static void destroy_nested(struct implementation *impl, struct reservation *tokens, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        struct reservation *first = tokens;
        for (int j = 0; j < i; j++)
            first += implementation_nested_tokens(impl->nested[j]);
        destroy_tree(impl->nested[i], first, true);
    }
}

static void destroy_tree(struct implementation *impl, struct reservation *tokens, bool is_nested)
{
    struct reservation *nested = after_own(impl, tokens, is_nested);
    destroy_nested(impl, nested, impl->nested_count);
    if (nested > tokens)
        destroy_own(impl, tokens);
}

static neo_status create_own(struct implementation *impl, struct reservation *token, bool is_nested)
{
    const struct operation *operation = impl->problem.operation;
    if (operation->create_resource)
        return operation->create_resource(impl, token);
    return is_nested ? NEO_OK : reserve_block(impl, token);
}

static neo_status create_tree(struct implementation *impl, struct reservation *tokens,
                              bool is_nested)
{
    neo_status status = create_own(impl, tokens, is_nested);
    struct reservation *nested = after_own(impl, tokens, is_nested), *first = nested;
    if (status != NEO_OK)
        return status;
    for (int i = 0; i < impl->nested_count; i++) {
        status = create_tree(impl->nested[i], first, true);
        if (status != NEO_OK) {
            destroy_nested(impl, nested, i);
            if (nested > tokens)
                destroy_own(impl, tokens);
            return status;
        }
        first += implementation_nested_tokens(impl->nested[i]);
    }
    return NEO_OK;
}

neo_status create_resource(struct implementation *impl, struct reservation *tokens)
{
    return create_tree(impl, tokens, false);
}

void destroy_resource(struct implementation *impl, struct reservation *tokens)
{
    destroy_tree(impl, tokens, false);
}
