// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that knows nothing of Tributary and compares what its collectives give with what
// it computes by itself. `mpi_collectives check`, or one of the other scenes at the end.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// In bytes, as the test sets it; vectors are smaller, as large, and larger.
enum { THRESHOLD = 16384 };

enum form { SIGNED, UNSIGNED, TRUTH, FLOATING };

// Elements are one or two numbers of a form: a complex number has two, a pair a number and an int.
struct kind {
  const char* name;
  MPI_Datatype type;
  enum form form;
  size_t bytes;    // of a number
  size_t numbers;  // of an element
};

struct pair_kind {
  const char* name;
  MPI_Datatype type;
  enum form form;
  size_t bytes;
  size_t index_at;
  size_t extent;
};

static int failures = 0;
static int checks = 0;
static int world_rank, world_size;

static void expect(bool right, const char* what, const char* name, const char* op, int count) {
  ++checks;
  if (!right) {
    ++failures;
    fprintf(stderr, "rank %d: %s of %d %s, %s: wrong\n", world_rank, what, count, name, op);
  }
}

static void* make(size_t bytes) {
  void* memory = malloc(bytes + 1);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

// ---- Numbers, of whatever form, by way of 64 bits ----

static void put(void* at, enum form form, size_t bytes, int64_t value) {
  if (form == FLOATING) {
    const float f = (float)value;
    const double d = (double)value;
    const long double l = (long double)value;
    if (bytes == 16) {
      memset(at, 0, 16);
    }
    memcpy(at,
           bytes == 4   ? (const void*)&f
           : bytes == 8 ? (const void*)&d
                        : (const void*)&l,
           bytes == 16 ? 10 : bytes);
    return;
  }
  memcpy(at, &value, bytes);  // little-endian
}

static int64_t get(const void* at, enum form form, size_t bytes) {
  if (form == FLOATING) {
    float f;
    double d;
    long double l;
    if (bytes == 4) {
      memcpy(&f, at, 4);
      return (int64_t)f;
    }
    if (bytes == 8) {
      memcpy(&d, at, 8);
      return (int64_t)d;
    }
    memcpy(&l, at, 16);
    return (int64_t)l;
  }
  uint64_t bits = 0;
  memcpy(&bits, at, bytes);
  if (form == SIGNED && bytes < 8 && (bits >> (8 * bytes - 1)) != 0) {
    bits |= ~UINT64_C(0) << (8 * bytes);
  }
  return (int64_t)bits;
}

// What rank `rank` contributes: small where it has to be exact, all bits where it may wrap.
static int64_t given(enum form form, int rank, size_t i) {
  const int64_t small = (int64_t)((i * 7 + (size_t)rank * 13) % 23) - 11;
  switch (form) {
    case FLOATING:
      return small;
    case TRUTH:
      return small > 0;
    default:
      return small * (int64_t)UINT64_C(0x0123456789abcdef);
  }
}

static int64_t combine(MPI_Op op, enum form form, int64_t a, int64_t b) {
  const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  const bool less = form == UNSIGNED ? ua < ub : a < b;
  if (op == MPI_SUM) {
    return (int64_t)(ua + ub);
  }
  if (op == MPI_PROD) {
    return (int64_t)(ua * ub);
  }
  if (op == MPI_MIN) {
    return less ? a : b;
  }
  if (op == MPI_MAX) {
    return less ? b : a;
  }
  if (op == MPI_BAND) {
    return a & b;
  }
  if (op == MPI_BOR) {
    return a | b;
  }
  if (op == MPI_BXOR) {
    return a ^ b;
  }
  if (op == MPI_LAND) {
    return a != 0 && b != 0;
  }
  if (op == MPI_LOR) {
    return a != 0 || b != 0;
  }
  return (a != 0) != (b != 0);
}

static void fill(const struct kind* kind, void* vector, size_t count, int rank) {
  for (size_t i = 0; i < count * kind->numbers; ++i) {
    put((char*)vector + i * kind->bytes, kind->form, kind->bytes, given(kind->form, rank, i));
  }
}

static bool is_right(const struct kind* kind, MPI_Op op, const void* vector, size_t first,
                     size_t count, int ranks) {
  const size_t begin = first * kind->numbers;
  for (size_t i = begin; i < begin + count * kind->numbers; ++i) {
    char memory[16];
    put(memory, kind->form, kind->bytes, given(kind->form, 0, i));
    for (int rank = 1; rank < ranks; ++rank) {
      char other[16];
      put(other, kind->form, kind->bytes, given(kind->form, rank, i));
      put(memory, kind->form, kind->bytes,
          combine(op, kind->form, get(memory, kind->form, kind->bytes),
                  get(other, kind->form, kind->bytes)));
    }
    const char* got = (const char*)vector + (i - begin) * kind->bytes;
    if (get(got, kind->form, kind->bytes) != get(memory, kind->form, kind->bytes)) {
      return false;
    }
  }
  return true;
}

// ---- One type and operator ----

static void check_allreduce(const struct kind* kind, MPI_Op op, const char* op_name, int count,
                            MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t bytes = (size_t)count * kind->numbers * kind->bytes;
  void* in = make(bytes);
  void* out = make(bytes);
  fill(kind, in, (size_t)count, rank);
  memset(out, 0x55, bytes);
  MPI_Allreduce(in, out, count, kind->type, op, comm);
  expect(is_right(kind, op, out, 0, (size_t)count, size), "allreduce", kind->name, op_name, count);
  MPI_Allreduce(MPI_IN_PLACE, in, count, kind->type, op, comm);
  expect(is_right(kind, op, in, 0, (size_t)count, size), "allreduce in place", kind->name, op_name,
         count);
  free(in);
  free(out);
}

static void check_reduce(const struct kind* kind, MPI_Op op, const char* op_name, int count,
                         MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t bytes = (size_t)count * kind->numbers * kind->bytes;
  void* in = make(bytes);
  void* out = make(bytes);
  for (int root = 0; root < size; ++root) {
    fill(kind, in, (size_t)count, rank);
    MPI_Reduce(in, rank == root ? out : NULL, count, kind->type, op, root, comm);
    expect(rank != root || is_right(kind, op, out, 0, (size_t)count, size), "reduce", kind->name,
           op_name, count);
    if (rank == root) {
      MPI_Reduce(MPI_IN_PLACE, in, count, kind->type, op, root, comm);
    } else {
      MPI_Reduce(in, NULL, count, kind->type, op, root, comm);
    }
    expect(rank != root || is_right(kind, op, in, 0, (size_t)count, size), "reduce in place",
           kind->name, op_name, count);
  }
  free(in);
  free(out);
}

static void check_reduce_scatter(const struct kind* kind, MPI_Op op, const char* op_name, int count,
                                 MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t part = (size_t)count * kind->numbers * kind->bytes;
  void* in = make(part * (size_t)size);
  void* out = make(part);
  int* counts = make((size_t)size * sizeof(int));
  for (int i = 0; i < size; ++i) {
    counts[i] = count;
  }
  const size_t first = (size_t)rank * (size_t)count;
  fill(kind, in, (size_t)count * (size_t)size, rank);
  MPI_Reduce_scatter_block(in, out, count, kind->type, op, comm);
  expect(is_right(kind, op, out, first, (size_t)count, size), "reduce_scatter_block", kind->name,
         op_name, count);
  MPI_Reduce_scatter(in, out, counts, kind->type, op, comm);
  expect(is_right(kind, op, out, first, (size_t)count, size), "reduce_scatter", kind->name, op_name,
         count);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in, count, kind->type, op, comm);
  expect(is_right(kind, op, in, first, (size_t)count, size), "reduce_scatter_block in place",
         kind->name, op_name, count);
  free(in);
  free(out);
  free(counts);
}

// Parts of different sizes; the last but one rank gets none.
static void check_uneven_reduce_scatter(const struct kind* kind, MPI_Op op, const char* op_name,
                                        int count, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* counts = make((size_t)size * sizeof(int));
  size_t all = 0, first = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = i == size - 2 ? 0 : count + 3 * i;
    first += i < rank ? (size_t)counts[i] : 0;
    all += (size_t)counts[i];
  }
  const size_t mine = (size_t)counts[rank];
  const size_t element = kind->numbers * kind->bytes;
  void* in = make(all * element);
  void* out = make(mine * element);
  fill(kind, in, all, rank);
  MPI_Reduce_scatter(in, mine != 0 ? out : NULL, counts, kind->type, op, comm);
  expect(is_right(kind, op, out, first, mine, size), "uneven reduce_scatter", kind->name, op_name,
         count);
  MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, kind->type, op, comm);
  expect(is_right(kind, op, in, first, mine, size), "uneven reduce_scatter in place", kind->name,
         op_name, count);
  free(in);
  free(out);
  free(counts);
}

// ---- All types and operators ----

struct named_op {
  const char* name;
  MPI_Op op;
};

#define OP(name) \
  { #name, name }
#define KIND(type, form, c, numbers) \
  { #type, type, form, sizeof(c), numbers }

// The libraries themselves compare some unsigned integers as if they were signed: Open MPI 4.1.4
// those of MPI_UNSIGNED_LONG, MPICH 4.0.2 all.
static bool has_order(const struct kind* kind) {
#ifdef MPICH_VERSION
  return kind->form != UNSIGNED;
#else
  return kind->type != MPI_UNSIGNED_LONG;
#endif
}

static void check_kinds(MPI_Comm comm, size_t bytes) {
  const struct kind kinds[] = {KIND(MPI_SIGNED_CHAR, SIGNED, signed char, 1),
                               KIND(MPI_SHORT, SIGNED, short, 1),
                               KIND(MPI_INT, SIGNED, int, 1),
                               KIND(MPI_LONG, SIGNED, long, 1),
                               KIND(MPI_LONG_LONG, SIGNED, long long, 1),
                               KIND(MPI_INT8_T, SIGNED, int8_t, 1),
                               KIND(MPI_INT16_T, SIGNED, int16_t, 1),
                               KIND(MPI_INT32_T, SIGNED, int32_t, 1),
                               KIND(MPI_INT64_T, SIGNED, int64_t, 1),
                               KIND(MPI_AINT, SIGNED, MPI_Aint, 1),
                               KIND(MPI_UNSIGNED_CHAR, UNSIGNED, unsigned char, 1),
                               KIND(MPI_UNSIGNED_SHORT, UNSIGNED, unsigned short, 1),
                               KIND(MPI_UNSIGNED, UNSIGNED, unsigned, 1),
                               KIND(MPI_UNSIGNED_LONG, UNSIGNED, unsigned long, 1),
                               KIND(MPI_UINT8_T, UNSIGNED, uint8_t, 1),
                               KIND(MPI_UINT16_T, UNSIGNED, uint16_t, 1),
                               KIND(MPI_UINT32_T, UNSIGNED, uint32_t, 1),
                               KIND(MPI_UINT64_T, UNSIGNED, uint64_t, 1),
                               KIND(MPI_FLOAT, FLOATING, float, 1),
                               KIND(MPI_DOUBLE, FLOATING, double, 1),
                               KIND(MPI_LONG_DOUBLE, FLOATING, long double, 1)};
  const struct named_op ordered[] = {OP(MPI_SUM), OP(MPI_PROD), OP(MPI_MIN), OP(MPI_MAX)};
  const struct named_op bits[] = {OP(MPI_BAND), OP(MPI_BOR), OP(MPI_BXOR)};
  const struct named_op truths[] = {OP(MPI_LAND), OP(MPI_LOR), OP(MPI_LXOR)};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    const int count = (int)(bytes / kinds[k].bytes);
    for (int o = 0; o < (has_order(&kinds[k]) ? 4 : 2); ++o) {
      check_allreduce(&kinds[k], ordered[o].op, ordered[o].name, count, comm);
    }
    for (int o = 0; kinds[k].form != FLOATING && o < 3; ++o) {
      check_allreduce(&kinds[k], bits[o].op, bits[o].name, count, comm);
      check_allreduce(&kinds[k], truths[o].op, truths[o].name, count, comm);
    }
  }
  const struct kind boolean = KIND(MPI_C_BOOL, TRUTH, bool, 1);
  const struct kind byte = KIND(MPI_BYTE, UNSIGNED, uint8_t, 1);
  for (int o = 0; o < 3; ++o) {
    check_allreduce(&boolean, truths[o].op, truths[o].name, (int)bytes, comm);
    check_allreduce(&byte, bits[o].op, bits[o].name, (int)bytes, comm);
  }
  const struct kind complex[] = {KIND(MPI_C_FLOAT_COMPLEX, FLOATING, float, 2),
                                 KIND(MPI_C_DOUBLE_COMPLEX, FLOATING, double, 2)};
  for (int k = 0; k < 2; ++k) {
    check_allreduce(&complex[k], MPI_SUM, "MPI_SUM", (int)(bytes / complex[k].bytes / 2), comm);
  }
}

// Many values are equal: the lowest index decides.
static void put_pair(const struct pair_kind* kind, char* at, int rank, size_t i) {
  const int index = (int)((i * 3 + (size_t)rank * 5) % 11);
  memset(at, 0, kind->extent);
  put(at, kind->form, kind->bytes, given(FLOATING, rank, i) / 4);
  memcpy(at + kind->index_at, &index, sizeof index);
}

static bool is_better(const struct pair_kind* kind, MPI_Op op, const char* a, const char* b) {
  const int64_t va = get(a, kind->form, kind->bytes), vb = get(b, kind->form, kind->bytes);
  int ia, ib;
  memcpy(&ia, a + kind->index_at, sizeof ia);
  memcpy(&ib, b + kind->index_at, sizeof ib);
  return va != vb ? (op == MPI_MINLOC ? va < vb : va > vb) : ia < ib;
}

static void check_pair(const struct pair_kind* kind, MPI_Op op, const char* op_name, size_t bytes,
                       MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t count = bytes / kind->extent;
  char* in = make(count * kind->extent);
  char* out = make(count * kind->extent);
  char best[32], other[32];
  bool right = true;
  for (size_t i = 0; i < count; ++i) {
    put_pair(kind, in + i * kind->extent, rank, i);
  }
  MPI_Allreduce(in, out, (int)count, kind->type, op, comm);
  for (size_t i = 0; i < count; ++i) {
    put_pair(kind, best, 0, i);
    for (int r = 1; r < size; ++r) {
      put_pair(kind, other, r, i);
      if (is_better(kind, op, other, best)) {
        memcpy(best, other, sizeof best);
      }
    }
    const char* got = out + i * kind->extent;
    right = right && !is_better(kind, op, got, best) && !is_better(kind, op, best, got);
  }
  expect(right, "allreduce", kind->name, op_name, (int)count);
  free(in);
  free(out);
}

// As MPI's pairs lie in memory.
#define PAIR_OF(c)     \
  struct pair_of_##c { \
    c value;           \
    int index;         \
  }
typedef long double long_double;
PAIR_OF(float);
PAIR_OF(double);
PAIR_OF(int);
PAIR_OF(long);
PAIR_OF(short);
PAIR_OF(long_double);

#define PAIR(mpi, form, c) \
  { #mpi, mpi, form, sizeof(c), offsetof(struct pair_of_##c, index), sizeof(struct pair_of_##c) }

static void check_pairs(MPI_Comm comm, size_t bytes) {
  const struct pair_kind pairs[] = {
      PAIR(MPI_FLOAT_INT, FLOATING, float), PAIR(MPI_DOUBLE_INT, FLOATING, double),
      PAIR(MPI_2INT, SIGNED, int),          PAIR(MPI_LONG_INT, SIGNED, long),
      PAIR(MPI_SHORT_INT, SIGNED, short),   PAIR(MPI_LONG_DOUBLE_INT, FLOATING, long_double)};
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
    check_pair(&pairs[k], MPI_MINLOC, "MPI_MINLOC", bytes, comm);
    check_pair(&pairs[k], MPI_MAXLOC, "MPI_MAXLOC", bytes, comm);
  }
}

static const struct kind ints = KIND(MPI_INT, SIGNED, int, 1);
static const struct kind doubles = KIND(MPI_DOUBLE, FLOATING, double, 1);
static const struct kind longs = KIND(MPI_LONG_DOUBLE, FLOATING, long double, 1);

// Around the threshold, by all functions; one element more or less is another way.
static void check_sizes(MPI_Comm comm) {
  const int at = THRESHOLD / (int)sizeof(double);
  const int counts[] = {1, at - 1, at, at + 1, 5 * at + 3, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    check_allreduce(&doubles, MPI_SUM, "MPI_SUM", counts[i], comm);
    check_reduce(&doubles, MPI_SUM, "MPI_SUM", counts[i], comm);
    check_reduce_scatter(&doubles, MPI_MAX, "MPI_MAX", counts[i], comm);
    check_uneven_reduce_scatter(&doubles, MPI_SUM, "MPI_SUM", counts[i], comm);
    check_allreduce(&longs, MPI_SUM, "MPI_SUM", counts[i], comm);  // never carried
    MPI_Barrier(comm);
  }
}

// ---- What falls through, and what only some ranks have ----

static void add_triples(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 3 * *count; ++i) {
    ((int*)inout)[i] += ((int*)in)[i];
  }
}

static void check_derived(MPI_Comm comm) {
  enum { COUNT = 3 * 5000 };
  MPI_Datatype triple;
  MPI_Op op;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_contiguous(3, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  MPI_Op_create(add_triples, 1, &op);
  int* in = make(COUNT * sizeof(int));
  int* out = make(COUNT * sizeof(int));
  fill(&ints, in, COUNT, rank);
  MPI_Allreduce(in, out, COUNT / 3, triple, op, comm);
  expect(is_right(&ints, MPI_SUM, out, 0, COUNT, size), "allreduce", "triples", "own", COUNT / 3);
  MPI_Op_free(&op);
  MPI_Type_free(&triple);
  free(in);
  free(out);
}

// Every second int of a vector on even ranks, a plain vector on the others: the same signature.
static void check_bcast_as(MPI_Comm comm, int count, MPI_Datatype spread) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_commit(&spread);
  const size_t stride = rank % 2 == 0 ? 2 : 1;
  int* vector = make((size_t)count * 2 * sizeof(int));
  for (int root = 0; root < size; ++root) {
    bool right = true;
    for (int i = 0; i < 2 * count; ++i) {
      vector[i] = -1;
    }
    for (int i = 0; rank == root && i < count; ++i) {
      vector[(size_t)i * stride] = i * 31 + root;
    }
    if (stride == 2) {
      MPI_Bcast(vector, 1, spread, root, comm);
    } else {
      MPI_Bcast(vector, count, MPI_INT, root, comm);
    }
    for (int i = 0; i < count; ++i) {
      right = right && vector[(size_t)i * stride] == i * 31 + root;
      right = right && (stride == 1 || vector[2 * i + 1] == -1);
    }
    expect(right, "bcast", "MPI_INT", "of every second one", count);
  }
  MPI_Type_free(&spread);
  free(vector);
}

static void check_bcast(MPI_Comm comm, int count) {
  MPI_Datatype spread;
  MPI_Type_vector(count, 1, 2, MPI_INT, &spread);
  check_bcast_as(comm, count, spread);
#if MPI_VERSION >= 4
  MPI_Type_vector_c(count, 1, 2, MPI_INT, &spread);
  check_bcast_as(comm, count, spread);
#endif
}

// The root's elements are where nobody may write. Of packets, the last one is short.
static void check_bcast_of_read_only_memory(MPI_Comm comm) {
  enum { BYTES = 20480 };
  char* memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    abort();
  }
  for (int bytes = BYTES - 300; bytes <= BYTES; bytes += 20) {
    bool right = true;
    memset(memory, world_rank == 1 ? bytes % 100 : -1, BYTES);
    mprotect(memory, BYTES, world_rank == 1 ? PROT_READ : PROT_READ | PROT_WRITE);
    MPI_Bcast(memory, bytes, MPI_BYTE, 1, comm);
    mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
    for (int i = 0; i < BYTES; ++i) {
      right = right && memory[i] == (world_rank == 1 || i < bytes ? bytes % 100 : -1);
    }
    expect(right, "bcast", "MPI_BYTE", "of memory that is read only", bytes);
  }
  munmap(memory, BYTES);
}

static void check_intercommunicator(void) {
  MPI_Comm half, both;
  int rank;
  enum { COUNT = 10000 };
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 7, &both);
  MPI_Comm_rank(both, &rank);
  int* in = make(COUNT * sizeof(int));
  int* out = make(COUNT * sizeof(int));
  int others;
  MPI_Comm_remote_size(both, &others);
  fill(&ints, in, COUNT, rank);
  MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, both);
  expect(is_right(&ints, MPI_SUM, out, 0, COUNT, others), "allreduce", "MPI_INT",
         "of the other group", COUNT);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  free(in);
  free(out);
}

// ---- Non-blocking ----

enum { IN_FLIGHT = 6 };

// Some of them carried, some not, ended in another order than begun, and messages in between.
static void check_overlap(MPI_Comm comm) {
  const int counts[IN_FLIGHT] = {1, 4096, 50000, 3, 200000, 5000};
  MPI_Request requests[IN_FLIGHT];
  void* in[IN_FLIGHT];
  void* out[IN_FLIGHT];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < IN_FLIGHT; ++i) {
    in[i] = make((size_t)counts[i] * sizeof(int));
    out[i] = make((size_t)counts[i] * sizeof(int));
    fill(&ints, in[i], (size_t)counts[i], rank);
    const bool in_place = i % 2 == 1;
    if (in_place) {
      memcpy(out[i], in[i], (size_t)counts[i] * sizeof(int));
    }
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : in[i], out[i], counts[i], MPI_INT, MPI_SUM, comm,
                   &requests[i]);
  }
  int token = rank, from = -1;
  MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 3, &from, 1, MPI_INT,
               (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
  expect(from == (rank + size - 1) % size, "sendrecv", "MPI_INT", "between", 1);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 9000, comm);  // behind those, blocking
  MPI_Waitall(IN_FLIGHT / 2, requests + IN_FLIGHT / 2, MPI_STATUSES_IGNORE);
  for (int i = IN_FLIGHT / 2; i-- > 0;) {
    int done = 0;
    while (!done) {
      MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < IN_FLIGHT; ++i) {
    expect(is_right(&ints, MPI_SUM, out[i], 0, (size_t)counts[i], size), "iallreduce", "MPI_INT",
           "MPI_SUM", counts[i]);
    free(in[i]);
    free(out[i]);
  }
}

// The last rank begins its part when it has heard that the first one has begun: which must not
// wait.
static void check_beginning(MPI_Comm comm) {
  enum { COUNT = 30000 };
  MPI_Request request;
  int token = 0, rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* in = make(COUNT * sizeof(int));
  int* out = make(COUNT * sizeof(int));
  fill(&ints, in, COUNT, rank);
  if (rank == size - 1) {
    MPI_Recv(&token, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
  }
  MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm, &request);
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, size - 1, 5, comm);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(is_right(&ints, MPI_SUM, out, 0, COUNT, size), "iallreduce", "MPI_INT", "MPI_SUM", COUNT);
  free(in);
  free(out);
}

// A large message that only gets on while its sender is in MPI: which is waiting in a collective.
static void check_progress(void) {
  enum { LARGE = 8 << 20 };
  char* message = make(LARGE);
  MPI_Request request = MPI_REQUEST_NULL;
  memset(message, world_rank == 0 ? 7 : 0, LARGE);
  if (world_rank == 0) {
    MPI_Isend(message, LARGE, MPI_BYTE, world_size - 1, 1, MPI_COMM_WORLD, &request);
  } else if (world_rank == world_size - 1) {
    MPI_Recv(message, LARGE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(message[0] == 7 && message[LARGE - 1] == 7, "recv", "MPI_BYTE", "large", LARGE);
  }
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 30000, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(message);
}

static void check_communicators(void) {
  MPI_Comm part, same;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
  check_sizes(part);
  check_overlap(part);
  MPI_Comm_dup(part, &same);
  check_beginning(same);
  check_overlap(same);
  check_overlap(same);
  MPI_Comm_free(&part);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 7000, same);
  MPI_Comm_free(&same);
  for (int i = 0; i < 5; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    check_allreduce(&ints, MPI_SUM, "MPI_SUM", 20000, same);
    MPI_Comm_free(&same);
  }
}

// ---- Scenes ----

static void check_all(void) {
  check_kinds(MPI_COMM_WORLD, THRESHOLD + 2 * 16);
  check_progress();
  check_pairs(MPI_COMM_WORLD, 2 * THRESHOLD);
  check_sizes(MPI_COMM_WORLD);
  check_derived(MPI_COMM_WORLD);
  check_bcast(MPI_COMM_WORLD, 5);
  check_bcast(MPI_COMM_WORLD, 50000);
  check_bcast_of_read_only_memory(MPI_COMM_WORLD);
  check_overlap(MPI_COMM_WORLD);
  check_communicators();
  check_intercommunicator();
  check_kinds(MPI_COMM_WORLD, 64);
}

// MPI has errors for these, and sums go on.
static void give_wrong_arguments(void) {
  enum { COUNT = 40000 };
  double* vector = make(COUNT * sizeof(double));
  int* counts = make((size_t)world_size * sizeof(int));
  MPI_Comm other;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", COUNT, MPI_COMM_WORLD);
  for (int rank = 0; rank < world_size; ++rank) {
    counts[rank] = rank == 1 ? -1 : COUNT / world_size;
  }
  expect(MPI_Reduce_scatter(MPI_IN_PLACE, vector, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) !=
             MPI_SUCCESS,
         "reduce_scatter", "MPI_DOUBLE", "MPI_SUM", -1);
  expect(MPI_Allreduce(vector, MPI_IN_PLACE, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) !=
             MPI_SUCCESS,
         "allreduce into MPI_IN_PLACE", "MPI_DOUBLE", "MPI_SUM", COUNT);
  // Errors that are of no communicator have another handler than this one.
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  expect(MPI_Bcast(vector, COUNT, MPI_DATATYPE_NULL, 0, other) != MPI_SUCCESS, "bcast of no type",
         "MPI_DATATYPE_NULL", "none", COUNT);
  MPI_Comm_free(&other);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", COUNT, MPI_COMM_WORLD);
  free(counts);
  free(vector);
}

// The last rank comes to a collective when the others have given it up.
static void be_late(bool blocking) {
  enum { GIVEN_UP = 1 };
  int class = MPI_SUCCESS;
  double* vector = make(40000 * sizeof(double));
  fill(&doubles, vector, 40000, world_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
  for (int rank = 0; world_rank == world_size - 1 && rank < world_rank; ++rank) {
    MPI_Recv(NULL, 0, MPI_BYTE, rank, GIVEN_UP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Request request;
  int code;
  if (blocking) {
    code = MPI_Allreduce(MPI_IN_PLACE, vector, 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Iallreduce(MPI_IN_PLACE, vector, 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (world_rank != world_size - 1) {
    MPI_Send(NULL, 0, MPI_BYTE, world_size - 1, GIVEN_UP, MPI_COMM_WORLD);
  }
  MPI_Error_class(code, &class);
  printf("rank %d: %s\n", world_rank, class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another class");
  free(vector);
}

// The last rank does something else for a while, as MPI allows.
static void keep_the_others_waiting(void) {
  enum { AWAY_S = 7 };
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
  if (world_rank == world_size - 1) {
    sleep(AWAY_S);
  }
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
}

// MPI ends while a request is outstanding that the last rank never made.
static void leave_one_in_flight(void) {
  static double vector[40000];
  MPI_Request request;
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
  if (world_rank != world_size - 1) {
    MPI_Iallreduce(MPI_IN_PLACE, vector, 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  }
}

static atomic_bool in_a_sum;

// A sum without the last rank, and how it ended. MPICH over UCX may not come out of MPI_Finalize,
// whoever carries what: who has said that does not wait for it any longer than so.
static void* fail_without_the_last_rank(void* context) {
  enum { PATIENCE_S = 45 };
  static double vector[40000];
  int class = MPI_SUCCESS;
  (void)context;
  atomic_store(&in_a_sum, true);
  MPI_Error_class(MPI_Allreduce(MPI_IN_PLACE, vector, 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                  &class);
  printf("rank %d: %s\n", world_rank, class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another class");
  fflush(stdout);
  alarm(PATIENCE_S);
  return NULL;
}

// Open MPI's own iallreduces come between those of the program, on each rank at another place.
static void duplicate_without_blocking(void) {
  enum { TIMES = 50, LARGE = 5000 };
  check_allreduce(&ints, MPI_SUM, "MPI_SUM", LARGE, MPI_COMM_WORLD);
  for (int i = 0; i < TIMES; ++i) {
    MPI_Comm same;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &same, &request);
    for (int looks = 0; world_rank % 2 == 1 && looks < 200; ++looks) {
      int any;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    }
    check_allreduce(&ints, MPI_MAX, "MPI_MAX", 1, MPI_COMM_WORLD);
    check_allreduce(&ints, MPI_MAX, "MPI_MAX", LARGE, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_allreduce(&ints, MPI_MAX, "MPI_MAX", 1, same);
    MPI_Comm_free(&same);
  }
}

// The last rank goes to MPI_Finalize, and the others are in a collective.
static void leave_the_others_in_one(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
  if (world_rank != world_size - 1) {
    fail_without_the_last_rank(NULL);
  }
}

// MPI ends while other threads are in a collective, to which the last rank never comes.
static pthread_t leave_a_thread_in_one(void) {
  pthread_t thread = pthread_self();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_allreduce(&doubles, MPI_SUM, "MPI_SUM", 40000, MPI_COMM_WORLD);
  if (world_rank != world_size - 1) {
    pthread_create(&thread, NULL, fail_without_the_last_rank, NULL);
    while (!atomic_load(&in_a_sum)) {
      usleep(1000);
    }
  }
  sleep(2);
  return thread;
}

int main(int argc, char** argv) {
  const char* scene = argc > 1 ? argv[1] : "check";
  pthread_t thread = pthread_self();
  int provided = 0;
  MPI_Init_thread(&argc, &argv,
                  strcmp(scene, "thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (strcmp(scene, "check") == 0) {
    check_all();
  } else if (strcmp(scene, "uneven") == 0) {
    check_uneven_reduce_scatter(&ints, MPI_SUM, "MPI_SUM", 20000, MPI_COMM_WORLD);
  } else if (strcmp(scene, "idup") == 0) {
    duplicate_without_blocking();
  } else if (strcmp(scene, "wrong") == 0) {
    give_wrong_arguments();
  } else if (strcmp(scene, "late") == 0) {
    be_late(true);
  } else if (strcmp(scene, "late-wait") == 0) {
    be_late(false);
  } else if (strcmp(scene, "away") == 0) {
    keep_the_others_waiting();
  } else if (strcmp(scene, "in-flight") == 0) {
    leave_one_in_flight();
  } else if (strcmp(scene, "leaves") == 0) {
    leave_the_others_in_one();
  } else if (strcmp(scene, "thread") == 0) {
    thread = leave_a_thread_in_one();
  } else {
    fprintf(stderr, "there is no scene '%s'\n", scene);
    failures = 1;
  }
  printf("rank %d: %d checks, %d failed\n", world_rank, checks, failures);
  fflush(stdout);
  MPI_Finalize();
  if (!pthread_equal(thread, pthread_self())) {
    pthread_join(thread, NULL);
  }
  return failures == 0 ? 0 : 1;
}
