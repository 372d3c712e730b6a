/* Runs a model that Korch exported: main <weights.safetensors> <input files, raw bytes, in order> writes output0.bin ...
 * Timed: the median of a few runs goes to stdout. */
#include "korch.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 11 };

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* At a multiple of 64 bytes, so that the model uses it in place. */
static void *buffer(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!p) fail("buffer", "no memory");
    return p;
}

static void transfer(const char *path, const char *mode, void *data, size_t bytes) {
    FILE *file = fopen(path, mode);
    if (!file) fail(path, "cannot open");
    size_t done = *mode == 'r' ? fread(data, 1, bytes, file) : fwrite(data, 1, bytes, file);
    if (fclose(file) || done != bytes) fail(path, "has another size than the model's array");
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int earlier(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(const char *kind, const char *name, const char *dtype, const int64_t *shape, int rank) {
    printf("%s %s: %s[", kind, name, dtype);
    for (int k = 0; k < rank; ++k) printf("%s%lld", k ? "," : "", (long long)shape[k]);
    printf("]\n");
}

int main(int argc, char **argv) {
    char error[512];
    if (argc < 2) fail(argv[0], "usage: main <weights.safetensors> <input files>");
    korch_model *model = korch_open(argv[1], 0, error, sizeof error);
    if (!model) fail(argv[1], error);
    int inputs = korch_input_count(model), outputs = korch_output_count(model), rank;
    if (argc != 2 + inputs) fail(argv[0], "one file is needed for each input of the model");
    if (korch_host_step_count(model)) fail(argv[1], "this model needs korch_set_host");

    const void **in = malloc(sizeof *in * (size_t)(inputs + 1));
    void **out = malloc(sizeof *out * (size_t)(outputs + 1));
    for (int i = 0; i < inputs; ++i) {
        const int64_t *shape = korch_input_shape(model, i, &rank);
        show("input", korch_input_name(model, i), korch_input_dtype(model, i), shape, rank);
        void *data = buffer(korch_input_bytes(model, i));
        transfer(argv[2 + i], "rb", data, korch_input_bytes(model, i));
        in[i] = data;
    }
    for (int i = 0; i < outputs; ++i) out[i] = buffer(korch_output_bytes(model, i));

    double seconds[RUNS];
    for (int r = 0; r < RUNS; ++r) {
        double start = now();
        if (korch_run(model, in, out)) fail("run", korch_error(model));
        seconds[r] = now() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, earlier);

    for (int i = 0; i < outputs; ++i) {
        char path[32];
        const int64_t *shape = korch_output_shape(model, i, &rank);
        show("output", korch_output_name(model, i), korch_output_dtype(model, i), shape, rank);
        snprintf(path, sizeof path, "output%d.bin", i);
        transfer(path, "wb", out[i], korch_output_bytes(model, i));
        free(out[i]);
    }
    printf("median of %d runs: %.3f ms\n", RUNS, 1e3 * seconds[RUNS / 2]);
    for (int i = 0; i < inputs; ++i) free((void *)in[i]);
    free(in);
    free(out);
    korch_close(model);
    return 0;
}
