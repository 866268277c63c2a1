"""The script that draws charts in a page: Vega with all it needs, made once and kept in a file."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, Popen

from posterior.plots.look import optional

MAKE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"


def bundle() -> str:
    """The one script of a page, as the vl-convert that is installed makes it."""
    return _bundled(_place())


@cache
def _bundled(place: Path) -> str:
    with suppress(OSError, EOFError, zlib.error):  # not there yet, or damaged, as a checksum tells
        return gzip.decompress(place.read_bytes()).decode()
    script, _ = _making().communicate()
    if _making().returncode:  # no process may be begun here
        script = optional("vl_convert").javascript_bundle().encode()
    with suppress(OSError):  # of a folder that cannot be written to: made again the next time
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        beside.write_bytes(gzip.compress(script))
        beside.replace(place)
    return script.decode()


def prepare_bundle() -> None:
    """Begin to make the script, unless it is kept: that takes two seconds of one core."""
    if not _place().exists():
        _making()


def _place() -> Path:
    """The file, by the version that made it."""
    if find_spec("vl_convert") is None:
        optional("vl_convert")  # says what to install
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "posterior" / f"vega-{version('vl-convert-python')}.js.gz"


@cache
def _making() -> Popen[bytes]:
    """A process that writes the script: in this one, vl-convert would let no other thread work."""
    return Popen([sys.executable, "-P", "-c", MAKE], stdout=PIPE)
