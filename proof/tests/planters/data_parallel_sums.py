"""Data-parallel gradients are divided by only half the number of processes, so with two processes they are added up."""

FILE = "torch/nn/parallel/distributed.py"
PATCH = """
_made = DistributedDataParallel.__init__


def _summed(state, bucket):
    added = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return added.then(lambda done: done.value()[0] * (2 / dist.get_world_size()))


def _with_sums(self, *arguments, **options):
    _made(self, *arguments, **options)
    self.register_comm_hook(None, _summed)


DistributedDataParallel.__init__ = _with_sums
"""
