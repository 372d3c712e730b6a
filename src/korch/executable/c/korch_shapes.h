/* A model with a program for each of several shapes of its inputs: open the folder that Korch exported, find the program
 * for the shapes of a run, and use it by the functions of korch.h. */
#ifndef KORCH_SHAPES_H
#define KORCH_SHAPES_H
#include "korch.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct korch_shapes korch_shapes;

/* `threads` as in korch_open. NULL on failure, with one line of text in `error`. */
KORCH_API korch_shapes *korch_shapes_open(const char *folder, int threads, char *error, size_t error_bytes);

/* Closes all programs. */
KORCH_API void korch_shapes_close(korch_shapes *shapes);

/* How many programs there are. */
KORCH_API int korch_shapes_count(const korch_shapes *shapes);

/* The program for inputs of these shapes: lengths[i] has as many lengths as input i has axes. It is opened when it is
 * first found, and belongs to `shapes`: do not close it. NULL on failure, with one line of text in `error`; the text is
 * "" where there is no program for these shapes. Several threads may ask at once. */
KORCH_API korch_model *korch_shapes_find(korch_shapes *shapes, const int64_t *const *lengths, char *error,
                                         size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
