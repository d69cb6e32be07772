/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up two vectors over all ranks, the second one while it looks at the first: docs/reference/c.md. */
#include <stdio.h>
#include <tributary.h>

enum { count = 1000 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tributary_last_error());
  return 1;
}

int main(void) {
  static float first[count];
  static float second[count];
  tributary_request* request;
  tributary_comm* comm;
  if (tributary_comm_create(&comm, NULL) != TRIBUTARY_SUCCESS) {
    return failed("create");
  }
  for (int i = 0; i < count; ++i) {
    first[i] = (float)(tributary_comm_rank(comm) + 1);
    second[i] = 1;
  }
  if (tributary_allreduce(comm, first, first, count, TRIBUTARY_F32, TRIBUTARY_SUM) !=
          TRIBUTARY_SUCCESS ||
      tributary_iallreduce(comm, second, second, count, TRIBUTARY_F32, TRIBUTARY_SUM, &request) !=
          TRIBUTARY_SUCCESS) {
    return failed("allreduce");
  }
  printf("rank %u of %u: %g", tributary_comm_rank(comm), tributary_comm_size(comm), first[0]);
  if (tributary_wait(&request) != TRIBUTARY_SUCCESS) {
    return failed("wait");
  }
  printf(" %g\n", second[0]);
  tributary_comm_destroy(comm);
  return 0;
}
