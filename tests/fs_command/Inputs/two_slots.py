"""A file system in Python, which speaks the lines of <blackout/fs/lines.hpp>: two_slots.py IMAGE [BUG]

The image has two slots and a number that says which of them counts. Each operation writes all there is into the other slot and then
changes the number; with BUG "order" both are flushed together, and with "dies" a mount that doesn't understand a slot ends with an
exception on top.
"""

import errno
import json
import mmap
import os
import sys

SLOT = 1 << 20
BUG = sys.argv[2] if len(sys.argv) > 2 else ""


class Refused(Exception):
    pass


class Files:
    def __init__(self, path):
        self.path = path
        self.image = None
        self.opened = {}

    def map(self, flags=os.O_RDWR):
        file = os.open(self.path, flags, 0o644)
        if os.fstat(file).st_size < 4096 + 2 * SLOT:
            os.ftruncate(file, 4096 + 2 * SLOT)
        self.image = mmap.mmap(file, 4096 + 2 * SLOT)
        os.close(file)

    def save(self):
        text = json.dumps(self.nodes, sort_keys=True).encode()
        other = 3 - self.image[0] if self.image[0] else 1
        at = 4096 + (other - 1) * SLOT
        self.image[at:at + 4] = len(text).to_bytes(4, "little")
        self.image[at + 4:at + 4 + len(text)] = text
        if BUG not in ("order", "dies"):
            self.image.flush()
        self.image[0] = other
        self.image.flush()

    def mkfs(self):
        self.map(os.O_RDWR | os.O_CREAT)
        self.nodes = {"1": {"kind": "directory", "links": 2, "entries": {}}, "next": 2}
        self.save()

    def mount(self):
        if self.image is None:
            if not os.path.exists(self.path):
                raise Refused(errno.EINVAL)
            self.map()
        if self.image[0] == 0:
            raise Refused(errno.EINVAL)
        at = 4096 + (self.image[0] - 1) * SLOT
        text = self.image[at + 4:at + 4 + int.from_bytes(self.image[at:at + 4], "little")]
        try:
            self.nodes = json.loads(text)
        except ValueError:
            if BUG == "dies":
                raise
            raise Refused(errno.EINVAL) from None
        # Nobody has them open any more.
        for number in [n for n, node in self.nodes.items() if n != "next" and node["links"] == 0]:
            del self.nodes[number]

    def unmount(self):
        self.image.close()
        self.image = None

    def find(self, path):
        """The directory that a path lies in, its last name, and the number of what is there (None: nothing)."""
        *above, name = path.split("/")
        directory = "1"
        self.above = ["1"]
        for step in above:
            number = self.nodes[directory]["entries"].get(step)
            if number is None:
                raise Refused(errno.ENOENT)
            if self.nodes[number]["kind"] != "directory":
                raise Refused(errno.ENOTDIR)
            directory = number
            self.above.append(directory)
        return directory, name, self.nodes[directory]["entries"].get(name)

    def there(self, path):
        number = self.find(path)[2]
        if number is None:
            raise Refused(errno.ENOENT)
        return number

    def file(self, path):
        node = self.nodes[self.there(path)]
        if node["kind"] != "file":
            raise Refused(errno.EISDIR if node["kind"] == "directory" else errno.ELOOP)
        return node

    def make(self, path, node):
        directory, name, number = self.find(path)
        if number is not None:
            raise Refused(errno.EEXIST)
        fresh = str(self.nodes["next"])
        self.nodes["next"] += 1
        self.nodes[fresh] = node
        self.nodes[directory]["entries"][name] = fresh
        if node["kind"] == "directory":
            self.nodes[directory]["links"] += 1
        self.save()

    def creat(self, path):
        if self.find(path)[2] is None:
            self.make(path, {"kind": "file", "links": 1, "content": ""})
        else:
            self.file(path)

    def mkdir(self, path):
        self.make(path, {"kind": "directory", "links": 2, "entries": {}})

    def symlink(self, says, path):
        self.make(path, {"kind": "link", "links": 1, "content": says})

    def write(self, path, offset, data=""):
        self.put(self.file(path), offset, data)

    def put(self, node, offset, data):
        offset = 2 * int(offset)
        content = node["content"].ljust(offset, "0")
        node["content"] = content[:offset] + data + content[offset + len(data):]
        self.save()

    def open_file(self, path):
        self.file(path)
        file = max(self.opened, default=-1) + 1
        self.opened[file] = self.there(path)
        return file

    def pwrite(self, file, offset, data=""):
        self.put(self.nodes[self.opened[int(file)]], offset, data)

    def pread(self, file, offset, size):
        return self.get(self.nodes[self.opened[int(file)]], offset, size)

    def close(self, file):
        number = self.opened.pop(int(file))
        if self.nodes[number]["links"] == 0 and number not in self.opened.values():
            del self.nodes[number]
            self.save()

    def append(self, path, data=""):
        self.file(path)["content"] += data
        self.save()

    def truncate(self, path, size):
        node, size = self.file(path), 2 * int(size)
        node["content"] = node["content"][:size].ljust(size, "0")
        self.save()

    def link(self, path, to):
        number = self.there(path)
        directory, name, other = self.find(to)
        if other is not None:
            raise Refused(errno.EEXIST)
        if self.nodes[number]["kind"] == "directory":
            raise Refused(errno.EPERM)
        self.nodes[number]["links"] += 1
        self.nodes[directory]["entries"][name] = number
        self.save()

    def drop(self, directory, name):
        number = self.nodes[directory]["entries"].pop(name)
        node = self.nodes[number]
        node["links"] -= 1
        if node["kind"] == "directory":
            self.nodes[directory]["links"] -= 1
        if node["kind"] == "directory" or node["links"] == 0 and number not in self.opened.values():
            del self.nodes[number]

    def unlink(self, path):
        if self.nodes[self.there(path)]["kind"] == "directory":
            raise Refused(errno.EISDIR)
        directory, name, _ = self.find(path)
        self.drop(directory, name)
        self.save()

    def rmdir(self, path):
        node = self.nodes[self.there(path)]
        if node["kind"] != "directory":
            raise Refused(errno.ENOTDIR)
        if node["entries"]:
            raise Refused(errno.ENOTEMPTY)
        directory, name, _ = self.find(path)
        self.drop(directory, name)
        self.save()

    def rename(self, path, to):
        directory, name, number = self.find(path)
        old_above = self.above
        target, fresh, other = self.find(to)
        if number is None:
            raise Refused(errno.ENOENT)
        moved = self.nodes[number]
        if moved["kind"] == "directory" and number in self.above:
            raise Refused(errno.EINVAL)
        if other is not None and other in old_above:
            raise Refused(errno.ENOTEMPTY)
        if other == number:
            return
        if other is not None:
            there = self.nodes[other]["kind"] == "directory"
            if (moved["kind"] == "directory") != there:
                raise Refused(errno.EISDIR if there else errno.ENOTDIR)
            if there and self.nodes[other]["entries"]:
                raise Refused(errno.ENOTEMPTY)
            self.drop(target, fresh)
        del self.nodes[directory]["entries"][name]
        self.nodes[target]["entries"][fresh] = number
        if moved["kind"] == "directory":
            self.nodes[directory]["links"] -= 1
            self.nodes[target]["links"] += 1
        self.save()

    def list(self, path=None):
        node = self.nodes["1" if path is None else self.there(path)]
        return " ".join(node["entries"])

    def stat(self, path):
        number = self.there(path)
        node = self.nodes[number]
        size = len(node.get("content", "")) // (2 if node["kind"] == "file" else 1)
        return f"{node['kind']} {number} {node['links']} {size}"

    def read(self, path, offset, size):
        return self.get(self.file(path), offset, size)

    def get(self, node, offset, size):
        offset, size = 2 * int(offset), 2 * int(size)
        return node["content"][offset:offset + size].ljust(size, "0")

    def readlink(self, path):
        return self.nodes[self.there(path)]["content"]


CALLS = {name: getattr(Files, name) for name in (
    "mkfs", "mount", "unmount", "creat", "mkdir", "symlink", "write", "append", "truncate", "link", "unlink", "rmdir", "rename", "list",
    "stat", "read", "readlink", "pwrite", "pread", "close")}
CALLS["open"] = Files.open_file


def main():
    files = Files(sys.argv[1])
    for line in sys.stdin:
        name, *words = line.split()
        call = CALLS.get(name)
        try:
            said = None if call is None else call(files, *words)
            answer = f"-{errno.ENOSYS}" if call is None else "0" if said is None else f"0 {said}"
        except Refused as refused:
            answer = f"-{refused.args[0]}"
        print(answer, flush=True)


main()
