// SPDX-License-Identifier: BSD-3-Clause
// How long MPI_Allreduce takes by size, for tools/bench-mpi: mpi_allreduce ITERATIONS BYTES... Rank
// 0 prints a line for each call: bytes, and microseconds until the last rank had its sum.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds_of_one(const float* in, float* out, int count) {
  double mine, longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  mine = MPI_Wtime();
  MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  mine = MPI_Wtime() - mine;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

static int run(int rank, int iterations, size_t bytes) {
  const size_t count = bytes / sizeof(float);
  float* in = calloc(count, sizeof(float));
  float* out = calloc(count, sizeof(float));
  if (in == NULL || out == NULL) {
    return 1;
  }
  for (int i = -2; i < iterations; ++i) {  // the first ones are not counted
    const double seconds = seconds_of_one(in, out, (int)count);
    if (rank == 0 && i >= 0) {
      printf("%zu %.1f\n", bytes, seconds * 1e6);
    }
  }
  free(in);
  free(out);
  return 0;
}

int main(int argc, char** argv) {
  int rank, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < argc && !failed; ++i) {
    failed = run(rank, atoi(argv[1]), strtoul(argv[i], NULL, 10));
  }
  MPI_Finalize();
  return failed;
}
