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

/* Programs that were compiled against a lower minor version of one major version go on running. */
#define TRIBUTARY_MAJOR 1
#define TRIBUTARY_MINOR 8
/* Returns the version of the library that is loaded: major * 1000 + minor. */
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

/* Returns the name, such as "TRIBUTARY_TIMEOUT"; never null. */
const char* tributary_result_name(tributary_result result);
/* Returns why the last call of this thread that failed did so, in a sentence that says what to do.
 * It is valid until this thread calls the next function; never null. */
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

/* Returns the bytes of one element; 0 if there is no such type. */
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

/* Returns 1 if the type has that operator, else 0. All types have handlers; a collective says
 * whether one is loaded for the type. */
int tributary_has_operator(tributary_type type, tributary_operator op);

/* ---- Handlers: operators of one's own (docs/reference/handlers.md) ---- */

/* Loads an expression over `acc` and `in` under a number, 0 to 63, for all communicators of this
 * process: from now on TRIBUTARY_HANDLER + number is an operator of allreduce and reduce, for that
 * type. All ranks load the same one under the same number before they use it, and so does whoever
 * runs the switches. It stays until the process ends; a number is taken once and for all. */
tributary_result tributary_handler_load(unsigned number, const char* expression,
                                        tributary_type type);
/* Does the same with a shared object that was built against tributary-handler.h, which knows its
 * type itself and runs with all rights of the process. */
tributary_result tributary_handler_load_file(unsigned number, const char* path);

/* ---- Options ---- */

/* Options are what the environment says (docs/reference/library.md has the variables), unless it is
 * set here. */
typedef struct tributary_options tributary_options;

tributary_result tributary_options_create(tributary_options** options);
/* Sets an option by its variable's name: "TRIBUTARY_ALGORITHM", "canary". Both texts are copied.
 * With null as the value, it is as if the variable were not there. What makes no sense is said when
 * a communicator is created. */
tributary_result tributary_options_set(tributary_options* options, const char* variable,
                                       const char* value);
/* It is told what people should know, instead of standard error: see
 * CommunicatorOptions::on_notice. Any thread of the library may call it. */
typedef void (*tributary_notice)(void* context, const char* line);
tributary_result tributary_options_on_notice(tributary_options* options, tributary_notice notice,
                                             void* context);
/* Makes the options those of a communicator beside that of the whole job: what is set up for one
 * job alone is left out, its number, and the trees or rings of a protocol. */
tributary_result tributary_options_for_part(tributary_options* options);
/* Ranks of one machine go to the others together: what is between them goes through memory, and one
 * of them brings one vector for all to the switches. This is for tributary_comm_create_with(), and
 * the parts of what that makes; it is done if all ranks want it. Handlers are refused then. */
tributary_result tributary_options_share_machine(tributary_options* options);
void tributary_options_destroy(tributary_options* options);

/* ---- Communicators ---- */

typedef struct tributary_comm tributary_comm;

/* Ranks are told as the bits of so many words: rank r is one if words[r / 64] >> (r % 64) & 1. */
#define TRIBUTARY_RANK_WORDS(world_size) (((world_size) + 63) / 64)

/* Creates a communicator by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them.
 * `options` may be null. Returns when all ranks are there, or with an error on all that are. */
tributary_result tributary_comm_create(tributary_comm** comm, const tributary_options* options);

/* Gathers `bytes` bytes of each rank into `out`, by rank, on all ranks; 0 if that worked. It is
 * called the same number of times on all ranks, within tributary_comm_create_with() only. */
typedef int (*tributary_allgather_function)(void* context, const void* in, void* out, size_t bytes);

/* Does the same without MASTER_ADDR and MASTER_PORT: the ranks find each other by the allgather
 * that they have already. Rank 0 is met at TRIBUTARY_LOCAL_ADDRESS or TRIBUTARY_INTERFACE, or else
 * at its first address that is not loopback; nobody but these ranks is let in. */
tributary_result tributary_comm_create_with(tributary_comm** comm, const tributary_options* options,
                                            uint32_t rank, uint32_t world_size,
                                            tributary_allgather_function allgather, void* context);

/* All ranks call it. Those of one colour get a communicator of their own, in the order of their
 * keys, and of their ranks where keys are the same. With a negative colour a rank gets none, and
 * *part is null. The options are those of `comm`, but for what is set up for one job alone: its
 * number, and the trees or rings of a protocol. */
tributary_result tributary_comm_split(tributary_comm* comm, int64_t color, int64_t key,
                                      tributary_comm** part);

/* Waits for what was posted, and for the other ranks, up to two seconds. Null does nothing. */
void tributary_comm_destroy(tributary_comm* comm);
/* Ends what is outstanding with TRIBUTARY_ABORTED, within a second, and so whatever is posted
 * later. Other ranks notice by their time limits, or because connections break. */
void tributary_comm_abort(tributary_comm* comm);

/* Goes on to the next membership of an elastic world (TRIBUTARY_MEMBERSHIP=elastic). All members
 * call it, behind the same collectives or after one that failed, and get the communicator of the
 * next membership. Members that are gone are left out, as are those that do not call it in time;
 * processes that wait to join, with TRIBUTARY_MEMBERSHIP=join, are taken in. If `world_size` is not
 * 0, others are waited for until there are so many ranks, but no longer than the stall timeout. A
 * member keeps its rank where that can be, and one of them has rank 0. `comm` ends: all that is
 * posted there fails with TRIBUTARY_MEMBERSHIP_ENDED; it is still to be destroyed. After an error
 * it may be called again, unless the error is TRIBUTARY_MEMBERSHIP_ENDED, as this process is a
 * member no more then, or TRIBUTARY_ABORTED: tributary_comm_abort() ends it as it does collectives.
 */
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
/* Returns by what it runs: "canary", "ring". The text lives as long as the communicator. */
const char* tributary_comm_algorithm(const tributary_comm* comm);
/* Gives what was counted, by its name in docs/reference/library.md; TRIBUTARY_INVALID_ARGUMENT if
 * there is none, as where another protocol runs. Waits for the collective that is running, not for
 * those behind it. */
tributary_result tributary_comm_statistic(tributary_comm* comm, const char* name, uint64_t* value);

/* Elements of a result, one behind the other, that lack the contributions of the same ranks. */
typedef struct tributary_partial_result {
  size_t first;           /* element */
  size_t count;           /* of elements */
  uint32_t missing_count; /* how many ranks they lack */
} tributary_partial_result;
/* Tells who is missing in the result of the communicator's last allreduce, reduce or
 * reduce-scatter, where sums may do without ranks that are late: PANAMA with TRIBUTARY_SHARE
 * below 1. Elements that are not told of have all ranks in them. `results` and `missing` have room
 * for *count ranges, which come in the order of the elements; `missing` has the ranks that each of
 * them lacks, in TRIBUTARY_RANK_WORDS(world size) words. *count is then how many ranges there are;
 * those beyond the room are left out. Waits for the collective that is running, not for those
 * behind it: call it before the next one is posted, or in the completion of a request, where its
 * own is the last. */
tributary_result tributary_comm_partial_results(tributary_comm* comm,
                                                tributary_partial_result* results,
                                                uint64_t* missing, size_t* count);

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
/* `out` counts on the root alone; that of the others may be null. */
tributary_result tributary_reduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                  tributary_type type, tributary_operator op, uint32_t root);
tributary_result tributary_broadcast(tributary_comm* comm, void* inout, size_t count,
                                     tributary_type type, uint32_t root);
tributary_result tributary_barrier(tributary_comm* comm);
/* All ranks get the `count` elements of each rank: `out` has room for those of all, by rank. `in`
 * may be this rank's place there. */
tributary_result tributary_allgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type);
/* Each rank gets `count` elements of the result: `in` has as many for every rank, by rank. */
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

/* Says how one of a rank's vectors, say a layer's gradient, is sketched from call to call. */
typedef struct tributary_sketch tributary_sketch;

/* Makes a sketch for vectors of `count` elements. `options` may be null: the defaults. Whether
 * there are such bits depends on how many ranks there are, so a collective says it. */
tributary_result tributary_sketch_create(tributary_sketch** sketch, size_t count,
                                         const tributary_sketch_options* options);
/* Makes a sketch for vectors of layers, which have so many elements each. On a grid no unit is
 * shared by two of them, and what is not finite in one does not reach the others; by quantiles each
 * layer needs a sketch of its own. */
tributary_result tributary_sketch_create_layers(tributary_sketch** sketch, const size_t* layers,
                                                size_t layer_count,
                                                const tributary_sketch_options* options);
/* Makes a sketch for vectors that are a matrix, row by row, of rows x columns elements: the ranks
 * add up factors of it, (rows + columns) x rank elements, and get the product. `rank` is from 1 to
 * the lesser of both. The kind in the options is a grid, and 32 bits are floats. */
tributary_result tributary_sketch_create_low_rank(tributary_sketch** sketch, size_t rows,
                                                  size_t columns, size_t rank,
                                                  const tributary_sketch_options* options);
/* What is in flight with it goes on. Null does nothing. */
void tributary_sketch_destroy(tributary_sketch* sketch);
/* Returns what is kept back, `count` elements; null without feedback. It is not to be called while
 * a collective has the sketch. */
const float* tributary_sketch_residual(const tributary_sketch* sketch);

/* All ranks have sketches of the same count, layers, kind, bits and matrix, and get the same bits.
 * `count` is the sketch's. If the call fails, all that was given is kept back, unless the deadline
 * of its request passed before its turn. A sketch belongs to one communicator at a time, of which
 * several collectives may have it in flight. */
tributary_result tributary_sketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                              size_t count, tributary_sketch* sketch);
tributary_result tributary_isketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                               size_t count, tributary_sketch* sketch,
                                               tributary_request** request);

/* ---- Gradients of ranks that train at speeds of their own ----
 *
 * Layers' gradients are added up of those ranks that have them, and the ranks are as far apart as
 * they may be: BSP, SSP and ASP of the gradient sketch's paper (section 5.3).
 * docs/reference/library.md has more.
 *
 *   while (...) {
 *     tributary_gradient_exchange_enter(exchange, NULL);     the sums so far are applied
 *     ...                                                    backward pass
 *       tributary_gradient_exchange_offer(exchange, layer, gradient, count);
 *     tributary_gradient_exchange_finish(exchange, NULL);    they are in sums, or stale
 *   }
 *   tributary_gradient_exchange_close(exchange);
 *
 * One thread calls; statistics, and who is in sums, any may ask for. What is applied may ask for
 * these, too, and calls nothing else of its exchange.
 */

typedef enum tributary_synchrony {
  TRIBUTARY_BSP = 0, /* all are in the same iteration, and every sum has everybody in it */
  TRIBUTARY_SSP = 1, /* nobody is more than `staleness` iterations behind the fastest */
  TRIBUTARY_ASP = 2  /* everybody goes on as fast as it can */
} tributary_synchrony;

/* Says what becomes of a rank that would fall further behind. */
typedef enum tributary_stale {
  TRIBUTARY_STALE_WAIT = 0, /* the others wait for it */
  TRIBUTARY_STALE_DROP = 1  /* what is left of its iteration is dropped, and it goes on with the
                             * fastest rank's parameters in that one's iteration */
} tributary_stale;

/* The sum of the gradients of one layer. It lives as long as the call that is told of it. */
typedef struct tributary_layer_sum {
  size_t layer;
  const float* values; /* as many as the layer has elements: a sum, and no mean */
  size_t count;
  /* Exactly these ranks are in it, each once. Rank r is if contributors[r / 64] >> (r % 64) & 1;
   * there are TRIBUTARY_RANK_WORDS(world size) words. */
  const uint64_t* contributors;
  uint32_t contributor_count;
  /* Read this only if tributary_version() is 1006 or more. The iteration of these gradients, the
   * latest where they are of several; where ranks are apart, it may be lower than that of an
   * earlier sum. It is the same on all ranks, so that a rate can follow a schedule. */
  uint64_t iteration;
} tributary_layer_sum;
/* Changes the parameters by a sum, the same way on all ranks; returns 0 if it has done that.
 * Otherwise this rank cannot go on: the communicator is aborted, and the call fails with
 * TRIBUTARY_ABORTED. The thread that enters or closes calls it, during that. */
typedef int (*tributary_apply_function)(void* context, const tributary_layer_sum* sum);

/* Rank 0's options count, but `pause_nanoseconds` and those behind it are each rank's own. */
typedef struct tributary_gradient_exchange_options {
  int synchrony;      /* a tributary_synchrony */
  uint32_t staleness; /* iterations: the paper's s */
  double proportion;  /* its p, as a share of all layers, above 0 up to 1: who has that many of its
                       * iteration in sums is not stale */
  int stale;          /* a tributary_stale */
  uint32_t catch_up;  /* who begins none while the fastest begins more than so many iterations gets
                       * parameters in place of sums; 1 at least */
  uint32_t regroup;   /* iterations after which colayers are formed anew; 0: never */
  uint64_t pause_nanoseconds; /* for so long others may have to wait for this rank's thread */
  uint64_t stall_warning_nanoseconds; /* after so long a line names whom this rank waits for: to
                                       * tributary_options_on_notice() of its communicator */
  /* The thread that waits in a call of the exchange calls it ten times a second, with the context
   * of what applies. It returns 0 to wait on; otherwise the communicator is aborted. Null: none. */
  int (*on_wait)(void* context);
} tributary_gradient_exchange_options;
#define TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS \
  { TRIBUTARY_BSP, 3, 1.0, TRIBUTARY_STALE_WAIT, 4, 0, 2000000, 10000000000u, NULL }

typedef struct tributary_gradient_exchange tributary_gradient_exchange;

/* All ranks call it, behind the same collectives. `layers` has the elements of each layer.
 * `parameters` is everything that `apply` changes, as long on all ranks: with TRIBUTARY_STALE_DROP
 * and TRIBUTARY_ASP, a rank may get another one's parameters in place of sums; otherwise it may be
 * null. It is read and written while this rank enters or closes, and left alone by others then.
 * `options` may be null: the defaults.
 *
 * The communicator belongs to the exchange from now on, until that is closed without an error, or
 * destroyed: what is posted there meanwhile fails with TRIBUTARY_INVALID_ARGUMENT, and so does
 * tributary_comm_statistic(). tributary_comm_abort() ends both. The communicator may be destroyed
 * before the exchange. */
tributary_result tributary_gradient_exchange_create(
    tributary_gradient_exchange** exchange, tributary_comm* comm, const size_t* layers,
    size_t layer_count, float* parameters, size_t parameter_count, tributary_apply_function apply,
    void* context, const tributary_gradient_exchange_options* options);
/* Does the same with sums of sketches of the gradients. With feedback, what was rounded off goes
 * along with the rank's next gradient of the same layer. `sketch` may be null: the defaults. Rank
 * 0's counts: the others may create the exchange either way. */
tributary_result tributary_gradient_exchange_create_sketched(
    tributary_gradient_exchange** exchange, tributary_comm* comm, const size_t* layers,
    size_t layer_count, float* parameters, size_t parameter_count, tributary_apply_function apply,
    void* context, const tributary_gradient_exchange_options* options,
    const tributary_sketch_options* sketch);
/* Begins the next iteration, once the others are far enough; its number is in *iteration, unless
 * that is null. Iterations begin at 0; a rank that was given parameters with TRIBUTARY_STALE_DROP
 * goes on in the iteration of the rank that they came from. */
tributary_result tributary_gradient_exchange_enter(tributary_gradient_exchange* exchange,
                                                   uint64_t* iteration);
/* Each layer is offered once in an iteration, in any order. The call does not wait, and the
 * gradient may change as soon as it returns. */
tributary_result tributary_gradient_exchange_offer(tributary_gradient_exchange* exchange,
                                                   size_t layer, const float* gradient,
                                                   size_t count);
/* Waits until all gradients of this iteration are in sums. *counted, unless that is null, is then
 * 1; it is 0 if what was left of them was stale, and dropped. */
tributary_result tributary_gradient_exchange_finish(tributary_gradient_exchange* exchange,
                                                    int* counted);
/* Says that this rank trains no more; in an iteration, it leaves out what is in no sum. Waits for
 * the other ranks to close, and applies their sums. */
tributary_result tributary_gradient_exchange_close(tributary_gradient_exchange* exchange);
/* Tells whose gradients are in sums: the Gradient Exchange Index (section 5.2 of the paper), of the
 * last 256 iterations. `ranks` has room for *rows of them, each of which has
 * TRIBUTARY_RANK_WORDS(world size) words for every layer, as tributary_layer_sum has them. *rows is
 * how many there are then, the latest ones, and *first the iteration of the first one. */
tributary_result tributary_gradient_exchange_gei(const tributary_gradient_exchange* exchange,
                                                 uint64_t* first, uint64_t* ranks, size_t* rows);
/* Gives what was counted, by its name in docs/reference/library.md; TRIBUTARY_INVALID_ARGUMENT if
 * there is none. */
tributary_result tributary_gradient_exchange_statistic(const tributary_gradient_exchange* exchange,
                                                       const char* name, uint64_t* value);
/* Closes it, which waits for the others unless the communicator was aborted. Null does nothing. */
void tributary_gradient_exchange_destroy(tributary_gradient_exchange* exchange);

/* ---- Requests ---- */

/* These return TRIBUTARY_IN_PROGRESS, or how the request ended. In the latter case the request is
 * gone, and *request null; of null the outcome is success. */
tributary_result tributary_test(tributary_request** request);
tributary_result tributary_wait(tributary_request** request);
/* Waits no longer than so many nanoseconds; after that it returns TRIBUTARY_IN_PROGRESS, and the
 * request stays. */
tributary_result tributary_wait_for(tributary_request** request, uint64_t nanoseconds);
/* Waits for the first of them that ends, as tributary_wait() does, and puts its place into *index.
 * Null requests are left out; where all are null the outcome is success, and *index is `count`.
 * Each request is there once. */
tributary_result tributary_wait_any(tributary_request** requests, size_t count, size_t* index);
/* Waits no longer than so many nanoseconds; after that it returns TRIBUTARY_IN_PROGRESS, and *index
 * is `count`. */
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

/* Is told how a collective has ended; in it tributary_last_error() has the reason. */
typedef void (*tributary_completion)(void* context, tributary_result result);
/* Calls the function once, when the collective of that request ends, also when the request was
 * freed before; at once if it has ended. The latest function counts; null: none. It is called by
 * the thread that carries out the communicator's collectives, or by the one that ends it otherwise:
 * the caller of this; of a test or a wait, where the deadline passed before its turn; of
 * tributary_comm_destroy(), for a group that has not ended. A wait may return before it has
 * returned, tributary_comm_destroy() does not.
 *
 * It must not wait: no collective that blocks, no wait, no destruction of a communicator, and not
 * tributary_comm_statistic(). It may ask its own communicator for partial results, if the result is
 * a success, may post collectives, on a communicator that is not being destroyed, and leaves its
 * own request alone. */
tributary_result tributary_request_on_completion(tributary_request* request,
                                                 tributary_completion function, void* context);

/* The request is waited for no more: it goes on, and its buffers are still in use, until the
 * communicator ends. */
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
