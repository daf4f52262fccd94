"""Where a configuration comes from: a dict, a file, or a repository on the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from roofwidget.validation import ParameterError, shown

LARGEST = 4 * 1024 * 1024
"""Bytes beyond which a file is no config.json: the longest known have 100 kB."""
REPO_ID = re.compile(r"[\w.-]+/[\w.-]+")


class ConfigError(ParameterError):
    """A configuration that cannot be read, or says too little or what cannot be."""

    def __init__(self, sentence: str) -> None:
        super().__init__({"config": sentence})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.faults["config"],)


def read(source: Mapping[str, Any] | str | PathLike[str]) -> dict[str, Any]:
    """The configuration that a dict is, a path leads to, a JSON text says or a repository on the Hub holds.

    Raises
    ------
    ConfigError
        If there is none; the message says why, and for a repository what to do.
    """
    if isinstance(source, Mapping):
        return _object(dict(source), "the configuration")
    if not isinstance(source, (str, PathLike)):
        raise ConfigError(
            f"a configuration must be a dict, a path, a JSON text or a repository id, not {type(source).__name__}"
        )
    if isinstance(source, str) and is_json(source):
        return _parsed(source.lstrip("\ufeff"), "the configuration")
    path = Path(source)
    try:
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a null in it
        raise ConfigError(f"there is no file {shown(str(source))}") from None
    if exists and not is_folder:
        return _from_file(path)
    if is_folder and (path / "config.json").is_file():
        return _from_file(path / "config.json")
    if is_folder:
        raise ConfigError(f"{shown(str(source))} is a directory without a config.json")
    if isinstance(source, str) and REPO_ID.fullmatch(source):
        return _from_hub(source)
    raise ConfigError(
        f"there is no file {shown(str(source))}, and a repository id looks like 'meta-llama/Llama-3.1-8B'"
    )


def is_json(source: str) -> bool:
    """Whether a text begins as JSON does, with a byte order mark or without: else it is a path or a name."""
    return source.lstrip("\ufeff \t\r\n").startswith(("{", "["))


def _from_file(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise ConfigError(f"{path.name} is no regular file")
        if (size := path.stat().st_size) > LARGEST:
            raise ConfigError(f"{path.name} has {size:,} bytes: a config.json has at most {LARGEST:,}")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path.name} is no text in UTF-8") from None
    return _parsed(text, path.name)


def _from_hub(repo: str) -> dict[str, Any]:
    try:
        from huggingface_hub import hf_hub_download  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise ConfigError(
            f"to look up {repo!r} install huggingface_hub (pip install huggingface_hub), "
            "or give the path or text of its config.json"
        ) from None
    try:
        return _from_file(Path(hf_hub_download(repo, "config.json")))
    except ConfigError:
        raise
    except Exception as error:  # of many kinds: network, missing or gated repository, bad name
        raise ConfigError(
            f"config.json of {repo!r} could not be had from the Hub ({type(error).__name__}): there may be no such "
            "repository, it may be gated (huggingface-cli login) or this machine offline; "
            "the path or text of a config.json works without it"
        ) from None


def _parsed(text: str, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}: {error.msg})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(f"{what} is no JSON{where}") from None
    return _object(found, what)


def _object(found: Any, what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ConfigError(f"{what} must be a JSON object, not {type(found).__name__}")
    return found
