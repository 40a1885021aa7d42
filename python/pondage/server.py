"""Workers and parameter servers of a ParameterServerStrategy: they serve until they are told to go.

When all are asked to leave at the same moment, the chief still needs them for its last save. So
they stay until the chief is gone, and a while at most.
"""

import socket
import time

from .notice import EXIT_SAVED, Notice, leave
from .report import reporter

LOOK_S = 0.2


def serve_forever(resolver=None, linger_s=25):
    """Serves the task that TF_CONFIG names; never returns. Not server.join(), which is deaf to
    SIGTERM handlers. `linger_s`: how long the chief may take to save and leave."""
    import tensorflow as tf

    reporter.hello()
    resolver = resolver or tf.distribute.cluster_resolver.TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    server = tf.distribute.Server(cluster, job_name=resolver.task_type,
                                  task_index=resolver.task_id, protocol="grpc", start=True)
    notice = Notice()
    notice.arm()
    reporter.step(0)  # it serves: whoever asks it to leave should ask, not kill
    notice.wait()
    chiefs = cluster.as_dict().get("chief", [])
    if chiefs:
        wait_until_gone(chiefs[0], linger_s)
    del server  # kept alive until here
    leave(EXIT_SAVED, "asked to leave")


def wait_until_gone(address, limit_s, clock=time.monotonic, sleep=time.sleep):
    """Returns when nobody listens at `address` (host:port) any more, or after `limit_s`."""
    deadline = clock() + limit_s
    while clock() < deadline and _listens(address):
        sleep(LOOK_S)


def _listens(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
        return True
    except socket.timeout:
        return True  # it may only be busy
    except OSError:
        return False
