// SPDX-License-Identifier: BSD-3-Clause
// Merges lists: a packet is a list of pairs of a value and an index, the greatest value first, and
// the outcome is a list of the same length, of the greatest of both. So the vector has to fit into
// one packet, or to be meant packet by packet.
//
// A list that is shorter ends with what identity() makes, the least number of all. Of equal values the lower index comes
// first, so that it does not matter in which order lists are merged.
#include <float.h>
#include <string.h>

#include <tributary-handler.h>

struct entry {
  float value;
  int32_t index;
};

// As many as are merged at a time: more than a packet has.
#define ENTRIES_MAX 2048

static int goes_before(const struct entry* a, const struct entry* b) {
  return a->value > b->value || (a->value == b->value && a->index < b->index);
}

static struct entry entry_at(const unsigned char* list, size_t i) {
  struct entry entry;
  memcpy(&entry, list + i * sizeof entry, sizeof entry);
  return entry;
}

static void merge(unsigned char* ours, const unsigned char* theirs, size_t n) {
  struct entry merged[ENTRIES_MAX];
  size_t i = 0;
  size_t j = 0;
  for (size_t k = 0; k < n; ++k) {
    const struct entry a = entry_at(ours, i);
    const struct entry b = entry_at(theirs, j);
    const int takes_b = goes_before(&b, &a);
    merged[k] = takes_b ? b : a;
    i += takes_b ? 0 : 1;
    j += takes_b ? 1 : 0;
  }
  memcpy(ours, merged, n * sizeof merged[0]);
}

static void combine(void* accumulator, const void* elements, size_t n) {
  unsigned char* to = accumulator;
  const unsigned char* from = elements;
  while (n > 0) {
    const size_t entries = n < ENTRIES_MAX ? n : ENTRIES_MAX;
    merge(to, from, entries);
    to += entries * sizeof(struct entry);
    from += entries * sizeof(struct entry);
    n -= entries;
  }
}

static void identity(void* elements, size_t n) {
  const struct entry none = {-FLT_MAX, INT32_MAX};
  unsigned char* to = elements;
  for (size_t i = 0; i < n; ++i) {
    memcpy(to + i * sizeof none, &none, sizeof none);
  }
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "top-k merge",
    .type = "f32_i32",
    .element_bytes = sizeof(struct entry),
    .alignment = 1,
    .combine = combine,
    .identity = identity,
};
