// SPDX-License-Identifier: BSD-3-Clause
// A handler that adds, and takes far longer than a switch permits. For handlers_fabric_test.
#include <tributary-handler.h>

static void combine(void* accumulator, const void* elements, size_t n) {
  int8_t* to = accumulator;
  const int8_t* from = elements;
  for (volatile int waited = 0; waited < 200000; ++waited) {
  }
  for (size_t i = 0; i < n; ++i) {
    to[i] = (int8_t)(to[i] + from[i]);
  }
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "slow add",
    .type = "i8",
    .element_bytes = sizeof(int8_t),
    .alignment = 1,
    .combine = combine,
};
