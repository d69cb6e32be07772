// SPDX-License-Identifier: BSD-3-Clause
// Adds up sketches of gradients as a switch has to where codes cannot be added: it decodes both by
// their tables, adds, and makes codes of the sums again, with a table of their own. Every switch on
// the way adds an error; the integers of sketched_allreduce, beside which this stands to compare,
// have none added.
//
// A packet begins with the values that its sixteen codes stand for, f32, and has the codes behind
// them, two in a byte, the first in the lower half. So a vector is meant packet by packet. All of it
// is elements of opaque16, the first four of a packet being the table.
#include <string.h>

#include <tributary-handler.h>

#define CODES 16
#define TABLE_BYTES (CODES * sizeof(float))
#define TABLE_ELEMENTS (TABLE_BYTES / 16)
// Of codes, one of each side: what they stand for together is one of so many sums.
#define PAIRS (CODES * CODES)

struct pair {
  uint32_t order;  // a number that grows with the sum
  uint32_t count;  // of elements that have it
  float sum;
  uint8_t codes;  // ours in the lower half
};

// As floats are ordered, NaNs at the ends: whatever bits come, there is one order.
static uint32_t order_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

static unsigned code_at(const uint8_t* codes, size_t i) {
  return codes[i / 2] >> (i % 2 * 4) & 0xf;
}

// Those that there are, in order; how many.
static size_t pairs_of(struct pair* pairs, const uint8_t* ours, const uint8_t* theirs, size_t codes) {
  uint32_t counts[PAIRS] = {0};
  for (size_t i = 0; i < codes; ++i) {
    ++counts[code_at(ours + TABLE_BYTES, i) | code_at(theirs + TABLE_BYTES, i) << 4];
  }
  float a[CODES];
  float b[CODES];
  memcpy(a, ours, sizeof a);
  memcpy(b, theirs, sizeof b);
  size_t found = 0;
  for (unsigned both = 0; both < PAIRS; ++both) {
    if (counts[both] == 0) {
      continue;
    }
    const float sum = a[both & 0xf] + b[both >> 4];
    const struct pair one = {order_of(sum), counts[both], sum, (uint8_t)both};
    size_t at = found++;
    for (; at > 0 && pairs[at - 1].order > one.order; --at) {
      pairs[at] = pairs[at - 1];
    }
    pairs[at] = one;
  }
  return found;
}

// As many elements of each code as can be; it stands for their mean.
static void code_anew(uint8_t* code_of, float* values, const struct pair* pairs, size_t n,
                      size_t codes) {
  double sums[CODES] = {0};
  uint64_t counts[CODES] = {0};
  uint64_t before = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t code = (2 * before + pairs[i].count) * CODES / (2 * codes);
    code_of[pairs[i].codes] = (uint8_t)code;
    sums[code] += (double)pairs[i].sum * pairs[i].count;
    counts[code] += pairs[i].count;
    before += pairs[i].count;
  }
  for (size_t code = 0; code < CODES; ++code) {
    values[code] = counts[code] != 0 ? (float)(sums[code] / (double)counts[code]) : 0;
  }
}

static void combine(void* accumulator, const void* elements, size_t n) {
  if (n <= TABLE_ELEMENTS) {
    return;  // no codes
  }
  uint8_t* ours = accumulator;
  const uint8_t* theirs = elements;
  const size_t codes = (n - TABLE_ELEMENTS) * 32;
  struct pair pairs[PAIRS];
  uint8_t code_of[PAIRS] = {0};
  float values[CODES];
  code_anew(code_of, values, pairs, pairs_of(pairs, ours, theirs, codes), codes);
  memcpy(ours, values, sizeof values);
  for (size_t i = 0; i < codes; i += 2) {
    const size_t at = TABLE_BYTES + i / 2;
    const unsigned low = (ours[at] & 0xfu) | (theirs[at] & 0xfu) << 4;
    const unsigned high = ours[at] >> 4 | (theirs[at] & 0xf0u);
    ours[at] = (uint8_t)(code_of[low] | code_of[high] << 4);
  }
}

const struct tributary_handler tributary_handler = {
    .version = TRIBUTARY_HANDLER_VERSION,
    .name = "sketch merge",
    .type = "opaque16",
    .element_bytes = 16,
    .alignment = 1,
    .combine = combine,
};
