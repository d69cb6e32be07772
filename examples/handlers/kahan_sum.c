// SPDX-License-Identifier: BSD-3-Clause
// Adds floats that carry along what rounding took from them (Kahan, in Neumaier's form), each with
// that in an opaque8. The rank that wants the sum adds both. A rank contributes {value, 0}.
//
// Compile it without -ffast-math, or the compiler finds that the error is always zero.
#include <string.h>

#include <tributary-handler.h>

struct sum {
  float value;
  float lost;
};

static float magnitude(float value) {
  return value < 0 ? -value : value;
}

static void combine(void* accumulator, const void* elements, size_t n) {
  unsigned char* to = accumulator;
  const unsigned char* from = elements;
  for (size_t i = 0; i < n; ++i, to += sizeof(struct sum), from += sizeof(struct sum)) {
    struct sum a;
    struct sum b;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    const float total = a.value + b.value;
    const float lost = magnitude(a.value) >= magnitude(b.value) ? (a.value - total) + b.value
                                                                : (b.value - total) + a.value;
    a.value = total;
    a.lost += b.lost + lost;
    memcpy(to, &a, sizeof a);
  }
}

static void identity(void* elements, size_t n) {
  memset(elements, 0, n * sizeof(struct sum));
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "Kahan sum",
    .type = "opaque8",
    .element_bytes = sizeof(struct sum),
    .alignment = 1,
    .combine = combine,
    .identity = identity,
};
