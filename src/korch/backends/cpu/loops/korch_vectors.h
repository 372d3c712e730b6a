/* Vectors of floats: in registers, and where they lie anywhere in memory. */
#ifndef KORCH_VECTORS_H
#define KORCH_VECTORS_H
typedef float korch_f4 __attribute__((vector_size(16)));
typedef float korch_at4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float korch_f8 __attribute__((vector_size(32)));
typedef float korch_at8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float korch_f16 __attribute__((vector_size(64)));
typedef float korch_at16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t korch_i4 __attribute__((vector_size(16)));
typedef int32_t korch_i8 __attribute__((vector_size(32)));
typedef int32_t korch_i16 __attribute__((vector_size(64)));

/* Of a or b, lane by lane; in C, ?: takes no vectors everywhere. */
#define KORCH_PICK(lanes, mask, a, b) \
  ((korch_f##lanes)(((korch_i##lanes)(a) & (mask)) | ((korch_i##lanes)(b) & ~(mask))))
#endif
