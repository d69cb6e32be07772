# SPDX-License-Identifier: BSD-3-Clause
# Adds up a vector of all ranks: see 4-own-program.md.
import numpy
import tributary

with tributary.Communicator() as communicator:
    gradients = numpy.full(1_000_000, communicator.rank + 1, dtype="float32")
    communicator.allreduce(gradients)
    print(f"rank {communicator.rank} of {communicator.size}: {gradients[0]}")
