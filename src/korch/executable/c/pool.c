// Packed constants of all models of a process, each once: kernels of one model for several shapes pack the same.

#include <pthread.h>

typedef struct korch_held {
    struct korch_held *next;
    void *data;
    size_t bytes;
    uint64_t sum;
    long users;
} korch_held;

// Libraries share the pool of the first that was loaded, whose code is then never unloaded; its form is part of the name.
typedef struct {
    pthread_mutex_t lock;
    korch_held *first;
} korch_pool_1;

static korch_pool_1 korch_own_pool = {PTHREAD_MUTEX_INITIALIZER, NULL};
static korch_pool_1 *korch_pool = &korch_own_pool;
static int korch_freed; // whether constants were packed that the pool held already

KORCH_API void *korch_get_pool_1(void) { return korch_pool; }
KORCH_API void korch_set_pool_1(void *pool) { korch_pool = pool; }

// Sum of (2i + 1) w_i mod 2^64 over 64-bit words.
static uint64_t korch_checksum(const char *bytes, size_t size) {
    const uint64_t *words = (const uint64_t *)bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < size / 8; ++i) sum += (2 * i + 1) * words[i];
    return sum;
}

int korch_pack(void **packed, size_t bytes) {
    uint64_t sum = korch_checksum(*packed, bytes);
    korch_held *fresh = malloc(sizeof *fresh), *h;
    if (!fresh) return 1;
    pthread_mutex_lock(&korch_pool->lock);
    for (h = korch_pool->first; h; h = h->next)
        if (h->sum == sum && h->bytes == bytes && !memcmp(h->data, *packed, bytes)) break;
    if (h) {
        free(*packed);
        free(fresh);
        korch_freed = 1;
        *packed = h->data;
        ++h->users;
    } else {
        *fresh = (korch_held){korch_pool->first, *packed, bytes, sum, 1};
        korch_pool->first = fresh;
    }
    pthread_mutex_unlock(&korch_pool->lock);
    return 0;
}

void korch_unpack(void *packed) {
    pthread_mutex_lock(&korch_pool->lock);
    korch_held **at = &korch_pool->first;
    while (*at && (*at)->data != packed) at = &(*at)->next;
    korch_held *h = *at;
    int last = !h || --h->users == 0;
    if (h && last) *at = h->next;
    pthread_mutex_unlock(&korch_pool->lock);
    if (last) {
        free(packed);
        free(h);
    }
}
