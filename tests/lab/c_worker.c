/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank in C, for c_test.py: it posts collectives and computes meanwhile, without a system call, which must
 * not keep them from going on. Rank 0 prints figures as JSON.
 *
 *   c_worker overlap   many allreduces in flight, in groups and alone, and every other collective
 *   c_worker parts     of the ranks with even and odd numbers
 *   c_worker deadline  the last rank comes when all others have given up; then all go on
 *   c_worker leave     the last rank ends without a word
 *   c_worker loose     gradients of ranks of which the last one is slow, by SSP
 *   c_worker gather    what ranks gather that share machines, of which the last one is late
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/c/tributary.h"

enum { in_flight = 64, elements = 20000 };

static tributary_comm* comm;
static float vectors[in_flight][elements];
static tributary_request* requests[in_flight];

static void must(tributary_result result, const char* what) {
  if (result != TRIBUTARY_SUCCESS) {
    fprintf(stderr, "%s: %s: %s\n", what, tributary_result_name(result), tributary_last_error());
    exit(1);
  }
}

static void expect(int truth, const char* what) {
  if (!truth) {
    fprintf(stderr, "rank %u: %s\n", tributary_comm_rank(comm), what);
    exit(1);
  }
}

/* Nothing but arithmetic. */
static uint32_t compute(void) {
  uint32_t state = 1;
  for (int i = 0; i < 20000000; ++i) {
    state = state * 1664525u + 1013904223u;
  }
  return state;
}

static void post(int first, int last) {
  const float own = (float)(tributary_comm_rank(comm) + 1);
  for (int i = first; i < last; ++i) {
    for (int e = 0; e < elements; ++e) {
      vectors[i][e] = own * (float)(1 + (e + i) % 7);
    }
    must(tributary_iallreduce(comm, vectors[i], vectors[i], i % 2 == 0 ? elements : 10, TRIBUTARY_F32,
                              TRIBUTARY_SUM, &requests[i]),
         "iallreduce");
  }
}

static void check(void) {
  const uint32_t world = tributary_comm_size(comm);
  const float all = (float)(world * (world + 1) / 2);
  for (int i = 0; i < in_flight; ++i) {
    must(tributary_wait(&requests[i]), "wait");
    for (int e = 0; e < (i % 2 == 0 ? elements : 10); ++e) {
      expect(vectors[i][e] == all * (float)(1 + (e + i) % 7), "a wrong sum");
    }
  }
}

static void gather(void) {
  int64_t mine[3];
  int64_t all[3 * 16];
  int64_t part[3];
  for (int e = 0; e < 3; ++e) {
    mine[e] = 100 * (int64_t)tributary_comm_rank(comm) + e;
  }
  must(tributary_allgather(comm, mine, all, 3, TRIBUTARY_I64), "allgather");
  for (uint32_t i = 0; i < 3 * tributary_comm_size(comm); ++i) {
    expect(all[i] == 100 * (int64_t)(i / 3) + i % 3, "a wrong part");
  }
  must(tributary_reduce_scatter(comm, all, part, 3, TRIBUTARY_I64, TRIBUTARY_MAX), "reduce_scatter");
  expect(memcmp(mine, part, sizeof mine) == 0, "a wrong part of the result");
}

/* More than the packets of one collective have numbers for: all ranks refuse it, and go on. */
static void refuse(void) {
  const size_t too_many = (size_t)1 << 40;
  const tributary_result result =
      tributary_allreduce(comm, vectors[0], vectors[0], too_many, TRIBUTARY_F32, TRIBUTARY_SUM);
  expect(result == TRIBUTARY_INVALID_ARGUMENT, "a vector that is too long");
  expect(strstr(tributary_last_error(), "split it") != NULL, tributary_last_error());
}

static void overlap(void) {
  post(0, in_flight / 2);
  must(tributary_group_begin(comm), "group");
  post(in_flight / 2, in_flight);
  must(tributary_group_end(comm), "group");
  expect(compute() != 0, "arithmetic");
  check();
  refuse();
  gather();
  must(tributary_barrier(comm), "barrier");
}

static void parts(void) {
  tributary_comm* part;
  const uint32_t rank = tributary_comm_rank(comm);
  must(tributary_comm_split(comm, rank % 2, 0, &part), "split");
  int32_t value = (int32_t)rank;
  must(tributary_allreduce(part, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM), "allreduce");
  expect(tributary_comm_size(part) == 2 && value == (rank % 2 == 0 ? 2 : 4), "another part's sum");
  tributary_comm_destroy(part);
}

static void count(void* context, tributary_result result) {
  int* const succeeded = context;
  *succeeded += result == TRIBUTARY_SUCCESS ? 1 : 0;
}

/* What one collective lacks is no loss to the next ones. */
static void deadline(void) {
  static int succeeded;
  size_t index = 0;
  const int is_last = tributary_comm_rank(comm) + 1 == tributary_comm_size(comm);
  if (is_last) {
    nanosleep(&(struct timespec){.tv_sec = 10}, NULL);
  }
  tributary_request* late = NULL;
  for (int e = 0; e < elements; ++e) {
    vectors[0][e] = 1000;
  }
  must(tributary_iallreduce(comm, vectors[0], vectors[0], elements, TRIBUTARY_F32, TRIBUTARY_SUM, &late),
       "iallreduce");
  must(tributary_request_deadline(late, 500000000), "deadline");
  const tributary_result result = tributary_wait(&late);
  if (is_last && result == TRIBUTARY_SUCCESS) { /* switches may still have what the others sent */
    for (int e = 0; e < elements; ++e) {
      expect(vectors[0][e] == 1000.0f * (float)tributary_comm_size(comm), "a wrong sum of a late rank");
    }
  } else {
    expect(result == TRIBUTARY_TIMEOUT, tributary_result_name(result));
    fprintf(stderr, "%s\n", tributary_last_error());
  }
  post(0, in_flight);
  for (int i = 0; i < in_flight; ++i) {
    must(tributary_request_on_completion(requests[i], count, &succeeded), "completion");
  }
  must(tributary_wait_any(requests, in_flight, &index), "wait for any");
  expect(index < in_flight && requests[index] == NULL, "a request that is not there");
  check();
  must(tributary_barrier(comm), "barrier");
  expect(succeeded == in_flight, "a completion that was not told");
}

static void leave(void) {
  float value = 1;
  if (tributary_comm_rank(comm) + 1 == tributary_comm_size(comm)) {
    exit(0);
  }
  const tributary_result result =
      tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_F32, TRIBUTARY_SUM);
  expect(result == TRIBUTARY_TIMEOUT || result == TRIBUTARY_NETWORK, "it should have failed");
  fprintf(stderr, "%s: %s\n", tributary_result_name(result), tributary_last_error());
}

enum { loose_layers = 2, loose_iterations = 10 };
static const size_t layer_elements[loose_layers] = {20000, 300};

/* A rank's gradient is a power of two, so that a sum tells who is in it. */
static int apply(void* context, const tributary_layer_sum* sum) {
  float* const parameters = context;
  for (size_t e = 0; e < sum->count; ++e) {
    expect(sum->values[e] == (float)sum->contributors[0], "a sum that is not of those who are said to be in it");
  }
  parameters[sum->layer] += sum->values[0];
  return 0;
}

static void loose(void) {
  float parameters[loose_layers] = {0, 0};
  float own[20000];
  const uint32_t rank = tributary_comm_rank(comm);
  const int is_last = rank + 1 == tributary_comm_size(comm);
  for (int e = 0; e < 20000; ++e) {
    own[e] = (float)(1u << rank);
  }
  tributary_gradient_exchange* exchange;
  tributary_gradient_exchange_options options = TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS;
  options.synchrony = TRIBUTARY_SSP;
  must(tributary_gradient_exchange_create(&exchange, comm, layer_elements, loose_layers, NULL, 0, apply,
                                          parameters, &options),
       "exchange");
  for (int i = 0; i < loose_iterations; ++i) {
    must(tributary_gradient_exchange_enter(exchange, NULL), "enter");
    nanosleep(&(struct timespec){.tv_nsec = is_last ? 60000000 : 5000000}, NULL);
    for (size_t layer = loose_layers; layer-- > 0;) {
      must(tributary_gradient_exchange_offer(exchange, layer, own, layer_elements[layer]), "offer");
    }
    int counted;
    must(tributary_gradient_exchange_finish(exchange, &counted), "finish");
    expect(counted == 1, "a gradient that was waited for was dropped");
  }
  must(tributary_gradient_exchange_close(exchange), "close");
  uint64_t summed;
  must(tributary_gradient_exchange_statistic(exchange, "layers_summed", &summed), "statistic");
  expect(summed > loose_layers * loose_iterations, "everybody was waited for");
  tributary_gradient_exchange_destroy(exchange);
  const float all = (float)(loose_iterations * ((1 << tributary_comm_size(comm)) - 1));
  expect(parameters[0] == all && parameters[1] == all, "a gradient is missing, or in two sums");
  must(tributary_barrier(comm), "barrier");
}

static int allgather_by(void* context, const void* in, void* out, size_t bytes) {
  return tributary_allgather(context, in, out, bytes, TRIBUTARY_I8) == TRIBUTARY_SUCCESS ? 0 : 1;
}

/* The ranks meet by a communicator of their own, over the ring. */
static void share_machines(tributary_comm** meeting) {
  tributary_options* options;
  must(tributary_options_create(&options), "options");
  must(tributary_options_for_part(options), "part");
  must(tributary_options_set(options, "TRIBUTARY_ALGORITHM", "ring"), "ring");
  must(tributary_options_set(options, "TRIBUTARY_FALLBACK", "allow"), "allow");
  must(tributary_comm_create(meeting, options), "create");
  tributary_options_destroy(options);
  must(tributary_options_create(&options), "options");
  must(tributary_options_share_machine(options), "share");
  must(tributary_comm_create_with(&comm, options, tributary_comm_rank(*meeting), tributary_comm_size(*meeting),
                                  allgather_by, *meeting),
       "create with");
  tributary_options_destroy(options);
}

static void gather_of_machines(void) {
  tributary_comm* meeting;
  share_machines(&meeting);
  const uint32_t ranks = tributary_comm_size(comm);
  const uint32_t rank = tributary_comm_rank(comm);
  for (uint32_t i = 0; i < 10; ++i) {
    if (rank + 2 >= ranks) {
      nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    uint32_t all[64] = {0};
    const uint32_t mine = 100 * i + rank + 1;
    must(tributary_allgather(comm, &mine, all, 1, TRIBUTARY_I32), "allgather");
    for (uint32_t other = 0; other < ranks; ++other) {
      expect(all[other] == 100 * i + other + 1, "a rank is missing in what was gathered");
    }
  }
  tributary_comm_destroy(comm);
  comm = meeting;
}

static void print_figures(void) {
  uint64_t sums = 0;
  uint64_t fused = 0;
  must(tributary_comm_statistic(comm, "switch_sums_seen", &sums), "statistic");
  must(tributary_comm_statistic(comm, "collectives_fused", &fused), "statistic");
  printf("{\"algorithm\": \"%s\", \"switch_sums_seen\": %llu, \"collectives_fused\": %llu}\n",
         tributary_comm_algorithm(comm), (unsigned long long)sums, (unsigned long long)fused);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "gather") == 0) {
    gather_of_machines();
    tributary_comm_destroy(comm);
    return 0;
  }
  must(tributary_comm_create(&comm, NULL), "create");
  if (strcmp(what, "overlap") == 0) {
    overlap();
  } else if (strcmp(what, "parts") == 0) {
    parts();
  } else if (strcmp(what, "loose") == 0) {
    loose();
  } else if (strcmp(what, "deadline") == 0) {
    deadline();
    tributary_comm_destroy(comm); /* switch_sums_seen is Canary's */
    return 0;
  } else {
    leave();
    return 0; /* who is gone is not waited for */
  }
  if (tributary_comm_rank(comm) == 0) {
    print_figures();
  }
  tributary_comm_destroy(comm);
  return 0;
}
