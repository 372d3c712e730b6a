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

/* The sum of so many numbers, in pairs. */
static inline float korch_sum16(const float *x) {
  korch_f8 a = *(const korch_at8 *)x + *(const korch_at8 *)(x + 8);
  korch_f4 b, c;
  memcpy(&b, &a, sizeof b);
  memcpy(&c, (const char *)&a + sizeof b, sizeof c);
  b += c;
  return (b[0] + b[2]) + (b[1] + b[3]);
}

static inline float korch_sum32(const float *x) {
  korch_f16 a = *(const korch_at16 *)x + *(const korch_at16 *)(x + 16);
  return korch_sum16((const float *)&a);
}
#endif
