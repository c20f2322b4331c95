"""Who is at work on a study: a name that tells, on the same machine, whether that process still lives."""

from __future__ import annotations

import hashlib
import os
import socket
import uuid
from pathlib import Path

__all__ = ["is_dead", "new_owner"]

PROC = Path("/proc")


def new_owner() -> str:
    """Return a name for this driver: host, machine, process, its start, and a random part.

    Examples
    --------
    >>> new_owner() != new_owner()
    True
    """
    pid = os.getpid()
    return "|".join([socket.gethostname(), _machine(), str(pid), _start(pid), uuid.uuid4().hex[:8]])


def is_dead(owner: str) -> bool:
    """Tell whether an owner is a process of this machine that has ended; False wherever that cannot be known.

    Examples
    --------
    >>> is_dead(new_owner()), is_dead("somebody else")
    (False, False)
    """
    parts = owner.split("|")
    if len(parts) != 5 or not parts[1] or parts[1] != _machine() or not parts[2].isdigit():
        return False
    return _start(int(parts[2])) != parts[3]


def _machine() -> str:
    """Return what processes share that see each other's numbers: this boot and this process namespace."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return hashlib.sha256(f"{boot} {os.readlink(PROC / 'self/ns/pid')}".encode()).hexdigest()[:12]
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Return when a process started; empty where it has ended. The time tells it from a later one with its number."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
