"""How gunicorn serves Emic, here and in a container: a few processes of many threads, for requests mostly wait."""

import os
from typing import Any

from config import memory

bind = os.environ.get("EMIC_BIND", "127.0.0.1:8000")
worker_class = "gthread"
preload_app = True
workers = int(os.environ.get("EMIC_WEB_WORKERS", "2"))
threads = int(os.environ.get("EMIC_WEB_THREADS", "8"))  # as many as a process keeps database connections
timeout = 60
graceful_timeout = 8
keepalive = 5
backlog = 512
limit_request_line = 8190  # filters of rows may be many; a longer line is answered with 414
max_requests = 20000
max_requests_jitter = 2000
control_socket_disable = True
loglevel = os.environ.get("EMIC_WEB_LOG", "warning")
forwarded_allow_ips = os.environ.get("EMIC_PROXIES", "127.0.0.1,::1")
# Requests share the cores as it is: threads of linear algebra beside them spin more than they compute.
raw_env = [f"OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS', '1')}"]


def when_ready(_server: Any) -> None:
    memory.share_imports()
