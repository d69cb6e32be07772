/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The workers' library for C, and for whatever calls C: MPI, PyTorch, Python. C++ has
 * host/communicator.h, which this stands on; docs/reference/c.md has the whole of it, with
 * examples.
 *
 * All functions may be called by any thread, at any time; but a request is one thread's at a time,
 * options are changed by one, and what is destroyed is in no other call. Functions that can fail
 * return a tributary_result; tributary_last_error() has the reason, in words.
 */
#ifndef TRIBUTARY_H
#define TRIBUTARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Within one major version programs that were compiled against a lower minor version go on running.
 */
#define TRIBUTARY_MAJOR 1
#define TRIBUTARY_MINOR 4
/* Of the library that is loaded: major * 1000 + minor. */
int tributary_version(void);

typedef enum tributary_result {
  TRIBUTARY_SUCCESS = 0,
  TRIBUTARY_IN_PROGRESS = 1,      /* not done yet: no error */
  TRIBUTARY_INVALID_ARGUMENT = 2, /* the caller's fault; nothing was sent */
  TRIBUTARY_RENDEZVOUS = 3,       /* the ranks did not find each other, or do not agree */
  TRIBUTARY_TIMEOUT = 4,          /* no progress for too long, or the deadline passed */
  TRIBUTARY_NETWORK = 5,          /* a socket failed */
  TRIBUTARY_MISMATCH = 6,         /* ranks called different collectives, or a sum cannot be right */
  TRIBUTARY_INTERNAL = 7,
  TRIBUTARY_ABORTED = 8,         /* by tributary_comm_abort() */
  TRIBUTARY_MEMBERSHIP_ENDED = 9 /* of an elastic world: see tributary_comm_regroup() */
} tributary_result;

/* "TRIBUTARY_TIMEOUT"; never null. */
const char* tributary_result_name(tributary_result result);
/* Why the last call of this thread that failed did so, in a sentence that says what to do. Valid
 * until this thread calls the next function; never null. */
const char* tributary_last_error(void);

/* Elements are little-endian. A C struct of a value and an int32 is a pair, for minloc and maxloc.
 */
typedef enum tributary_type {
  TRIBUTARY_F32 = 0,
  TRIBUTARY_F64 = 1,
  TRIBUTARY_F16 = 2,
  TRIBUTARY_BF16 = 3,
  TRIBUTARY_I8 = 4,
  TRIBUTARY_I16 = 5,
  TRIBUTARY_I32 = 6,
  TRIBUTARY_I64 = 7,
  TRIBUTARY_I4 = 8, /* two in a byte: counted in bytes */
  TRIBUTARY_F8E4M3 = 9,
  TRIBUTARY_F8E5M2 = 10,
  TRIBUTARY_F32_I32 = 11,
  TRIBUTARY_F64_I32 = 12,
  TRIBUTARY_I32_I32 = 13,
  TRIBUTARY_I64_I32 = 14,
  TRIBUTARY_OPAQUE4 = 15, /* for handlers only */
  TRIBUTARY_OPAQUE8 = 16,
  TRIBUTARY_OPAQUE16 = 17
} tributary_type;

/* Bytes of one element; 0 if there is no such type. */
size_t tributary_type_size(tributary_type type);

/* Sums and products of unsigned integers, and all that look at bits, are those of signed ones; min
 * and max are not. */
typedef enum tributary_operator {
  TRIBUTARY_SUM = 0,
  TRIBUTARY_MIN = 1,
  TRIBUTARY_MAX = 2,
  TRIBUTARY_PROD = 3,
  TRIBUTARY_BIT_AND = 4,
  TRIBUTARY_BIT_OR = 5,
  TRIBUTARY_BIT_XOR = 6,
  TRIBUTARY_LOGICAL_AND = 7,
  TRIBUTARY_LOGICAL_OR = 8,
  TRIBUTARY_LOGICAL_XOR = 9,
  TRIBUTARY_MINLOC = 10,
  TRIBUTARY_MAXLOC = 11,
  TRIBUTARY_HANDLER = 64 /* the first of 64: TRIBUTARY_HANDLER + its number */
} tributary_operator;

/* 1 if the type has that operator, else 0. All have handlers; whether one is loaded for the type, a
 * collective says. */
int tributary_has_operator(tributary_type type, tributary_operator op);

/* ---- Handlers: operators of one's own (docs/reference/handlers.md) ---- */

/* Loads an expression over `acc` and `in` under a number, 0 to 63, for all communicators of this
 * process: from now on TRIBUTARY_HANDLER + number is an operator of allreduce and reduce, for that
 * type. All ranks load the same one under the same number before they use it, and so does whoever
 * runs the switches. It stays until the process ends; a number is taken once and for all. */
tributary_result tributary_handler_load(unsigned number, const char* expression,
                                        tributary_type type);
/* The same of a shared object built against tributary-handler.h, which knows its type itself and
 * runs with all rights of the process. */
tributary_result tributary_handler_load_file(unsigned number, const char* path);

/* ---- Options ---- */

/* What the environment says (docs/reference/library.md has the variables), unless it is set here.
 */
typedef struct tributary_options tributary_options;

tributary_result tributary_options_create(tributary_options** options);
/* By the variable's name: "TRIBUTARY_ALGORITHM", "canary". Both are copied; null as the value: as
 * if the variable were not there. What makes no sense is said when a communicator is created. */
tributary_result tributary_options_set(tributary_options* options, const char* variable,
                                       const char* value);
/* Is told what people should know, instead of standard error: see CommunicatorOptions::on_notice.
 * By any thread of the library. */
typedef void (*tributary_notice)(void* context, const char* line);
tributary_result tributary_options_on_notice(tributary_options* options, tributary_notice notice,
                                             void* context);
/* For a communicator beside that of the whole job: what is set up for one job alone is left out,
 * its number, and the trees or rings of a protocol. */
tributary_result tributary_options_for_part(tributary_options* options);
/* Ranks of one machine go to the others together: what is between them goes through memory, and one
 * of them brings one vector for all to the switches. For tributary_comm_create_with(), and the
 * parts of what that makes; if all ranks want it. Handlers are refused then. */
tributary_result tributary_options_share_machine(tributary_options* options);
void tributary_options_destroy(tributary_options* options);

/* ---- Communicators ---- */

typedef struct tributary_comm tributary_comm;

/* Of RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them. `options` may be null.
 * Returns when all ranks are there, or with an error on all that are. */
tributary_result tributary_comm_create(tributary_comm** comm, const tributary_options* options);

/* Gathers `bytes` bytes of each rank into `out`, by rank, on all ranks; 0 if that worked. It is
 * called the same number of times on all ranks, within tributary_comm_create_with() only. */
typedef int (*tributary_allgather_function)(void* context, const void* in, void* out, size_t bytes);

/* The same without MASTER_ADDR and MASTER_PORT: the ranks find each other by what they have
 * already. Rank 0 is met at TRIBUTARY_LOCAL_ADDRESS or TRIBUTARY_INTERFACE, or else at its first
 * address that is not loopback; nobody but these ranks is let in. */
tributary_result tributary_comm_create_with(tributary_comm** comm, const tributary_options* options,
                                            uint32_t rank, uint32_t world_size,
                                            tributary_allgather_function allgather, void* context);

/* All ranks call it. Those of one colour get a communicator of their own, in the order of their
 * keys, and of their ranks where keys are the same; a negative colour: none, *part is null. Options
 * are those of `comm`, but for what is set up for one job alone: its number, and the trees or rings
 * of a protocol. */
tributary_result tributary_comm_split(tributary_comm* comm, int64_t color, int64_t key,
                                      tributary_comm** part);

/* Waits for what was posted, and for the other ranks, up to two seconds. Null is nothing. */
void tributary_comm_destroy(tributary_comm* comm);
/* What is outstanding ends with TRIBUTARY_ABORTED, within a second, and so does whatever is posted
 * later. Other ranks notice by their time limits, or because connections break. */
void tributary_comm_abort(tributary_comm* comm);

/* Of an elastic world, TRIBUTARY_MEMBERSHIP=elastic: all members call it, behind the same
 * collectives or after one that failed, and get the communicator of the next membership. Members
 * that are gone are left out, as are those that do not call it in time; who waits to join, with
 * TRIBUTARY_MEMBERSHIP=join, is taken in. Others are waited for until there are `world_size` ranks,
 * if it is not 0, but no longer than the stall timeout. Who stays keeps its rank where that can be,
 * and one of them has rank 0. `comm` ends: all that is posted there fails with
 * TRIBUTARY_MEMBERSHIP_ENDED; it is still to be destroyed. After an error it may be called again,
 * unless that is TRIBUTARY_MEMBERSHIP_ENDED: then this process is no member any more; or
 * TRIBUTARY_ABORTED: tributary_comm_abort() ends it as it does collectives. */
tributary_result tributary_comm_regroup(tributary_comm* comm, uint32_t world_size,
                                        tributary_comm** next);
typedef struct tributary_membership {
  uint64_t epoch;     /* counts memberships, from 1; 0: the world is fixed */
  uint32_t newcomers; /* how many ranks were in none before; rank 0 is none of them */
  uint32_t waiting;   /* to join with the next one, as far as this rank has heard */
  int ended;          /* not 0: somebody is gone, or regroups; nothing more is carried out */
} tributary_membership;
tributary_result tributary_comm_membership(const tributary_comm* comm,
                                           tributary_membership* membership);

uint32_t tributary_comm_rank(const tributary_comm* comm);
uint32_t tributary_comm_size(const tributary_comm* comm);
/* By which it runs: "canary", "ring". As long as the communicator. */
const char* tributary_comm_algorithm(const tributary_comm* comm);
/* What was counted, by its name in docs/reference/library.md; TRIBUTARY_INVALID_ARGUMENT if there
 * is none, as where another protocol runs. Waits for the collective that is running, not for those
 * behind it. */
tributary_result tributary_comm_statistic(tributary_comm* comm, const char* name, uint64_t* value);

/* ---- Collectives ----
 *
 * All ranks post the same collectives with the same count, type, operator and root, in the same
 * order. Counts are of elements. `in` and `out` are the same or do not overlap; nothing need be
 * aligned. After an error `out` is undefined, `in` is not unless it is the same.
 *
 * Each one exists twice. One returns when it is done. The other one, with an i before its name,
 * returns at once: a thread of the library carries it out while the caller computes; buffers are
 * left alone until the request is done.
 */

typedef struct tributary_request tributary_request;

tributary_result tributary_allreduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type, tributary_operator op);
/* `out` is the root's alone; that of the others may be null. */
tributary_result tributary_reduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                  tributary_type type, tributary_operator op, uint32_t root);
tributary_result tributary_broadcast(tributary_comm* comm, void* inout, size_t count,
                                     tributary_type type, uint32_t root);
tributary_result tributary_barrier(tributary_comm* comm);
/* `count` of each rank; `out` has room for those of all, by rank. `in` may be this rank's place
 * there. */
tributary_result tributary_allgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type);
/* `count` for each rank: `in` has as many for all, by rank. */
tributary_result tributary_reduce_scatter(tributary_comm* comm, const void* in, void* out,
                                          size_t count, tributary_type type, tributary_operator op);

tributary_result tributary_iallreduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_operator op,
                                      tributary_request** request);
tributary_result tributary_ireduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                   tributary_type type, tributary_operator op, uint32_t root,
                                   tributary_request** request);
tributary_result tributary_ibroadcast(tributary_comm* comm, void* inout, size_t count,
                                      tributary_type type, uint32_t root,
                                      tributary_request** request);
tributary_result tributary_ibarrier(tributary_comm* comm, tributary_request** request);
tributary_result tributary_iallgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_request** request);
tributary_result tributary_ireduce_scatter(tributary_comm* comm, const void* in, void* out,
                                           size_t count, tributary_type type, tributary_operator op,
                                           tributary_request** request);

/* ---- Sketches of gradients: sums of vectors of f32 that are rounded to a few bits ---- */

typedef enum tributary_sketch_kind {
  TRIBUTARY_SKETCH_GRID = 0,     /* integers of a unit that all ranks share, added on the way */
  TRIBUTARY_SKETCH_QUANTILES = 1 /* codes of the rank's own quantiles, which all ranks decode */
} tributary_sketch_kind;

typedef enum tributary_rounding {
  TRIBUTARY_ROUND_STOCHASTIC = 0, /* up or down, so that the mean is right */
  TRIBUTARY_ROUND_NEAREST = 1
} tributary_rounding;

typedef struct tributary_sketch_options {
  int kind;      /* a tributary_sketch_kind */
  unsigned bits; /* that an element takes on its way: 16, 8 or 4; of quantiles 8, 4 or 2; of a
                  * matrix's factors also 32 */
  int rounding;  /* a tributary_rounding */
  int feedback;  /* not 0: what was rounded off is kept back, and added to the next vector */
  uint64_t seed; /* of stochastic rounding: the same one rounds the same way again */
} tributary_sketch_options;
#define TRIBUTARY_SKETCH_DEFAULTS \
  { TRIBUTARY_SKETCH_GRID, 8, TRIBUTARY_ROUND_STOCHASTIC, 1, 0 }

/* How one of a rank's vectors, a layer's gradient say, goes sketched from call to call. */
typedef struct tributary_sketch tributary_sketch;

/* For vectors of `count` elements. `options` may be null: the defaults. Whether there are such bits
 * depends on how many ranks there are, so a collective says it. */
tributary_result tributary_sketch_create(tributary_sketch** sketch, size_t count,
                                         const tributary_sketch_options* options);
/* For vectors that are a matrix, row by row, of rows x columns elements: the ranks add up factors
 * of it, (rows + columns) x rank elements, and get the product. `rank` is 1 up to the less of both.
 * Of the options the kind is a grid, and 32 bits are floats. */
tributary_result tributary_sketch_create_low_rank(tributary_sketch** sketch, size_t rows,
                                                  size_t columns, size_t rank,
                                                  const tributary_sketch_options* options);
/* What of it is in flight goes on. Null is nothing. */
void tributary_sketch_destroy(tributary_sketch* sketch);
/* What is kept back, `count` elements; null without feedback. Not while a collective has it. */
const float* tributary_sketch_residual(const tributary_sketch* sketch);

/* All ranks have sketches of the same count, kind, bits and matrix, and get the same bits. `count`
 * is the sketch's. If it fails, all that was given is kept back, unless the deadline of its request
 * passed before its turn. A sketch is one communicator's at a time; of that, several collectives
 * may have it in flight. */
tributary_result tributary_sketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                              size_t count, tributary_sketch* sketch);
tributary_result tributary_isketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                               size_t count, tributary_sketch* sketch,
                                               tributary_request** request);

/* ---- Requests ---- */

/* TRIBUTARY_IN_PROGRESS, or how it ended. In the latter case the request is gone, and *request
 * null; of null the outcome is success. */
tributary_result tributary_test(tributary_request** request);
tributary_result tributary_wait(tributary_request** request);
/* No longer than so many nanoseconds; after that TRIBUTARY_IN_PROGRESS, and the request stays. */
tributary_result tributary_wait_for(tributary_request** request, uint64_t nanoseconds);
/* The first of them that ends, as tributary_wait() has it, and its place in *index. Null requests
 * are left out; where all are null the outcome is success, and *index is `count`. Each request is
 * there once. */
tributary_result tributary_wait_any(tributary_request** requests, size_t count, size_t* index);
/* No longer than so many nanoseconds; after that TRIBUTARY_IN_PROGRESS, and *index is `count`. */
tributary_result tributary_wait_any_for(tributary_request** requests, size_t count, size_t* index,
                                        uint64_t nanoseconds);

/* The collective of that request fails on this rank, with TRIBUTARY_TIMEOUT, when it has not ended
 * so many nanoseconds from now, beside the limits of its communicator; 0: as soon as possible. Of
 * several deadlines the earliest counts, also for what travels as one with it in a group. What runs
 * already ends within a second of it.
 *
 * The collective counts all the same: nothing of it passes for part of a later one. Other ranks are
 * not told; they end it as they can, by their time limits at the latest. What is posted behind it
 * is carried out. Over "canary", "panama" and "flare" that succeeds if all ranks come to it in
 * time. Over "ring", "netreduce" and "roce-ring", and for what the former leave to the ring of the
 * hosts, a collective that has begun cannot be given up alone: all later ones of that kind fail at
 * once on this rank, with TRIBUTARY_NETWORK, and on the others by their time limits; make a new
 * communicator. Of what was given up before its turn nothing was sent. If all ranks gave it up so,
 * later ones succeed by every algorithm but "roce-ring"; otherwise those three fail, be it with
 * TRIBUTARY_MISMATCH. */
tributary_result tributary_request_deadline(tributary_request* request, uint64_t nanoseconds);

/* How a collective has ended; in it tributary_last_error() has the reason. */
typedef void (*tributary_completion)(void* context, tributary_result result);
/* Calls the function once, when the collective of that request ends, also when the request was
 * freed before; at once if it has ended. The latest function counts; null: none. It is called by
 * the thread that carries out the communicator's collectives, or by the one that ends it otherwise:
 * the caller of this; of a test or a wait, where the deadline passed before its turn; of
 * tributary_comm_destroy(), for a group that has not ended. A wait may return before it has
 * returned, tributary_comm_destroy() does not.
 *
 * It must not wait: no collective that blocks, no wait, no destruction of a communicator, and not
 * tributary_comm_statistic(). It may post collectives, on a communicator that is not being
 * destroyed, and leaves its own request alone. */
tributary_result tributary_request_on_completion(tributary_request* request,
                                                 tributary_completion function, void* context);

/* Not waited for any more: it goes on, and its buffers are still in use, until the communicator
 * ends. */
void tributary_request_free(tributary_request** request);

/* What this thread posts on `comm` in between begins together, when the group ends: allreduces of
 * one type and operator travel as one vector where they are small. All ranks group the same
 * collectives. Only those with an i may be posted in it. Groups do not nest. */
tributary_result tributary_group_begin(tributary_comm* comm);
tributary_result tributary_group_end(tributary_comm* comm);

#ifdef __cplusplus
}
#endif

#endif
