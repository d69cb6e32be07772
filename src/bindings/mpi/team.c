/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/mpi/team.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/mpi/elements.h"

static void say(void* context, const char* line) {
  const struct tributary_mpi_team* team = context;
  if (team->rank == 0) {
    fprintf(stderr, "tributary: %s: %s\n", team->name, line);
  }
}

void tributary_mpi_team_begin(struct tributary_mpi_team* team) {
  team->state = TRIBUTARY_MPI_NOT_ASKED;
  team->wanted = false;
  team->comm = NULL;
  memset(team->left, 0, sizeof team->left);
}

static bool wants_to_know(void) {
  const char* const level = getenv("TRIBUTARY_LOG");
  return level != NULL && strcmp(level, "info") == 0;
}

/* "7 calls by the MPI library itself (5: of fewer bytes ...; 2: before ...)" */
static void tell_what_was_left(const struct tributary_mpi_team* team) {
  static const char* const reasons[TRIBUTARY_MPI_REASONS] = {
      "of a type or operator that is not carried", "of fewer bytes than the threshold, or too many",
      "before the communicator was created", "as the communicator could not be created"};
  char line[512];
  int length = 0;
  unsigned long all = 0;
  for (int reason = 0; reason < TRIBUTARY_MPI_REASONS; ++reason) {
    if (team->left[reason] != 0) {
      length += snprintf(line + length, sizeof line - (size_t)length, "%s%lu: %s",
                         all == 0 ? "" : "; ", team->left[reason], reasons[reason]);
    }
    all += team->left[reason];
  }
  if (all != 0 && team->rank == 0) {
    fprintf(stderr, "tributary: %s: %lu calls by the MPI library itself (%s)\n", team->name, all,
            line);
  }
}

void tributary_mpi_team_end(struct tributary_mpi_team* team) {
  tributary_comm_destroy(team->comm);
  if (wants_to_know()) {
    tell_what_was_left(team);
  }
  tributary_mpi_team_begin(team);
}

/* MPI itself waits for ever for a rank that is late, say with a checkpoint; one that is gone is
 * missed all the same. */
static tributary_result be_patient(tributary_options* options) {
  static const char variable[] = "TRIBUTARY_LATE_TIMEOUT";
  const char* const given = getenv(variable);
  return given != NULL && *given != '\0' ? TRIBUTARY_SUCCESS
                                         : tributary_options_set(options, variable, "30min");
}

static tributary_result set_up(const struct tributary_mpi_team* team, tributary_options* options) {
  tributary_result result =
      tributary_options_on_notice(options, say, (struct tributary_mpi_team*)team);
  if (result == TRIBUTARY_SUCCESS) {
    result = be_patient(options);
  }
  if (result == TRIBUTARY_SUCCESS && team->share_machine) {
    result = tributary_options_share_machine(options);
  }
  if (result == TRIBUTARY_SUCCESS && !team->is_world) {
    result = tributary_options_for_part(options);
  }
  return result;
}

/* All ranks come to the same state: if it fails, it does on all of them. A rank that cannot even
 * say what it wants goes on without options, so that the others do not wait for it. */
static void create(struct tributary_mpi_team* team) {
  tributary_options* options = NULL;
  tributary_result result = tributary_options_create(&options);
  if (result == TRIBUTARY_SUCCESS && set_up(team, options) != TRIBUTARY_SUCCESS) {
    tributary_options_destroy(options);
    options = NULL;
  }
  result =
      tributary_comm_create_with(&team->comm, options, (uint32_t)team->rank, (uint32_t)team->size,
                                 team->beneath.allgather, team->beneath.context);
  tributary_options_destroy(options);
  team->state = result == TRIBUTARY_SUCCESS ? TRIBUTARY_MPI_RUNS : TRIBUTARY_MPI_REFUSED;
  if (result != TRIBUTARY_SUCCESS && team->rank == 0) {
    fprintf(stderr, "tributary: %s: not carried, the MPI library does it by itself: %s\n",
            team->name, tributary_last_error());
  }
}

/* Counts a call that is left to the MPI library. Of one rank nothing is to be carried. */
static bool leave(struct tributary_mpi_team* team, enum tributary_mpi_reason reason) {
  team->left[reason] += team->size < 2 ? 0 : 1;
  return false;
}

static void create_if_wanted(struct tributary_mpi_team* team, bool may_wait) {
  if (team->state == TRIBUTARY_MPI_NOT_ASKED && team->wanted && may_wait) {
    create(team);
  }
}

static bool runs(struct tributary_mpi_team* team) {
  switch (team->state) {
    case TRIBUTARY_MPI_NOT_ASKED:
      return leave(team, TRIBUTARY_MPI_EARLY);
    case TRIBUTARY_MPI_REFUSED:
      return leave(team, TRIBUTARY_MPI_IN_VAIN);
    case TRIBUTARY_MPI_RUNS:
      break;
  }
  return true;
}

bool tributary_mpi_carries(struct tributary_mpi_team* team, size_t bytes, bool may_wait) {
  const bool large = bytes != 0 && bytes >= team->threshold;
  if (team->size < 2) {
    return false;
  }
  team->wanted = team->wanted || large;
  create_if_wanted(team, may_wait);
  return large ? runs(team) : leave(team, TRIBUTARY_MPI_SIZE);
}

static bool carries_elements(struct tributary_mpi_team* team, MPI_Datatype type, MPI_Op op) {
  struct tributary_mpi_elements elements;
  return tributary_mpi_elements_of(type, op, &elements) || leave(team, TRIBUTARY_MPI_ELEMENTS);
}

bool tributary_mpi_carries_reduction(struct tributary_mpi_team* team, int count, MPI_Datatype type,
                                     MPI_Op op, bool may_wait) {
  return carries_elements(team, type, op) &&
         tributary_mpi_carries(team, tributary_mpi_bytes(type, count), may_wait);
}

bool tributary_mpi_carries_reduce_scatter_block(struct tributary_mpi_team* team, int count,
                                                MPI_Datatype type, MPI_Op op) {
  const size_t bytes = (size_t)team->size * tributary_mpi_bytes(type, count);
  return carries_elements(team, type, op) && tributary_mpi_carries(team, bytes, true);
}

bool tributary_mpi_carries_reduce_scatter(struct tributary_mpi_team* team, const int counts[],
                                          MPI_Datatype type, MPI_Op op) {
  size_t bytes = 0;
  for (int rank = 0; rank < team->size; ++rank) {
    if (counts[rank] < 0) { /* which MPI refuses */
      return false;
    }
    bytes += tributary_mpi_bytes(type, counts[rank]);
  }
  return carries_elements(team, type, op) && tributary_mpi_carries(team, bytes, true);
}

/* MPI_Pack counts bytes by an int, and whether a rank needs it is that rank's own affair. */
bool tributary_mpi_carries_bcast(struct tributary_mpi_team* team, int count, MPI_Datatype type) {
  const size_t bytes = tributary_mpi_bytes(type, count);
  return bytes <= INT_MAX ? tributary_mpi_carries(team, bytes, true)
                          : leave(team, TRIBUTARY_MPI_SIZE);
}

bool tributary_mpi_carries_barrier(struct tributary_mpi_team* team) {
  if (team->size < 2) {
    return false;
  }
  create_if_wanted(team, true);
  return runs(team);
}

static int class_of(tributary_result result) {
  switch (result) {
    case TRIBUTARY_SUCCESS:
      return MPI_SUCCESS;
    case TRIBUTARY_INVALID_ARGUMENT:
      return MPI_ERR_ARG;
    case TRIBUTARY_INTERNAL:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_OTHER;
  }
}

int tributary_mpi_outcome(const struct tributary_mpi_team* team, const char* collective,
                          tributary_result result) {
  if (result != TRIBUTARY_SUCCESS) {
    fprintf(stderr, "tributary: %s, rank %d: %s failed: %s\n", team->name, team->rank, collective,
            tributary_last_error());
  }
  return class_of(result);
}

/* Another rank may be on its way to this collective, and wait for a message of this one before: so
 * messages get on, soon at first, and then every millisecond, which leaves the processor alone. */
int tributary_mpi_finish(struct tributary_mpi_team* team, const char* collective,
                         tributary_result posted, tributary_request** request) {
  const uint64_t longest_ns = 1000000;
  uint64_t patience_ns = 50000;
  tributary_result result = posted;
  if (posted == TRIBUTARY_SUCCESS) {
    while ((result = tributary_wait_for(request, patience_ns)) == TRIBUTARY_IN_PROGRESS) {
      team->beneath.progress();
      patience_ns = patience_ns < longest_ns / 2 ? 2 * patience_ns : longest_ns;
    }
  }
  return tributary_mpi_outcome(team, collective, result);
}
