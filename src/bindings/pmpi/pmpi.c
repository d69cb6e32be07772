/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of MPI programs over Tributary where the MPI library takes no components: functions
 * of MPI that are found before those of the library (LD_PRELOAD), which goes on by the names that
 * MPI gives them for this, with a P before them.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bindings/mpi/team.h"

/* One of each communicator that has called something; an attribute of it. */
struct member {
  struct tributary_mpi_team team; /* first: the one is had from the other */
  MPI_Comm comm;
  int in_flight; /* threads that are in a collective which Tributary carries */
  struct member* next;
};

static struct {
  pthread_mutex_t lock;
  int key; /* of the attribute */
  struct member* first;
  bool enable;
  bool share_machine;
  size_t threshold;
} all = {PTHREAD_MUTEX_INITIALIZER, MPI_KEYVAL_INVALID, NULL, true, true, 16384};

static pthread_once_t reading = PTHREAD_ONCE_INIT;
static pthread_once_t beginning = PTHREAD_ONCE_INIT;

/* ---- A communicator's life ---- */

/* When its communicator is freed. */
static int remove_member(MPI_Comm comm, int key, void* attribute, void* context) {
  struct member* const mine = attribute;
  struct member** place = &all.first;
  (void)comm;
  (void)key;
  (void)context;
  pthread_mutex_lock(&all.lock);
  while (*place != NULL && *place != mine) {
    place = &(*place)->next;
  }
  if (*place != NULL) {
    *place = mine->next;
  }
  pthread_mutex_unlock(&all.lock);
  tributary_mpi_team_end(&mine->team);
  free(mine);
  return MPI_SUCCESS;
}

static bool is_switched_off(const char* variable) {
  const char* const text = getenv(variable);
  return text != NULL && strcmp(text, "0") == 0;
}

static void read_environment(void) {
  const char* const threshold = getenv("TRIBUTARY_MPI_THRESHOLD");
  int rank = 0;
  all.enable = !is_switched_off("TRIBUTARY_MPI_ENABLE");
  all.share_machine = !is_switched_off("TRIBUTARY_MPI_SHARE_MACHINE");
  if (threshold != NULL) {
    char* end = NULL;
    all.threshold = strtoull(threshold, &end, 10);
    if (end == threshold || *end != '\0' || strchr(threshold, '-') != NULL) {
      if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0) {
        fprintf(stderr,
                "tributary: TRIBUTARY_MPI_THRESHOLD=%s is not a number of bytes; nothing is "
                "carried\n",
                threshold);
      }
      all.enable = false;
    }
  }
}

/* Calls would hang where a rank takes another way than the others, so all have the settings of the
 * world's rank 0. */
static void agree(void) {
  unsigned long long settings[3];
  pthread_once(&reading, read_environment);
  settings[0] = all.enable;
  settings[1] = all.share_machine;
  settings[2] = all.threshold;
  if (PMPI_Bcast(settings, 3, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD) == MPI_SUCCESS) {
    all.enable = settings[0] != 0;
    all.share_machine = settings[1] != 0;
    all.threshold = settings[2];
  }
}

static void begin(void) {
  pthread_once(&reading, read_environment);
  if (all.enable && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove_member, &all.key, NULL) !=
                        MPI_SUCCESS) {
    all.enable = false;
  }
}

/* Any call of MPI that looks for messages looks after those of all communicators; but not one of
 * MPI_COMM_SELF, which needs no network. */
static void progress(void) {
  int there = 0;
  (void)PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static int allgather(void* context, const void* in, void* out, size_t bytes) {
  const struct member* const mine = context;
  return PMPI_Allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, mine->comm);
}

static struct member* add_member(MPI_Comm comm) {
  int length = 0;
  struct member* const mine = calloc(1, sizeof *mine);
  if (mine == NULL) {
    return NULL;
  }
  tributary_mpi_team_begin(&mine->team);
  mine->comm = comm;
  mine->team.is_world = comm == MPI_COMM_WORLD;
  mine->team.threshold = all.threshold;
  mine->team.share_machine = all.share_machine;
  mine->team.beneath.progress = progress;
  mine->team.beneath.allgather = allgather;
  mine->team.beneath.context = mine;
  if (PMPI_Comm_rank(comm, &mine->team.rank) != MPI_SUCCESS ||
      PMPI_Comm_size(comm, &mine->team.size) != MPI_SUCCESS ||
      PMPI_Comm_get_name(comm, mine->team.name, &length) != MPI_SUCCESS ||
      PMPI_Comm_set_attr(comm, all.key, mine) != MPI_SUCCESS) {
    free(mine);
    return NULL;
  }
  if (length == 0) {
    snprintf(mine->team.name, sizeof mine->team.name, "a communicator of %d", mine->team.size);
  }
  pthread_mutex_lock(&all.lock);
  mine->next = all.first;
  all.first = mine;
  pthread_mutex_unlock(&all.lock);
  return mine;
}

/* Null where nothing is carried: between groups, and when MPI is not there. */
static struct tributary_mpi_team* team_of(MPI_Comm comm) {
  int there = 0;
  int between_groups = 0;
  struct member* mine = NULL;
  if (comm == MPI_COMM_NULL || PMPI_Initialized(&there) != MPI_SUCCESS || !there) {
    return NULL;
  }
  pthread_once(&beginning, begin);
  if (!all.enable || PMPI_Comm_get_attr(comm, all.key, &mine, &there) != MPI_SUCCESS) {
    return NULL;
  }
  if (!there) {
    if (PMPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) {
      return NULL;
    }
    mine = add_member(comm);
  }
  return mine == NULL ? NULL : &mine->team;
}

/* The collective's team, of which it is in flight from now on. */
static struct tributary_mpi_team* begin_in(struct tributary_mpi_team* team) {
  __atomic_add_fetch(&((struct member*)team)->in_flight, 1, __ATOMIC_ACQ_REL);
  return team;
}

/* As MPI's own functions end: errors go to the communicator's handler. It may finalize MPI, or
 * never return. */
static int end_of(struct tributary_mpi_team* team, int class) {
  struct member* const mine = (struct member*)team;
  const MPI_Comm comm = mine->comm;
  __atomic_sub_fetch(&mine->in_flight, 1, __ATOMIC_ACQ_REL);
  if (class != MPI_SUCCESS) {
    PMPI_Comm_call_errhandler(comm, class);
  }
  return class;
}

static bool has_root(const struct tributary_mpi_team* team, int root) {
  return root >= 0 && root < team->size;
}

/* ---- The functions that programs call ---- */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  if (result == MPI_SUCCESS) {
    agree();
  }
  return result;
}

EXPORTED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  if (result == MPI_SUCCESS) {
    agree();
  }
  return result;
}

EXPORTED int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && tributary_mpi_carries_reduction(team, count, type, op, true)) {
    return end_of(team, tributary_mpi_reduce(begin_in(team), in, out, count, type, op, -1));
  }
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

EXPORTED int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && has_root(team, root) &&
      tributary_mpi_carries_reduction(team, count, type, op, true)) {
    return end_of(team, tributary_mpi_reduce(begin_in(team), in, out, count, type, op, root));
  }
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

EXPORTED int MPI_Bcast(void* inout, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && has_root(team, root) && tributary_mpi_carries_bcast(team, count, type)) {
    return end_of(team, tributary_mpi_bcast(begin_in(team), inout, count, type, root));
  }
  return PMPI_Bcast(inout, count, type, root, comm);
}

EXPORTED int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type,
                                      MPI_Op op, MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && tributary_mpi_carries_reduce_scatter_block(team, count, type, op)) {
    return end_of(team,
                  tributary_mpi_reduce_scatter_block(begin_in(team), in, out, count, type, op));
  }
  return PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
}

EXPORTED int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && tributary_mpi_carries_reduce_scatter(team, counts, type, op)) {
    return end_of(team, tributary_mpi_reduce_scatter(begin_in(team), in, out, counts, type, op));
  }
  return PMPI_Reduce_scatter(in, out, counts, type, op, comm);
}

EXPORTED int MPI_Barrier(MPI_Comm comm) {
  struct tributary_mpi_team* const team = team_of(comm);
  if (team != NULL && tributary_mpi_carries_barrier(team)) {
    return end_of(team, tributary_mpi_barrier(begin_in(team)));
  }
  return PMPI_Barrier(comm);
}

static bool is_in_flight(struct member* one) {
  return __atomic_load_n(&one->in_flight, __ATOMIC_ACQUIRE) != 0;
}

/* MPI forbids it, and would end beneath those threads: what they wait for is given up, which takes
 * a second at most. Other ranks find out by their connections to this one, or by their time limits.
 */
static void give_up(struct member* one) {
  const struct timespec moment = {0, 100000};
  fprintf(stderr,
          "tributary: %s, rank %d: MPI_Finalize with a collective in flight in another thread: it "
          "is given up\n",
          one->team.name, one->team.rank);
  tributary_comm_abort(one->team.comm);
  while (is_in_flight(one)) {
    nanosleep(&moment, NULL);
  }
}

/* Not all MPI libraries take attributes off communicators that are there until the end. */
EXPORTED int MPI_Finalize(void) {
  struct member* one = all.first;
  for (; one != NULL; one = one->next) {
    if (is_in_flight(one)) {
      give_up(one);
    }
    tributary_mpi_team_end(&one->team);
    one->team.state = TRIBUTARY_MPI_REFUSED;
  }
  return PMPI_Finalize();
}
