// The model as the body of a loop.

static int korch_is_state(const korch_loop *loop, int output) {
    for (int k = 0; k < loop->states; ++k)
        if (loop->state_outputs[k] == output) return 1;
    return 0;
}

static char *korch_row(const korch_loop *loop, int k, int64_t number) {
    return loop->row_starts[k] + (size_t)number * korch_outputs[loop->row_outputs[k]].bytes;
}

// What an iteration has written is what the next one reads; that writes where this one has read, or to the spare buffer
// where this one has read what the caller gave.
static void korch_turn_states(const korch_loop *loop, const void **inputs, void **outputs, int given) {
    for (int k = 0; k < loop->states; ++k) {
        if (loop->state_inputs[k] < 0) continue;
        const void **in = &inputs[loop->state_inputs[k]];
        void **out = &outputs[loop->state_outputs[k]], *written = *out;
        *out = given ? loop->spare[k] : (void *)*in;
        *in = written;
    }
}

int korch_iterate(korch_model *m, const korch_loop *loop, const void **inputs, void **outputs, int64_t first,
                  int64_t last, int64_t *done, int *more) {
    _Alignas(KORCH_BUFFER_ALIGNMENT) int64_t counter = first;
    _Alignas(KORCH_BUFFER_ALIGNMENT) unsigned char going = 1;
    _Alignas(KORCH_BUFFER_ALIGNMENT) unsigned char again = 1;
    if (loop->counter >= 0) inputs[loop->counter] = &counter;
    if (loop->going >= 0) inputs[loop->going] = &going;
    if (loop->more >= 0) outputs[loop->more] = &again;
    for (*done = first; *done < last && again; ++*done) {
        counter = *done;
        for (int k = 0; k < loop->slices; ++k) {
            const int i = loop->slice_inputs[k];
            inputs[i] = loop->slice_starts[k] + (size_t)counter * korch_inputs[i].bytes;
        }
        for (int k = 0; k < loop->rows; ++k)
            if (!korch_is_state(loop, loop->row_outputs[k])) outputs[loop->row_outputs[k]] = korch_row(loop, k, counter);
        if (korch_run(m, inputs, outputs)) return 1;
        for (int k = 0; k < loop->rows; ++k) {
            const int i = loop->row_outputs[k];
            if (korch_is_state(loop, i)) memcpy(korch_row(loop, k, counter), outputs[i], korch_outputs[i].bytes);
        }
        korch_turn_states(loop, inputs, outputs, counter == 0);
    }
    *more = again;
    return 0;
}
