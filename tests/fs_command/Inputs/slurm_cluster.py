"""Runs a command with a cluster of Slurm around it that is this machine alone: munged, slurmctld and slurmd with everything of theirs in a
folder, as root and on loopback. Then waits until no job is left.

    slurm_cluster.py FOLDER COMMAND...
"""

import os
import pathlib
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, ready, seconds=60):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            sys.exit(f"slurm_cluster.py: {what} after {seconds} seconds")
        time.sleep(0.1)


def main():
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    key, munge = folder / "munge.key", folder / "munge.socket"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    name = socket.gethostname().split(".")[0]
    conf = folder / "slurm.conf"
    conf.write_text(f"""ClusterName=alone
SlurmctldHost={name}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={name} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={name} Default=YES MaxTime=INFINITE State=UP
""")
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    environment = dict(os.environ, SLURM_CONF=str(conf), PATH="/usr/sbin:" + os.environ["PATH"])
    daemons = []

    def start(*command):
        log = open(folder / f"{command[0]}.out", "wb")
        daemons.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT))

    def says(*command):
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout

    try:
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}", f"--pid-file={folder}/munged.pid",
              f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed", "--num-threads=2")
        wait_for("munged is not there", munge.exists)
        start("slurmctld", "-D", "-f", str(conf))
        start("slurmd", "-D", "-f", str(conf), "-N", name)
        wait_for("the node is not idle", lambda: says("sinfo", "-h", "-o", "%T").strip() == "idle")
        code = subprocess.run(sys.argv[2:], env=environment, check=False).returncode
        if code == 0:
            wait_for("jobs are left", lambda: says("squeue", "-h") == "", 600)
        sys.exit(code)
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()


if __name__ == "__main__":
    main()
