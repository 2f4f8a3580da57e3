"""Start a program so that it cannot outlive its parent: `python launch.py PARENT_PID SIGNAL USER -- command ...`.

USER is `same`, `namespace` (PostgreSQL refuses to run as root, so root enters a user namespace of its own, where its
files stay its own), or the name of an account to become.
"""

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1
ID_INSIDE = 1000


def die_with_parent(parent: int, signal_number: int) -> None:
    """Linux only; elsewhere `./emic` finds leftovers by their process ids at its next start."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit("The parent ended before its child began.")


def enter_user_namespace() -> None:
    uid, gid = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are refused here")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{ID_INSIDE} {gid} 1")
    Path("/proc/self/uid_map").write_text(f"{ID_INSIDE} {uid} 1")


def switch_user(account: str) -> None:
    import pwd

    entry = pwd.getpwnam(account)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def main(arguments: list[str]) -> None:
    parent, signal_number, user, _, *command = arguments
    os.setsid()
    if user == "namespace":
        enter_user_namespace()
    elif user != "same":
        switch_user(user)
    if int(parent):
        die_with_parent(int(parent), int(signal_number))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
