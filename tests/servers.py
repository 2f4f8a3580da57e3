"""One private PostgreSQL per test session, in a temporary folder, unless DATABASE_URL names another; and a Valkey.

Under xdist the controller starts it and the workers inherit its address; pytest-django gives each worker
a database of its own.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from config.local.servers import Postgres, Valkey

THROWAWAY = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "4GB",
    "jit": "off",
}


def ensure() -> None:
    """Called before settings are read, so that tests never touch the data folder or the database of a real instance."""
    if "EMIC_TEST_DATA" not in os.environ:
        home = Path(tempfile.mkdtemp(prefix="emic-test-"))
        os.environ["EMIC_TEST_DATA"] = str(home)
        atexit.register(shutil.rmtree, home, ignore_errors=True)
    home = Path(os.environ["EMIC_TEST_DATA"])
    os.environ["EMIC_DATA"] = str(home / "data")
    (home / "data" / "static").mkdir(parents=True, exist_ok=True)
    os.environ["EMIC_DB_POOL"] = "0"
    if "DATABASE_URL" not in os.environ:
        server = Postgres(home, options=THROWAWAY)
        server.start()
        atexit.register(server.stop)
        os.environ["DATABASE_URL"] = server.url
    if "EMIC_LIMITS_URL" not in os.environ:
        valkey = Valkey(home)
        valkey.start()
        atexit.register(valkey.stop)
        os.environ["EMIC_LIMITS_URL"] = valkey.url
