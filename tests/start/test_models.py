"""`./emic models`: our versions stay, CUDA is no surprise, and doing it twice does nothing."""

import json
import re
from pathlib import Path

import pytest

from config.local import models, setup
from config.local.errors import EmicError
from tests.start.helpers import emic, one_sentence

CUDA = {"install": [{"metadata": {"name": "Torch", "version": "2.13.0"}},
                    {"metadata": {"name": "nvidia_cublas", "version": "13"}}]}  # fmt: skip
CPU = {"install": [{"metadata": {"name": "torch", "version": "2.13.0+cpu"}}]}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """A machine where nothing is installed yet; what pip was told is kept, and nothing is fetched."""
    commands: list[list[str]] = []
    monkeypatch.delenv("EMIC_INSTALLED", raising=False)
    for name in ("ensure", "ensure_pip"):
        monkeypatch.setattr(setup, name, lambda: None)
    monkeypatch.setattr(setup, "run_quietly", lambda command, purpose: commands.append(command))
    monkeypatch.setattr(models, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(models, "works", lambda: True)
    monkeypatch.setattr(models, "has_gpu", lambda: False)
    monkeypatch.setattr(models, "check_room", lambda wanted: None)
    return commands


def answers(monkeypatch: pytest.MonkeyPatch, *reports: dict[str, object]) -> None:
    left = list(reports)
    monkeypatch.setattr(models, "planned_packages", lambda command, folder: models.read_report(left.pop(0)))


def test_no_version_of_ours_may_change_and_no_hash_hinders_a_local_file() -> None:
    text = models.constraints_text()
    lock = re.findall(r"^([\w.-]+)==(\S+)", models.LOCK.read_text(), re.MULTILINE)
    assert lock and all(f"{name}=={version}" in text for name, version in lock)
    assert "--hash" not in text and "\\" not in text
    for name in models.requirements():
        assert re.search(rf"^{re.escape(name)}==[\d.]+$", text, re.MULTILINE), f"{name} has no version"


def test_download_is_announced_once(
    bare: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, CPU)
    assert models.install() == 0
    assert (
        "1 packages will be fetched (some hundred megabytes, without CUDA): torch 2.13.0+cpu" in capsys.readouterr().out
    )
    assert len(bare) == 1 and models.CPU_INDEX not in bare[0]
    assert models.install() == 0
    assert capsys.readouterr().out == "Local models are installed. Nothing to do.\n" and len(bare) == 1
    models.STAMP.write_text(json.dumps({**models.fingerprint(), models.LOCK.name: "another"}))
    assert not models.is_current()


def test_a_machine_without_a_gpu_gets_torch_without_cuda_or_nothing(
    bare: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, CUDA, CPU)
    assert models.install() == 0
    assert models.CPU_INDEX in bare[0] and "no NVIDIA GPU" in capsys.readouterr().out
    models.STAMP.unlink()
    answers(monkeypatch, CUDA, CUDA)
    with pytest.raises(EmicError, match=r"about 5 GB.*Nothing was installed.*--cuda"):
        models.install()
    assert len(bare) == 1
    answers(monkeypatch, CUDA)
    assert models.install(cuda=True) == 0 and models.CPU_INDEX not in bare[1]


def test_a_container_is_not_changed(tmp_path: Path) -> None:
    assert "A container brings its packages" in one_sentence(emic(tmp_path, "models", EMIC_INSTALLED="1"))
