# SPDX-License-Identifier: BSD-3-Clause
"""Communication hooks of DistributedDataParallel, without PyTorch; tributary.torch has them for its groups."""

from concurrent.futures import ThreadPoolExecutor

from ._core import Sketch


def sketch_hook(communicator, future, *, bits: int = 8, feedback: bool = True, **more):
    """A hook that averages gradients over the ranks of a communicator, each rounded to so many bits on its way.

    `future` makes one: torch.futures.Future. `more` is for tributary.Sketch. What was rounded off of a bucket comes
    with its next gradients, as long as it has the same parameters: DDP makes its buckets anew after the first step.
    """
    kept = {}  # by the bucket's index: its parameters, and its sketch
    # Of DDP's hooks none may wait, and futures end by whoever does.
    waiter = ThreadPoolExecutor(1, "tributary-sketches")

    def sketch_of(bucket, count: int) -> Sketch:
        parameters = [parameter.data_ptr() for parameter in bucket.parameters()]
        known = kept.get(bucket.index())
        if known is None or known[0] != parameters:
            known = parameters, Sketch(count, bits=bits, feedback=feedback, **more)
            kept[bucket.index()] = known
        return known[1]

    def finish(request, gradients, averaged) -> None:
        try:
            request.wait()
            averaged.set_result(gradients.div_(communicator.size))
        except Exception as error:  # DDP raises it
            averaged.set_exception(error)

    # DDP looks for the second parameter by its name, and at the name of the hook.
    def sketched(_state, bucket):
        gradients = bucket.buffer()
        vector = gradients.numpy()  # the same memory
        request = communicator.isketched_allreduce(vector, sketch_of(bucket, vector.size))
        averaged = future()
        waiter.submit(finish, request, gradients, averaged)
        return averaged

    return sketched
