"""binder/ as repo2docker reads it, carried out in a virtual environment with the versions of its base image."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
import repo2docker
from repo2docker.app import Repo2Docker

ROOT = Path(__file__).parents[1]
QUICKSTART = "examples/quickstart.ipynb"
BASE = ("pip", "ipykernel", "ipywidgets", "jupyter_server", "jupyterlab", "nbclient", "notebook")
"""What of repo2docker's base the package meets there; with what these need, all at the base's versions."""


@dataclass(frozen=True)
class Plan:
    """What repo2docker would do with a repository."""

    pack: str
    python: str
    lock: Path
    commands: list[str]


@dataclass(frozen=True)
class Image:
    """What stands for the image: the repository as its home, and its environment."""

    home: Path
    prefix: Path

    def run(self, command: str) -> str:
        """Run a line of the build, or of a user, in the root of the repository."""
        foreign = ("PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV", "PYTEST")
        env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        env |= {"KERNEL_PYTHON_PREFIX": str(self.prefix), "NB_PYTHON_PREFIX": str(self.prefix)}
        env |= {"HOME": str(self.home), "PATH": f"{self.prefix / 'bin'}:{env['PATH']}"}
        return run("bash", "-c", command, cwd=self.home, env=env)


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command} exited {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the work tree that git knows or would add, copied: nothing here writes into the checkout."""
    copy = tmp_path_factory.mktemp("binder") / "repository"
    for name in run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def plan(repository: Path) -> Plan:
    app = Repo2Docker()
    with contextlib.chdir(repository):  # where build packs look
        pack = next(pack for pack in (kind(app.base_image) for kind in app.buildpacks) if pack.detect())
        pack.platform = app.platform
        (lock,) = (name for name in pack.get_build_script_files() if name.endswith(".lock"))
        scripts = [*pack.get_preassemble_scripts(), *pack.get_assemble_scripts()]
        return Plan(
            pack=type(pack).__name__,
            python=pack.python_version,
            lock=Path(repo2docker.__file__).parent / "buildpacks" / lock,
            commands=[command for _user, command in scripts]
            + [f"chmod +x {script} && ./{script}" for script in pack.get_post_build_scripts()],
        )


@pytest.fixture(scope="module")
def image(plan: Plan, repository: Path) -> Image:
    """The image without its engine: repo2docker's base, then its own commands for this repository."""
    made = Image(repository, repository.parent / "environment")
    versions = repository.parent / "base.txt"
    versions.write_text("\n".join(locked(plan.lock)))
    run(python(plan.python), "-m", "venv", str(made.prefix))
    run(str(made.prefix / "bin/python"), "-m", "pip", "install", "--constraint", str(versions), *BASE)
    for command in plan.commands:
        made.run(command)
    return made


def python(version: str) -> str:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    return shutil.which(f"python{version}") or pytest.skip(f"no python{version} on PATH")


def locked(lock: Path) -> list[str]:
    """Versions of the Python packages in a frozen base; conda's names for these are PyPI's."""
    packages = re.findall(r"/([\w.-]+)-([\d.]+(?:post\d+)?)-py[^/]*$", lock.read_text(), re.MULTILINE)
    return [f"{name}=={version}" for name, version in packages]


def test_repo2docker_installs_the_package_from_the_checkout(plan: Plan) -> None:
    assert plan.pack == "PythonBuildPack"
    assert '${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"' in plan.commands
    assert "." in (ROOT / "binder/requirements.txt").read_text().splitlines()


@pytest.mark.slow
def test_what_is_installed_fits_the_base(image: Image) -> None:
    image.run("pip check")
    extensions = image.run("jupyter labextension list")
    for name in ("bqplot", "@jupyter-widgets/jupyterlab-manager"):
        assert re.search(rf"{name} v\S+ .*enabled.*OK", extensions), extensions


@pytest.mark.slow
def test_quickstart_draws_its_figures(image: Image) -> None:
    image.run(f"jupyter execute --inplace {QUICKSTART}")
    notebook = nbformat.read(image.home / QUICKSTART, as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    widgets = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert {"FigureModel", "LinesModel"} <= {w["model_name"] for w in widgets if w["model_module"] == "bqplot"}
