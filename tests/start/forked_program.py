"""What a forked program has, written as JSON: `python -m tests.start.forked_program FILE`.

With `stay` instead of a file it sleeps; with `stubborn` it sleeps and ignores SIGTERM, as a worker does for hours while
it finishes its tasks.
"""

import json
import os
import random
import signal
import sys
import time
import uuid
from pathlib import Path


def opened_files() -> list[int]:
    return sorted(int(path.name) for path in Path("/proc/self/fd").iterdir() if path.exists())


def describe() -> dict[str, object]:
    from django.contrib.staticfiles.storage import staticfiles_storage
    from django.db import connections
    from django.utils.functional import empty

    return {
        "files": opened_files(),
        "folder": str(Path.cwd()),
        "only_here": os.environ.get("ONLY_HERE"),
        "keys": sorted(os.environ),
        "random": [random.random(), str(uuid.uuid4())],
        "session": os.getsid(0) == os.getpid(),
        "name": Path("/proc/self/comm").read_text().strip(),
        "static_files_are_read": staticfiles_storage._wrapped is not empty,
        "connections": [str(each.connection) for each in connections.all(initialized_only=True) if each.connection],
        "loaded": [name for name in ("numpy", "evaluation.views", "torch") if name in sys.modules],
    }


if __name__ == "__main__":
    if sys.argv[1] in ("stay", "stubborn"):
        if sys.argv[1] == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(600)
    else:
        Path(sys.argv[1]).write_text(json.dumps(describe()))
