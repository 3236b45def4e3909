"""Where files of a sweep lie: in folders of this machine, or in an object store, through fsspec."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Storage = Mapping[str, Any]
"""What fsspec is told of an object store, such as its address and keys."""


END = b"PAR1"
"""How every Parquet file ends: one that was cut short does not."""


def is_url(name: str) -> bool:
    """Whether `name` is of an object store, and not of this machine."""
    return "://" in name


def opened(url: str, storage: Storage) -> tuple[Any, str]:
    """The file system of `url`, and the path there.

    Raises:
        ImportError: There is no fsspec, or not what it wants for stores of this kind.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ImportError(f"{url}: object stores want fsspec: pip install 'idlewise[ray]'") from error
    found: tuple[Any, str] = url_to_fs(url, **storage)
    return found


def short(text: str) -> str:
    """A name made of a hash of `text`."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Folder:
    """A folder of this machine, or one of an object store."""

    name: str
    storage: Storage = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether it is of this machine."""
        return not is_url(self.name)

    def _at(self, place: str) -> tuple[Any, str]:
        return opened(f"{self.name.rstrip('/')}/{place}", self.storage)

    def has_result(self, place: str) -> bool:
        """Whether a result lies at `place`, and is whole."""
        if self.is_local:
            try:
                with open(os.path.join(self.name, place), "rb") as file:
                    file.seek(-len(END), os.SEEK_END)
                    return file.read() == END
            except OSError:
                return False
        files, path = self._at(place)
        files.invalidate_cache()
        return bool(files.exists(path))

    def read(self, place: str) -> bytes | None:
        """The file at `place`, if there is one."""
        try:
            files, path = self._at(place)
            content: bytes = files.cat_file(path)
        except FileNotFoundError:
            return None
        return content

    def put(self, place: str, content: bytes) -> None:
        """Put a file at `place` of an object store: all of it at once, over an earlier one."""
        files, path = self._at(place)
        files.pipe_file(path, content)

    def send(self, file: Path, place: str) -> None:
        """Put a file of this machine at `place` of an object store."""
        files, path = self._at(place)
        files.put_file(os.fspath(file), path)

    def names(self, end: str) -> Iterator[str]:
        """The names of all files below it that end so."""
        files, path = opened(self.name, self.storage)
        files.invalidate_cache()
        for found in files.find(path) if files.exists(path) else ():
            if found.endswith(end):
                yield found.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Cache:
    """Files of object stores as files of this machine, so long as there is room."""

    folder: str
    most_bytes: int

    @contextmanager
    def fetched(self, name: str, storage: Storage) -> Iterator[Path]:
        """The file `name` as one of this machine, which stays there within the context.

        A file is known by its name and by what the store says of its content, so that one that has changed is
        fetched anew.
        """
        if not is_url(name):
            yield Path(name)
            return
        files, path = opened(name, storage)
        files.invalidate_cache()
        own = short(f"{name} {files.ukey(path)}")
        os.makedirs(self.folder, exist_ok=True)
        file = Path(self.folder, own)
        with open(f"{file}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                handle, part = tempfile.mkstemp(prefix=".new-", dir=self.folder)
                os.close(handle)
                try:
                    files.get_file(path, part)
                    os.replace(part, file)
                except BaseException:
                    os.unlink(part)
                    raise
            os.utime(file)
            fcntl.flock(lock, fcntl.LOCK_SH)
            self._make_room(own)
            yield file

    def _make_room(self, keep: str) -> None:
        """Remove files that nobody uses, the longest unused first, until what is left is not too much."""
        kept = [Path(entry.path) for entry in os.scandir(self.folder) if len(entry.name) == len(keep)]
        kept.sort(key=lambda file: file.stat().st_mtime)
        size = sum(file.stat().st_size for file in kept)
        for file in kept:
            if size <= self.most_bytes:
                return
            if file.name == keep:
                continue
            with open(f"{file}.lock", "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                size -= file.stat().st_size
                file.unlink()
