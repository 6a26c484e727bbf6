"""The launchers of MPI that this machine may have, as whoever runs the tests, with more ranks than processors."""
import os

OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launchers(build):
    """(title, launcher, its arguments, folder of its libraries, ranks of make test)"""
    return [
        ("Debian's Open MPI", "/usr/bin/mpirun.openmpi", ["--oversubscribe", "--mca", "btl", "self,vader"], "", [2, 4]),
        ("Debian's MPICH", "/usr/bin/mpirun.mpich", [], "", [3]),
        ("Open MPI 5", f"{build}/openmpi/bin/mpirun", ["--map-by", ":OVERSUBSCRIBE"], f"{build}/openmpi/lib", [2]),
        ("MPICH 5, the standard's interface", f"{build}/mpich/bin/mpirun", [], f"{build}/mpich/lib", [1, 3]),
    ]


def environment(libraries):
    return dict(os.environ, **OPEN_MPI, **({"LD_LIBRARY_PATH": libraries} if libraries else {}))
