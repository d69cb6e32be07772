/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a shared object has to have so that Tributary can load it as a handler: an operator of your
   own, which switches and workers apply to the elements of packets. For C11 and C++;
   docs/reference/handlers.md has the rules. A handler in C:

       #include <tributary-handler.h>

       static void combine(void* accumulator, const void* elements, size_t n) { ... }

       const struct tributary_handler tributary_handler = {
           .version = TRIBUTARY_HANDLER_VERSION,
           .name = "saturating add",
           .type = "i8",
           .element_bytes = 1,
           .alignment = 1,
           .combine = combine,
       };
*/

#include <stddef.h>
#include <stdint.h>

#define TRIBUTARY_HANDLER_VERSION 1

/* Everything that the members point to belongs to the shared object, and stays there until it is
   unloaded. */
struct tributary_handler {
  uint32_t version; /* TRIBUTARY_HANDLER_VERSION */

  /* For people: 1 to 64 printable characters of ASCII. */
  const char* name;

  /* The type of the elements, as ranks name it in their calls: "f32", "i8", "f32_i32", ... or
     "opaque4", "opaque8", "opaque16" for structures of your own of so many bytes. */
  const char* type;

  uint32_t element_bytes; /* what an element of that type has */

  /* Of the addresses that combine() gets: a power of two, at most 64. Packets are not aligned: with
     more than 1, combine() gets copies of up to 16 KiB at a time. */
  uint32_t alignment;

  /* accumulator = accumulator op elements, n elements each, which may be 0. The two do not overlap.
     Sums are made in any order and grouping: the operator has to be associative and commutative, or
     near enough to it. What an element holds may be anything, and nothing else may be written.
     combine() runs on several threads at once, between packets: it must not wait, allocate, lock,
     or call the system. */
  void (*combine)(void* accumulator, const void* elements, size_t n);

  /* Fills n elements with one that changes nothing. May be NULL. Nothing is aligned beyond
     `alignment`. */
  void (*identity)(void* elements, size_t n);
};

#ifdef __cplusplus
extern "C" {
#endif

/* The shared object defines it. */
extern __attribute__((visibility("default"))) const struct tributary_handler tributary_handler;

#ifdef __cplusplus
}
#endif
