/* Runs the manager and the pool through every order in which threads can get their locks.
 *
 * The sources are compiled into this program with a lock of its own in place of src/core/lock.h:
 * taking one hands control to a scheduler, which decides who goes on. All shared state is behind
 * locks, so orders at lock points (and at the points the programs below add) are all there is.
 * The scheduler replays a program from the start for each order, depth first. Small programs are
 * searched exhaustively; larger ones for all orders with a bounded number of switches away from a
 * thread that could have gone on. */
#define SRC_CORE_LOCK_H

#include "tests/support/test.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/require.h"

struct lock {
    bool held;
};

static void wait_for_turn(struct lock *wanted);

static void lock_init(struct lock *lock)
{
    lock->held = false;
}

static void lock_deinit(struct lock *lock)
{
    require(!lock->held);
}

static void lock_take(struct lock *lock)
{
    wait_for_turn(lock);
    require(!lock->held);
    lock->held = true;
}

static void lock_give(struct lock *lock)
{
    require(lock->held);
    lock->held = false;
}

#include "src/memory/blocks/manager.c"
#include "src/memory/blocks/pool.c"

/* ---- the scheduler ---- */

enum { MOST = 3, DEPTH = 200, STAGE = MOST, NOBODY = -1, ALL = 1000 };

struct actor {
    pthread_t thread;
    pthread_cond_t turn;
    void (*program)(int me);
    bool is_finished;
    struct lock *wants;
};

/* Only the one whose turn it is touches this, except for waiting. The last actor is the test. */
static struct {
    pthread_mutex_t mutex;
    int turn;
    int count; /* actors in this program; 0: they end */
    int last;  /* who was chosen last */
    int switches_left;
    struct actor actors[MOST + 1];
} stage = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turn = STAGE};

static _Thread_local int myself = STAGE;

/* The choices of this run, and how many there were at each point. */
static struct {
    int chosen[DEPTH], options[DEPTH], depth, known;
} path;

static void hand_over(int next)
{
    if (next == myself)
        return;
    pthread_mutex_lock(&stage.mutex);
    stage.turn = next;
    pthread_cond_signal(&stage.actors[next].turn);
    while (stage.turn != myself)
        pthread_cond_wait(&stage.actors[myself].turn, &stage.mutex);
    pthread_mutex_unlock(&stage.mutex);
}

static bool can_run(int actor)
{
    const struct actor *it = &stage.actors[actor];
    return !it->is_finished && !(it->wants && it->wants->held);
}

/* The actor that ran last comes first, so that option 0 never switches without need. */
static int list_options(int *options)
{
    int count = 0;
    if (stage.last != NOBODY && can_run(stage.last))
        options[count++] = stage.last;
    for (int i = 0; i < stage.count; i++)
        if (i != stage.last && can_run(i))
            options[count++] = i;
    return count;
}

static bool all_finished(void)
{
    for (int i = 0; i < stage.count; i++)
        if (!stage.actors[i].is_finished)
            return false;
    return true;
}

/* Follows the path as far as it goes, then always takes the first option. */
static int choose_next(void)
{
    if (all_finished())
        return STAGE;
    int options[MOST], count = list_options(options), at = path.depth++;
    require(count > 0); /* else: a deadlock */
    require(at < DEPTH);
    bool may_stay = options[0] == stage.last;
    path.options[at] = may_stay && !stage.switches_left ? 1 : count;
    if (at >= path.known)
        path.chosen[at] = 0;
    int next = options[path.chosen[at]];
    stage.switches_left -= may_stay && next != stage.last;
    stage.last = next;
    return next;
}

static void wait_for_turn(struct lock *wanted)
{
    if (myself == STAGE) /* the test itself, alone */
        return;
    stage.actors[myself].wants = wanted;
    hand_over(choose_next());
}

/* A point without a lock at which others may go on. */
static void pause_here(void)
{
    wait_for_turn(NULL);
}

static void wait_for_first_turn(void)
{
    pthread_mutex_lock(&stage.mutex);
    while (stage.turn != myself)
        pthread_cond_wait(&stage.actors[myself].turn, &stage.mutex);
    pthread_mutex_unlock(&stage.mutex);
}

static void *act(void *argument)
{
    myself = (int)(intptr_t)argument;
    wait_for_first_turn();
    while (stage.count) {
        stage.actors[myself].program(myself);
        stage.actors[myself].is_finished = true;
        hand_over(choose_next());
    }
    pthread_mutex_lock(&stage.mutex); /* ends, and does not wait for another turn */
    stage.turn = STAGE;
    pthread_cond_signal(&stage.actors[STAGE].turn);
    pthread_mutex_unlock(&stage.mutex);
    return NULL;
}

static void run_once(int switches)
{
    path.known = path.depth;
    path.depth = 0;
    stage.last = NOBODY;
    stage.switches_left = switches;
    hand_over(choose_next());
}

/* The next path in depth-first order; false when there is none. */
static bool advance_path(void)
{
    while (path.depth && path.chosen[path.depth - 1] + 1 >= path.options[path.depth - 1])
        path.depth--;
    if (path.depth)
        path.chosen[path.depth - 1]++;
    return path.depth > 0;
}

static void start_round(int count, void (*const *programs)(int me))
{
    stage.count = count;
    for (int i = 0; i < count; i++) {
        stage.actors[i].program = programs[i];
        stage.actors[i].is_finished = false;
        stage.actors[i].wants = NULL;
    }
}

/* ---- the programs ---- */

enum { BYTES = 1000 };

static struct block_pool *pool;
static struct block_manager manager;
static struct reservation shared;
static const void *owned[MOST]; /* the memory each actor works in */
static int in_use, most_in_use;
static int successes;

static void own(int me, const void *data)
{
    for (int i = 0; i < MOST; i++)
        require(owned[i] != data);
    owned[me] = data;
}

static void disown(int me)
{
    owned[me] = NULL;
}

/* False, and nothing is held, when a budget that another program set has no room. */
static bool reserve(size_t bytes, struct reservation *token)
{
    neo_status status = block_manager_reserve(&manager, bytes, token);
    require(status == NEO_OK || (status == NEO_UNSUPPORTED && !token->block));
    return status == NEO_OK;
}

static void use_once(int me)
{
    struct reservation token;
    in_use++;
    most_in_use = in_use > most_in_use ? in_use : most_in_use;
    if (!reserve(BYTES, &token)) {
        in_use--;
        return;
    }
    own(me, token.block->data);
    pause_here();
    disown(me);
    require(block_manager_unreserve(&manager, &token) == NEO_OK);
    in_use--;
}

static void use_twice(int me)
{
    use_once(me);
    use_once(me);
}

static void use_another_size(int me)
{
    struct reservation token;
    in_use++;
    most_in_use = in_use > most_in_use ? in_use : most_in_use;
    if (!reserve(3 * BYTES, &token)) {
        in_use--;
        return;
    }
    own(me, token.block->data);
    disown(me);
    require(block_manager_unreserve(&manager, &token) == NEO_OK);
    in_use--;
}

static void run_shared(int me)
{
    struct lease run;
    in_use++;
    most_in_use = in_use > most_in_use ? in_use : most_in_use;
    require(block_manager_lease(&manager, &shared, BYTES, &run) == NEO_OK);
    own(me, run.data);
    pause_here();
    disown(me);
    pause_here();
    require(block_manager_return(&manager, &run) == NEO_OK);
    in_use--;
}

static void give_back_a_copy(int me)
{
    (void)me;
    struct reservation copy = shared;
    pause_here();
    neo_status status = block_manager_unreserve(&manager, &copy);
    require(status == NEO_OK || status == NEO_INVALID_ARGUMENT);
    successes += status == NEO_OK;
}

static void trim(int me)
{
    (void)me;
    block_pool_trim(pool, 0);
    block_pool_set_budget(pool, BYTES);
    block_pool_trim(pool, 0);
}

/* ---- running them ---- */

struct check {
    const char *name;
    int count;
    void (*programs[MOST])(int me);
    bool has_handle; /* shared is reserved at the start */
    bool gives_handle;
    int switches; /* ALL: every order */
};

static const struct check checks[] = {
    {"two reservations", 2, {use_once, use_once}, false, false, ALL},
    {"a reservation beside a handle", 2, {use_once, use_once}, true, false, ALL},
    {"a reservation and a trim", 2, {use_once, trim}, true, false, ALL},
    {"two runs of one handle", 2, {run_shared, run_shared}, true, false, ALL},
    {"two returns of one reservation", 2, {give_back_a_copy, give_back_a_copy}, true, true, ALL},
    {"a return twice beside a reservation",
     3,
     {give_back_a_copy, give_back_a_copy, use_once},
     true,
     true,
     3},
    {"two reservations each", 2, {use_twice, use_twice}, false, false, 4},
    {"three reservations", 3, {use_once, use_once, use_once}, false, false, 2},
    {"three runs of one handle", 3, {run_shared, run_shared, run_shared}, true, false, 3},
    {"two sizes and a trim", 3, {use_twice, use_another_size, trim}, true, false, 2},
};

static void set_up_round(const struct check *check)
{
    static const struct block_pool_options options = {.window = 3};
    in_use = most_in_use = successes = 0;
    assert_int_equal(block_pool_create(&pool, &block_source_heap, &options), NEO_OK);
    block_manager_init(&manager, pool);
    if (check->has_handle)
        assert_int_equal(block_manager_reserve(&manager, BYTES, &shared), NEO_OK);
}

static void check_round(const struct check *check)
{
    struct block_pool_stats stats;
    if (check->has_handle && !check->gives_handle)
        assert_int_equal(block_manager_unreserve(&manager, &shared), NEO_OK);
    if (check->gives_handle)
        assert_int_equal(successes, 1);
    assert_int_equal(block_manager_deinit(&manager), NEO_OK);
    block_pool_stats(pool, &stats);
    assert_int_equal(stats.live_blocks, 0);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.acquires, stats.releases);
    assert_int_equal(stats.creations - stats.trims, stats.free_blocks);
    if (check->programs[1] != use_another_size)
        assert_true(stats.peak_bytes <=
                    (size_t)(most_in_use + check->has_handle) * block_pool_class_bytes(BYTES));
    block_pool_destroy(pool);
}

static void every_order_keeps_the_invariants(void **state)
{
    const struct check *check = *state;
    size_t orders = 0;
    path.depth = 0;
    do {
        set_up_round(check);
        start_round(check->count, check->programs);
        run_once(check->switches);
        check_round(check);
        orders++;
    } while (advance_path());
    printf("             %zu orders\n", orders);
    assert_true(orders > 10);
}

static int start_actors(void **state)
{
    (void)state;
    for (int i = 0; i <= MOST; i++)
        pthread_cond_init(&stage.actors[i].turn, NULL);
    for (int i = 0; i < MOST; i++)
        if (pthread_create(&stage.actors[i].thread, NULL, act, (void *)(intptr_t)i))
            return 1;
    return 0;
}

static int stop_actors(void **state)
{
    (void)state;
    stage.count = 0;
    for (int i = 0; i < MOST; i++) {
        hand_over(i);
        pthread_join(stage.actors[i].thread, NULL);
    }
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[count_of(checks)];
    for (size_t i = 0; i < count_of(checks); i++)
        tests[i] = (struct CMUnitTest){.name = checks[i].name,
                                       .test_func = every_order_keeps_the_invariants,
                                       .initial_state = (void *)(uintptr_t)&checks[i]};
    return _cmocka_run_group_tests("block_interleavings", tests, count_of(checks), start_actors,
                                   stop_actors);
}
