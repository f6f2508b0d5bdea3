"""kept_bitcode.py FILE FOLDER: the records of kept bitcode in a file's section, unpacked into FOLDER/0.bc, 1.bc, ...

Prints the base name of each one's source. Fails if the section isn't as events/contract.h says; a file without the section has
no records.
"""
import ctypes
import os
import struct
import subprocess
import sys
import tempfile

file, folder = sys.argv[1:]
HEADER = struct.Struct("<8sIIQQQII")
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

with tempfile.NamedTemporaryFile() as section:
    done = subprocess.run(
        ["llvm-objcopy", "--dump-section", f"blackout_bitcode={section.name}", file, "/dev/null"],
        stderr=subprocess.PIPE, text=True)
    if "not found" in done.stderr:
        sys.exit(0)
    assert done.returncode == 0, done.stderr
    data = open(section.name, "rb").read()

os.makedirs(folder, exist_ok=True)
at = number = 0
while at < len(data):
    if data[at:at + 8] == b"\0" * 8:
        at += 8
        continue
    magic, version, llvm, packed, unpacked, checksum, name_size, reserved = HEADER.unpack_from(data, at)
    assert (magic, version, llvm, reserved) == (b"BLKOUTBC", 1, 19, 0), (at, magic, version, llvm)
    begin = at + HEADER.size
    name, begin = data[begin:begin + name_size].decode(), begin + name_size
    text = data[begin:begin + packed]
    assert len(text) == packed and xxhash.XXH3_64bits(text, packed) == checksum
    bitcode = ctypes.create_string_buffer(unpacked)
    assert zstd.ZSTD_decompress(bitcode, unpacked, text, packed) == unpacked
    open(f"{folder}/{number}.bc", "wb").write(bitcode.raw)
    print(os.path.basename(name))
    number += 1
    at = (begin + packed + 7) // 8 * 8
