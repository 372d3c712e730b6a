// What the linker writes as tables into a program, and model.c reads.
#ifndef KORCH_TABLES_H
#define KORCH_TABLES_H

typedef enum { KORCH_ARENA, KORCH_WEIGHTS, KORCH_INPUT, KORCH_OUTPUT } korch_room;
typedef enum { KORCH_IDLE, KORCH_KERNEL, KORCH_HOST } korch_work;

// A buffer: `at` is a byte offset in the arena or in the weights file, or the number of an input or output.
typedef struct {
    korch_room room;
    uint64_t at;
} korch_place;

// A step: its buffers are korch_places[first .. first + reads - 1], then what it writes.
typedef struct {
    korch_work work;
    int kernel, first, reads;
    uint64_t workspace;
} korch_step;

typedef struct {
    korch_place from;
    int output;
    uint64_t bytes;
} korch_copy;

typedef struct {
    const char *name, *dtype;
    int rank;
    const int64_t *shape;
    uint64_t bytes;
} korch_port;

#endif
