// SPDX-License-Identifier: BSD-3-Clause
// Multiplies complex numbers, each of which is two floats in an opaque8. They may be aligned, so
// that they can be read as they are: of a packet, combine() gets a copy.
#include <tributary-handler.h>

struct number {
  float real;
  float imaginary;
};

static void combine(void* accumulator, const void* elements, size_t n) {
  struct number* to = accumulator;
  const struct number* from = elements;
  for (size_t i = 0; i < n; ++i) {
    const struct number a = to[i];
    const struct number b = from[i];
    to[i].real = a.real * b.real - a.imaginary * b.imaginary;
    to[i].imaginary = a.real * b.imaginary + a.imaginary * b.real;
  }
}

static void identity(void* elements, size_t n) {
  struct number* to = elements;
  for (size_t i = 0; i < n; ++i) {
    to[i].real = 1;
    to[i].imaginary = 0;
  }
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "complex product",
    .type = "opaque8",
    .element_bytes = sizeof(struct number),
    .alignment = _Alignof(struct number),
    .combine = combine,
    .identity = identity,
};
