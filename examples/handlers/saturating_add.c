// SPDX-License-Identifier: BSD-3-Clause
// Adds bytes, and stops at -128 and 127 instead of wrapping round.
#include <tributary-handler.h>

static void combine(void* accumulator, const void* elements, size_t n) {
  int8_t* to = accumulator;
  const int8_t* from = elements;
  for (size_t i = 0; i < n; ++i) {
    const int sum = to[i] + from[i];
    to[i] = (int8_t)(sum < -128 ? -128 : sum > 127 ? 127 : sum);
  }
}

static void identity(void* elements, size_t n) {
  int8_t* to = elements;
  for (size_t i = 0; i < n; ++i) {
    to[i] = 0;
  }
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "saturating add",
    .type = "i8",
    .element_bytes = sizeof(int8_t),
    .alignment = 1,
    .combine = combine,
    .identity = identity,
};
