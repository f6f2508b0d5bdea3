"""FOLDER[:SIZE] COMMAND...: runs the command with a full file system at the folder, or an empty one of that size, in a mount
namespace of its own."""

import ctypes
import os
import sys

(folder, _, size), command = sys.argv[1].partition(":"), sys.argv[2:]
os.makedirs(folder, exist_ok=True)
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x00020000, 0x4000, 0x40000
if libc.unshare(CLONE_NEWNS) != 0:
    sys.exit("no mount namespace: " + os.strerror(ctypes.get_errno()))
libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
if libc.mount(b"none", folder.encode(), b"tmpfs", 0, f"size={size or '4k'},nr_inodes=64".encode()) != 0:
    sys.exit("no tmpfs: " + os.strerror(ctypes.get_errno()))
if not size:
    with open(os.path.join(folder, "filler"), "wb") as file:
        file.write(bytes(4096))
os.execvp(command[0], command)
