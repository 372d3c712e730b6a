/* A model linked by Korch: open it with its weights, run it, close it.
 *
 * Buffers are dense, row-major and hold korch_input_bytes / korch_output_bytes bytes. Inputs are never written;
 * outputs must not overlap inputs or each other. Buffers at multiples of 64 bytes are used in place, others through a
 * copy. A run allocates nothing. A model may be used from several threads: runs of one model take turns. */
#ifndef KORCH_H
#define KORCH_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KORCH_API __attribute__((visibility("default")))
#else
#define KORCH_API
#endif

typedef struct korch_model korch_model;

/* Maps the weights and prepares every kernel for `threads` threads (0: as many as the model was optimised for).
 * NULL on failure, with one line of text in `error`. The weights file must not change while the model is open. */
KORCH_API korch_model *korch_open(const char *weights_path, int threads, char *error, size_t error_bytes);
KORCH_API void korch_close(korch_model *model);

/* 0, or not 0 with the reason in korch_error. */
KORCH_API int korch_run(korch_model *model, const void *const *inputs, void *const *outputs);

/* The text of the last failed run; "" if none failed. Valid until the next run. */
KORCH_API const char *korch_error(const korch_model *model);

KORCH_API int korch_input_count(const korch_model *model);
KORCH_API int korch_output_count(const korch_model *model);
KORCH_API const char *korch_input_name(const korch_model *model, int i);
KORCH_API const char *korch_output_name(const korch_model *model, int i);
KORCH_API const char *korch_input_dtype(const korch_model *model, int i); /* "float32", "int64", "bool", ... */
KORCH_API const char *korch_output_dtype(const korch_model *model, int i);
KORCH_API const int64_t *korch_input_shape(const korch_model *model, int i, int *rank);
KORCH_API const int64_t *korch_output_shape(const korch_model *model, int i, int *rank);
KORCH_API size_t korch_input_bytes(const korch_model *model, int i);
KORCH_API size_t korch_output_bytes(const korch_model *model, int i);

/* Bytes of the arena that holds every intermediate value. */
KORCH_API size_t korch_arena_bytes(const korch_model *model);

/* Runs `runs` times and times every step: seconds_per_step[run * korch_step_count(model) + step]. The last column is
 * the whole run. 0, or not 0 as korch_run. */
KORCH_API int korch_step_count(const korch_model *model);
KORCH_API int korch_profile(korch_model *model, const void *const *inputs, void *const *outputs,
                            double *seconds_per_step, int runs);

/* The same, and for every step the largest share of the time around it in which a thread did not have its processor. */
KORCH_API int korch_profile_lost(korch_model *model, const void *const *inputs, void *const *outputs,
                                 double *seconds_per_step, double *lost_per_step, int runs);

/* Who runs the steps that are not native code. The callback computes step `step` of the plan and returns 0. */
typedef int (*korch_host)(void *context, int step, const void *const *in, void *out);
KORCH_API int korch_host_step_count(const korch_model *model);
KORCH_API void korch_set_host(korch_model *model, korch_host host, void *context);

/* How the model is the body of a loop. Inputs and outputs by number; -1 where there is none. */
typedef struct {
    int counter; /* the input that is the number of the iteration, an int64 */
    int going;   /* the input that is true, a bool */
    int more;    /* the output that says whether another iteration follows, a bool */

    /* What an iteration gives to the next. They write to the output's buffer and to `spare` in turn. */
    int states;
    const int *state_inputs, *state_outputs;
    void *const *spare;

    /* Outputs that are collected, and where that of iteration 0 goes. */
    int rows;
    const int *row_outputs;
    char *const *row_starts;

    /* Inputs that each iteration has another part of, and that of iteration 0. */
    int slices;
    const int *slice_inputs;
    const char *const *slice_starts;
} korch_loop;

/* Iterations `first` to at most `last` - 1; *done is the number of the one that would follow, *more whether it would
 * where there were no `last`. `inputs` and `outputs` hold the buffers of the next iteration then, those of states among
 * them: a state is where it would be read. Buffers that the loop gives need none. 0, or not 0 as korch_run. */
KORCH_API int korch_iterate(korch_model *model, const korch_loop *loop, const void **inputs, void **outputs,
                            int64_t first, int64_t last, int64_t *done, int *more);

#ifdef __cplusplus
}
#endif
#endif
