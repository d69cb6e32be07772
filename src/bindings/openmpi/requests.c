/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of MPI that stand for Tributary's, which are looked after whenever MPI progresses. */
#include <ompi/runtime/mpiruntime.h>
#include <opal/runtime/opal_progress.h>
#include <pthread.h>
#include <time.h>

#include "bindings/openmpi/coll_tributary.h"

struct coll_tributary_request {
  ompi_request_t super;
  coll_tributary_module_t* module;
  tributary_request* posted;
  const char* collective;
  struct coll_tributary_request* next;
};
typedef struct coll_tributary_request coll_tributary_request_t;
OBJ_CLASS_DECLARATION(coll_tributary_request_t);
OBJ_CLASS_INSTANCE(coll_tributary_request_t, ompi_request_t, NULL, NULL);

/* What is under way, the oldest one first; the lock is for programs of several threads. */
static struct {
  pthread_mutex_t lock;
  coll_tributary_request_t* first;
  bool progresses; /* Open MPI calls progress() */
} all = {PTHREAD_MUTEX_INITIALIZER, NULL, false};

/* Takes those that have ended off the list; they are completed when the lock is free again, as what
 * MPI does then may begin other requests. */
static coll_tributary_request_t* take_ended(void) {
  coll_tributary_request_t* ended = NULL;
  coll_tributary_request_t** last = &ended;
  coll_tributary_request_t** place = &all.first;
  while (*place != NULL) {
    coll_tributary_request_t* const one = *place;
    const tributary_result result = tributary_test(&one->posted);
    if (result == TRIBUTARY_IN_PROGRESS) {
      place = &one->next;
      continue;
    }
    one->super.req_status.MPI_ERROR =
        tributary_mpi_outcome(&one->module->team, one->collective, result);
    *place = one->next;
    one->next = NULL;
    *last = one;
    last = &one->next;
  }
  return ended;
}

static int progress(void) {
  int completed = 0;
  coll_tributary_request_t* ended;
  if (__atomic_load_n(&all.first, __ATOMIC_RELAXED) == NULL ||
      pthread_mutex_trylock(&all.lock) != 0) {
    return 0;
  }
  ended = take_ended();
  pthread_mutex_unlock(&all.lock);
  while (ended != NULL) {
    coll_tributary_request_t* const one = ended;
    ended = one->next;
    ompi_request_complete(&one->super, true);
    ++completed;
  }
  return completed;
}

static int free_request(ompi_request_t** request) {
  ompi_request_t* one = *request;
  if (!REQUEST_COMPLETE(one)) {
    return MPI_ERR_REQUEST; /* MPI forbids it: its buffers are in use */
  }
  OMPI_REQUEST_FINI(one);
  OBJ_RELEASE(one);
  *request = MPI_REQUEST_NULL;
  return OMPI_SUCCESS;
}

static int cancel_request(ompi_request_t* request, int flag) {
  (void)request;
  (void)flag;
  return MPI_ERR_REQUEST;
}

static void append(coll_tributary_request_t* mine) {
  coll_tributary_request_t** place = &all.first;
  pthread_mutex_lock(&all.lock);
  while (*place != NULL) {
    place = &(*place)->next;
  }
  *place = mine;
  if (!all.progresses) {
    all.progresses = true;
    opal_progress_register(progress);
  }
  pthread_mutex_unlock(&all.lock);
}

int coll_tributary_request(coll_tributary_module_t* module, tributary_request* posted,
                           const char* collective, ompi_request_t** request) {
  coll_tributary_request_t* const mine = OBJ_NEW(coll_tributary_request_t);
  if (mine == NULL) {
    (void)tributary_wait(&posted); /* its buffers are in use until then */
    return OMPI_ERR_OUT_OF_RESOURCE;
  }
  OMPI_REQUEST_INIT(&mine->super, false);
  mine->super.req_type = OMPI_REQUEST_COLL;
  mine->super.req_state = OMPI_REQUEST_ACTIVE;
  mine->super.req_status = ompi_status_empty;
  mine->super.req_free = free_request;
  mine->super.req_cancel = cancel_request;
  mine->super.req_mpi_object.comm = module->comm;
  mine->module = module;
  mine->posted = posted;
  mine->collective = collective;
  mine->next = NULL;
  append(mine);
  *request = &mine->super;
  return OMPI_SUCCESS;
}

static bool has_requests(const coll_tributary_module_t* module) {
  const coll_tributary_request_t* one;
  pthread_mutex_lock(&all.lock);
  for (one = all.first; one != NULL && one->module != module;) {
    one = one->next;
  }
  pthread_mutex_unlock(&all.lock);
  return one != NULL;
}

void coll_tributary_finish_requests(coll_tributary_module_t* module) {
  const struct timespec moment = {0, 100000};
  if (ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_STARTED && has_requests(module)) {
    tributary_comm_abort(module->team.comm);
  }
  while (has_requests(module)) {
    if (progress() == 0) {
      opal_progress();
      nanosleep(&moment, NULL);
    }
  }
}

void coll_tributary_close_requests(void) {
  if (all.progresses) {
    opal_progress_unregister(progress);
    all.progresses = false;
  }
}
