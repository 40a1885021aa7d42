"""The members of a training agree at which step they leave.

All members must save the same step, but SIGTERM reaches them at different moments, or only some.
So they add up their stop flags across the cluster: whoever sees a sum above zero leaves, and since
the sum is the same everywhere, all leave after the same step.
"""

import time

SECONDS_BETWEEN = 0.25  # a sum costs about a millisecond, so fast steps share one ...
STEPS_BETWEEN = 10  # ... but never so many that steps which grow slow delay the leaving


class Agreement:
    """`total` adds up a pair of numbers over all members; None when there is only one."""

    def __init__(self, total, members, step, clock=time.monotonic):
        self._total = total
        self._members = members
        self._clock = clock
        self._at_step = step  # of the last sum
        self._at_time = clock()
        self._next_step = step + 1

    def reached(self, step, asked):
        """Whether all leave now. Called by every member after the same steps."""
        if self._total is None:
            return asked
        if step < self._next_step:
            return False
        now = self._clock()
        # Whole numbers, whose sum is exact in any order: every member computes the same next step.
        mine = (float(asked), float(min(round((now - self._at_time) * 1000), 10**5)))
        flags, milliseconds = self._total(mine)
        self._next_step = step + steps_until_next(step - self._at_step,
                                                  milliseconds / self._members / 1000)
        self._at_step, self._at_time = step, self._clock()
        return flags > 0

    def meet(self):
        """Returns when all members have come here."""
        if self._total is not None:
            self._total((0.0, 0.0))


def steps_until_next(steps, seconds):
    """How many steps take SECONDS_BETWEEN, when `steps` took `seconds`."""
    if seconds <= 0:
        return STEPS_BETWEEN
    return int(max(1, min(STEPS_BETWEEN, steps * SECONDS_BETWEEN / seconds)))


def over(strategy):
    """The `total` and `members` of an Agreement between the processes of `strategy`."""
    if processes(strategy) < 2:
        return None, 1
    import tensorflow as tf

    @tf.function
    def add_up(pair):
        mine = strategy.run(lambda value: value, args=(pair,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, mine, axis=None)

    def total(pair):
        return add_up(tf.constant(pair)).numpy().tolist()

    return total, strategy.num_replicas_in_sync


def processes(strategy):
    """How many processes run the same program in step (one, unless it is MultiWorkerMirrored)."""
    import tensorflow as tf

    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return 1
    return len(_members(strategy))


def peers(strategy):
    """The addresses of the other members."""
    if processes(strategy) < 2:
        return []
    resolver = strategy.cluster_resolver
    own = (resolver.task_type, resolver.task_id)
    return [address for member, address in _members(strategy).items() if member != own]


def _members(strategy):
    jobs = strategy.cluster_resolver.cluster_spec()
    return {(role, index): jobs.task_address(role, index)
            for role in ("chief", "master", "worker") if role in jobs.jobs
            for index in jobs.task_indices(role)}


# A sum may be known to one member while its last word to another is still under way, which is lost
# if the one ends now. So nobody leaves before the chief, who leads the coordination service, has
# said that it has met all.
_DISMISSED = "pondage/dismissed"


def dismiss():
    """The chief's word that the others may go."""
    from tensorflow.python.eager import context

    context.context().set_config_key_value(_DISMISSED, "yes")


def await_dismissal(limit_s):
    """Returns when the chief has said so, is gone, or after `limit_s`."""
    import tensorflow as tf
    from tensorflow.python.eager import context

    try:
        context.context().get_config_key_value(_DISMISSED, int(limit_s * 1000))
    except tf.errors.OpError:
        pass


def is_chief(strategy):
    """Whether this process's checkpoint is the one that counts."""
    if processes(strategy) < 2:
        return True
    resolver = strategy.cluster_resolver
    if resolver.task_type in ("chief", "master"):
        return True
    jobs = resolver.cluster_spec().jobs
    first_worker = resolver.task_type == "worker" and resolver.task_id == 0
    return first_worker and "chief" not in jobs and "master" not in jobs
