"""The lit suites: pass, end-to-end reports.

A folder takes part when it has a lit.local.cfg. Words of a RUN line:

  %blackout         the tool                    %cc  %cxx         the wrappers
  %plain-cc         clang 19 as it is           %plain-cxx        the same for C++
  %pass             the pass plugin             %opt              opt with the pass plugin loaded
  %runtime          the runtime library         %include          the folder of blackout/blackout.h
  %lines            the driver of file systems that speak by lines

FileCheck, not, llvm-objdump and their like are on the path. A test that needs minutes says
`REQUIRES: full` and runs under BLACKOUT_TEST_FULL=1 only.
"""

import os
import shutil
import subprocess

import lit.formats

config.name = "blackout"
config.test_format = lit.formats.ShTest(execute_external=True)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".c", ".cpp", ".ll", ".s", ".test"]
config.excludes = ["Inputs", "projects"]

# One spelling of the environment: a user's own options must not change what the tests see.
for name in list(config.environment):
    if name.startswith("BLACKOUT_"):
        del config.environment[name]
# Nor what they kept, and the tests keep nothing of theirs there.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.blackout_build, "tests", "cache")
os.makedirs(config.environment["XDG_CACHE_HOME"], exist_ok=True)
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.blackout_build, "bin"), config.llvm_tools, os.environ["PATH"]]
)

bin_folder = os.path.join(config.blackout_build, "bin")
lib_folder = os.path.join(config.blackout_build, "lib", "blackout")
plugin = os.path.join(lib_folder, "BlackoutPass.so")
tools = config.llvm_tools
# lit applies these in order and as plain text: the longer word of a common beginning comes first.
config.substitutions += [
    ("%blackout", os.path.join(bin_folder, "blackout")),
    ("%plain-cxx", os.path.join(tools, "clang++")),
    ("%plain-cc", os.path.join(tools, "clang")),
    ("%include", os.path.join(config.blackout_source, "include")),
    ("%runtime", os.path.join(lib_folder, "libblackout.so")),
    ("%lines", os.path.join(lib_folder, "blackout-fs-lines")),
    ("%pass", plugin),
    ("%opt", os.path.join(tools, "opt") + " -load-pass-plugin=" + plugin),
    ("%cxx", os.path.join(bin_folder, "blackout-clang++")),
    ("%cc", os.path.join(bin_folder, "blackout-clang")),
]

if os.environ.get("BLACKOUT_TEST_FULL") == "1":
    config.available_features.add("full")

# Slurm's daemons, which a test starts for itself.
if os.geteuid() == 0 and all(shutil.which(d, path="/usr/sbin:/usr/bin") for d in ("munged", "slurmctld", "slurmd", "sbatch")):
    config.available_features.add("slurm")

# Whether a test may mount: only root, and not in every container.
if os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0:
    config.available_features.add("mounts")

# Whether a test may say how many namespaces there may be: in a user namespace of its own.
limit = "echo 0 > /proc/sys/user/max_net_namespaces"
if subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", limit], capture_output=True).returncode == 0:
    config.available_features.add("user-namespaces")
