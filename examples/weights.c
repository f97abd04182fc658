/* Weights packed once and found again: two engines, as two programs would have them, and one file.
 *
 *   cc weights.c $(pkg-config --cflags --libs neoprene) && ./a.out [FILE]
 *
 * The first engine packs the weights into the file. The second one finds them there: first by
 * hashing the plain weights, then by their recorded content, without reading them at all. Programs
 * that set nothing get the same from NEOPRENE_WEIGHTS_CACHE=FILE in the environment. */
#include <neoprene/neoprene.h>
#include <neoprene/packed_weights.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { M = 4, K = 512, N = 300 };

static void check(neo_status status, const char *call)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, neo_status_text(status));
    exit(1);
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    neo_dim dims[] = {rows, columns};
    check(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, tag), "neo_memory_desc_init_tag");
    return desc;
}

/* What a program has: an engine that keeps packed weights in a file. */
struct program {
    neo_engine *engine;
    neo_stream *stream;
    neo_weights_provider provider;
    neo_primitive_desc *pd;
};

static struct program start(const char *path)
{
    struct program p;
    check(neo_engine_create(&p.engine), "neo_engine_create");
    check(neo_stream_create(&p.stream, p.engine, NULL), "neo_stream_create");
    check(neo_weights_file_provider_create(&p.provider, path, NULL), "file_provider_create");
    check(neo_engine_set_weights_provider(p.engine, &p.provider), "set_weights_provider");
    neo_matmul_desc desc = {
        .src = matrix(M, K, "ab"), .weights = matrix(K, N, "any"), .dst = matrix(M, N, "ab")};
    check(neo_matmul_primitive_desc_create(&p.pd, p.engine, &desc, NULL), "primitive_desc_create");
    return p;
}

static void end(struct program *p)
{
    neo_primitive_desc_destroy(p->pd);
    neo_stream_destroy(p->stream);
    neo_engine_destroy(p->engine);
    p->provider.destroy(p->provider.context);
}

static void multiply(const struct program *p, const neo_packed_weights *weights, float *dst)
{
    static float src[M * K];
    for (int i = 0; i < M * K; i++)
        src[i] = (float)(i % 7 - 3);
    neo_memory_desc src_desc = matrix(M, K, "ab"), dst_desc = matrix(M, N, "ab");
    neo_memory *in, *out;
    check(neo_memory_create(&in, &src_desc, p->engine, src), "neo_memory_create");
    check(neo_memory_create(&out, &dst_desc, p->engine, dst), "neo_memory_create");
    neo_primitive *matmul;
    check(neo_primitive_create(&matmul, p->pd), "neo_primitive_create");
    neo_exec_arg args[] = {{NEO_ARG_SRC, in},
                           {NEO_ARG_WEIGHTS, neo_packed_weights_memory(weights)},
                           {NEO_ARG_DST, out}};
    check(neo_primitive_execute(matmul, p->stream, 3, args), "neo_primitive_execute");
    neo_primitive_destroy(matmul);
    neo_memory_destroy(in);
    neo_memory_destroy(out);
}

static void report(const struct program *p, const char *who)
{
    neo_weights_statistics s;
    check(neo_engine_get_weights_statistics(p->engine, &s), "get_weights_statistics");
    printf("%s: %llu packed, %llu found, %llu in memory instead of the file\n", who,
           (unsigned long long)s.inserts, (unsigned long long)s.hits,
           (unsigned long long)s.fallbacks);
}

/* Packs or finds, multiplies, and releases. content: NULL, or the weights' content. */
static void run(const char *path, const char *who, float *weights,
                const neo_weights_content *content, float *dst)
{
    struct program p = start(path);
    neo_memory_desc desc = matrix(K, N, "ab");
    neo_memory *plain;
    neo_packed_weights *packed;
    check(neo_memory_create(&plain, &desc, p.engine, weights), "neo_memory_create");
    if (content)
        check(neo_weights_pack_known(&packed, p.pd, p.stream, plain, content), "pack_known");
    else
        check(neo_weights_pack(&packed, p.pd, p.stream, plain), "neo_weights_pack");
    neo_memory_destroy(plain); /* from here on the plain weights may go */
    multiply(&p, packed, dst);
    report(&p, who);
    neo_packed_weights_destroy(packed);
    end(&p);
}

int main(int count, char **words)
{
    static float weights[K * N], nowhere[K * N], results[3][M * N];
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/neoprene-example-XXXXXX", folder ? folder : "/tmp");
    const char *file = count > 1 ? words[1] : path;
    if (count < 2) {
        int fd = mkstemp(path);
        if (fd < 0 || close(fd))
            return 1;
    }
    for (int i = 0; i < K * N; i++)
        weights[i] = (float)(i * 31 % 17 - 8);

    run(file, "first engine ", weights, NULL, results[0]);
    run(file, "second engine", weights, NULL, results[1]);
    /* A model's file can hold this beside the weights, so that they need not be read. */
    neo_weights_content content = neo_weights_hash(weights, sizeof weights);
    run(file, "by content   ", nowhere, &content, results[2]);
    if (count < 2)
        unlink(path);

    int equal = 1;
    for (int i = 0; i < M * N; i++)
        equal &= results[0][i] == results[1][i] && results[0][i] == results[2][i];
    puts(equal ? "the results are equal" : "the results differ");
    return !equal;
}
