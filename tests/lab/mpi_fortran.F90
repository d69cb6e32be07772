! SPDX-License-Identifier: BSD-3-Clause
! For mpi_test: a program in Fortran that calls all that Tributary carries, over one of the modules
! mpi and mpi_f08. It checks its sums, and ends with a number where one is wrong.
program fortran
  use MPI_MODULE
  implicit none
  integer, parameter :: n = 5000
  real, allocatable :: own(:), all(:)
  integer, allocatable :: counts(:)
  integer :: rank, ranks, provided, error
  real :: total

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  total = ranks * (ranks + 1) / 2
  allocate(own(n * ranks), all(n * ranks), counts(ranks))
  counts = n

  own = rank + 1
  call MPI_Allreduce(own, all, n * ranks, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(all /= total)) stop 1
  all = own
  call MPI_Allreduce(MPI_IN_PLACE, all, n * ranks, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(all /= total)) stop 2
  all = 0
  call MPI_Reduce(own, all, n, MPI_REAL, MPI_SUM, 1, MPI_COMM_WORLD, error)
  if (rank == 1 .and. any(all(:n) /= total)) stop 3
  all = rank
  call MPI_Bcast(all, n, MPI_REAL, 2, MPI_COMM_WORLD, error)
  if (any(all(:n) /= 2)) stop 4
  call MPI_Reduce_scatter_block(own, all, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(all(:n) /= total)) stop 5
  all = 0
  call MPI_Reduce_scatter(own, all, counts, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(all(:n) /= total)) stop 6
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (error /= MPI_SUCCESS) stop 7
  print '(a, i0, a)', 'rank ', rank, ': 7 calls are right'
  call MPI_Finalize(error)
end program
