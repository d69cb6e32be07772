// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <gtest/gtest.h>

// MPI tells the sizes of its types only between MPI_Init() and MPI_Finalize().
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
