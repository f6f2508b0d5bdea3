#!/usr/bin/env python3
"""PMDK's maps and its queue, from the package and built with plain gcc, judged by `blackout lin` with a harness each.

    tests/real/lin/run.py [NAME...] [--blackout PATH] [--build FOLDER] [--operations N]

Each must be clean and complete: libpmemobj itself is trusted (--pmdk), and the pool is made beforehand. Two mistakes, an add
to the transaction left out, must be found: an expectation that can't fail says nothing. Sources are read where the package
installs them; nothing of them is kept here.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
EXAMPLES = pathlib.Path("/usr/share/doc/libpmemobj-dev/examples")
# The name of map_ops, and the sources.
MAPS = {
    "btree": ("MAP_BTREE", ["map/map_btree.c", "tree_map/btree_map.c"]),
    "ctree": ("MAP_CTREE", ["map/map_ctree.c", "tree_map/ctree_map.c"]),
    "rbtree": ("MAP_RBTREE", ["map/map_rbtree.c", "tree_map/rbtree_map.c"]),
    "hashmap_tx": ("MAP_HASHMAP_TX", ["map/map_hashmap_tx.c", "hashmap/hashmap_tx.c"]),
    "skiplist": ("MAP_SKIPLIST", ["map/map_skiplist.c", "list_map/skiplist_map.c"]),
}
QUEUE = "queue/queue.c"  # its adapter includes it
# A mistake in a copy of a source: what is left out of it, and what stands before that (the function).
MISTAKES = {
    "btree": ("tree_map/btree_map.c", "\tstruct tree_map_node_item item)\n{\n", "\tTX_ADD(node);\n"),
    "rbtree": ("tree_map/rbtree_map.c", "", "\tTX_ADD(node);\n"),
    "queue": (QUEUE, "", "\t\tTX_ADD_DIRECT(&queue->back);\n"),
}


def build(name, folder, mistake):
    sources, words = [EXAMPLES / QUEUE], []
    if name in MAPS:
        ops, sources = MAPS[name]
        sources = [EXAMPLES / source for source in ["map/map.c", *sources]]
        words = [f"-DMAP={ops}", f'-DMAP_HEADER="map_{name}.h"']
    if mistake:
        file, before, text = MISTAKES[name]
        original = (EXAMPLES / file).read_text()
        if before + text not in original:
            sys.exit(f"{file}: the package has no such line any more: {text.strip()}")
        copy = folder / file
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(original.replace(before + text, before, 1))
        sources = [copy if source == EXAMPLES / file else source for source in sources]
    kind = "map" if name in MAPS else "queue"
    if kind == "queue":
        words.append(f'-DQUEUE="{sources.pop()}"')
    folders = ["", "map", "hashmap", "tree_map", "list_map"]
    words += [word for path in (HERE, HERE.parent, *(EXAMPLES / folder for folder in folders)) for word in ("-I", path)]
    objects = []
    for source in [HERE / f"{kind}_adapter.c", *sources]:
        objects.append(folder / f"{source.stem}.o")
        subprocess.run(["gcc", "-O2", "-g", "-w", *words, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["gcc", "-O2", "-g", HERE / "create.c", *objects, "-lpmemobj", "-lpmem", "-o", folder / "create"], check=True)
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-I", PROJECT / "include", HERE / f"{kind}_harness.cpp", *objects, "-lpmemobj",
                    "-lpmem", "-o", folder / "harness"], check=True)


def judge(name, mistake, options):
    folder = options.build / (name + ("-mistake" if mistake else ""))
    folder.mkdir(parents=True, exist_ok=True)
    build(name, folder, mistake)
    pool, report = folder / "pool", folder / "report.json"
    for path in (pool, report):
        path.unlink(missing_ok=True)
    subprocess.run([folder / "create", pool], check=True)
    ran = subprocess.run([options.blackout, "lin", "--pmdk", "--pm", pool, "--operations", str(options.operations), "--json", report,
                          "--findings", folder / "findings", "--", folder / "harness", pool],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    (folder / "report.txt").write_text(ran.stdout)
    if not report.exists():
        return f"ended with {ran.returncode}: {(ran.stdout.strip().splitlines() or ['no output'])[-1]}"
    result = json.loads(report.read_text())
    shown = [f["verdict"] for f in result["findings"] if f["severity"] == "shown"]
    if mistake:
        return None if shown else "the mistake is not found"
    if shown:
        return "false: " + "; ".join(shown)
    return None if result["complete"] else "not complete: " + "; ".join(result["incomplete"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/real-lin", help="folder for programs and reports")
    parser.add_argument("--operations", type=int, default=8)
    options = parser.parse_args()
    options.blackout, options.build = options.blackout.absolute(), options.build.absolute()
    wrong = 0
    for name in options.names or [*MAPS, "queue"]:
        for mistake in (False, True)[:2 if name in MISTAKES else 1]:
            problem = judge(name, mistake, options)
            wrong += problem is not None
            print(f"{name}{' with a mistake' if mistake else ''}: {problem or 'as expected'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
