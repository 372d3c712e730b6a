/* Runs a model that Korch exported for several shapes of its one input: shapes <folder> <lengths, as in 8,3,224,224>
 * <input file, raw bytes> writes output0.bin ... */
#include "korch_shapes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_AXES = 16 };

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void transfer(const char *path, const char *mode, void *data, size_t bytes) {
    FILE *file = fopen(path, mode);
    if (!file) fail(path, "cannot open");
    size_t done = *mode == 'r' ? fread(data, 1, bytes, file) : fwrite(data, 1, bytes, file);
    if (fclose(file) || done != bytes) fail(path, "has another size than the model's array");
}

/* At a multiple of 64 bytes, so that the model uses it in place. */
static void *buffer(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!p) fail("buffer", "no memory");
    return p;
}

int main(int argc, char **argv) {
    char error[512];
    if (argc != 4) fail(argv[0], "usage: shapes <folder> <lengths> <input file>");
    korch_shapes *shapes = korch_shapes_open(argv[1], 0, error, sizeof error);
    if (!shapes) fail(argv[1], error);

    int64_t lengths[MOST_AXES] = {0};
    int axes = 0;
    for (char *text = argv[2]; *text && axes < MOST_AXES; text += *text == ',') lengths[axes++] = strtoll(text, &text, 10);
    const int64_t *inputs[] = {lengths};
    korch_model *model = korch_shapes_find(shapes, inputs, error, sizeof error);
    if (!model) {
        if (!*error)
            snprintf(error, sizeof error, "none of the %d programs is for this shape", korch_shapes_count(shapes));
        fail(argv[2], error);
    }

    void *input = buffer(korch_input_bytes(model, 0));
    transfer(argv[3], "rb", input, korch_input_bytes(model, 0));
    int outputs = korch_output_count(model);
    void **out = malloc(sizeof *out * (size_t)(outputs + 1));
    for (int i = 0; i < outputs; ++i) out[i] = buffer(korch_output_bytes(model, i));
    const void *in[] = {input};
    if (korch_run(model, in, out)) fail("run", korch_error(model));
    for (int i = 0; i < outputs; ++i) {
        char path[32];
        snprintf(path, sizeof path, "output%d.bin", i);
        transfer(path, "wb", out[i], korch_output_bytes(model, i));
        free(out[i]);
    }
    free(out);
    free(input);
    korch_shapes_close(shapes);
    return 0;
}
