// SPDX-License-Identifier: BSD-3-Clause
// A handler in which one thing is wrong, as the compiler is told.
#include <tributary-handler.h>

#ifndef VERSION
#define VERSION TRIBUTARY_HANDLER_VERSION
#endif
#ifndef NAME
#define NAME "sum"
#endif
#ifndef TYPE
#define TYPE "i8"
#endif
#ifndef ELEMENT_BYTES
#define ELEMENT_BYTES 1
#endif
#ifndef ALIGNMENT
#define ALIGNMENT 1
#endif
#ifndef COMBINE
#define COMBINE combine
#endif
#ifndef BEYOND
#define BEYOND 0
#endif
#ifndef TO_ELEMENTS
#define TO_ELEMENTS 0
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif

#if defined(FAST) && defined(__SSE__)
#include <xmmintrin.h>

/* As the compiler's own, with -ffast-math: small floats are zero. */
__attribute__((constructor)) static void take_small_floats_for_zero(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
}
#endif

__attribute__((unused)) static void combine(void* accumulator, const void* elements, size_t n) {
  uint8_t* to = accumulator;
  const uint8_t* from = elements;
  for (size_t i = 0; i < n + BEYOND; ++i) {
    to[i] = (uint8_t)(to[i] + from[i] + BEYOND);
  }
  if (TO_ELEMENTS && n > 0) {
    ++((uint8_t*)elements)[n - 1];
  }
}

__attribute__((unused)) static void identity(void* elements, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    ((uint8_t*)elements)[i] = IDENTITY;
  }
}

#ifdef NOTHING
const int something_else = 1;
#else
const struct tributary_handler tributary_handler = {
    .version = VERSION,
    .name = NAME,
    .type = TYPE,
    .element_bytes = ELEMENT_BYTES,
    .alignment = ALIGNMENT,
    .combine = COMBINE,
    .identity = identity,
};
#endif
