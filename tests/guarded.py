"""Load model files and predict with them in a process that is watched: `guarded.py FOLDER`.

The process has a limit on its memory. A hook of the interpreter notes whatever would start a
process, write a file or open a connection. Prints how many files were refused, by which error,
how many predicted, and what was noted.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

MEMORY = 3_000_000_000
WATCHED = {
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.putenv",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.chown",
    "os.truncate",
    "shutil.rmtree",
    "shutil.move",
    "shutil.copyfile",
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "pty.spawn",
    "webbrowser.open",
    "urllib.Request",
    "pickle.find_class",
}


def main(folder: Path) -> None:
    from sklearn.exceptions import NotFittedError

    from crafted import table
    from robustscn.persistence import DamagedModel, NotAModel, OtherVersion, faults, load

    frame = table()
    plain = frame[["flow"]].fillna(0).to_numpy()
    warm_up(folder, frame)
    noted: list[str] = []
    armed = True

    def watch(event: str, arguments: tuple) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & 0o3
        if armed and (event in WATCHED or writes):
            noted.append(f"{event} {arguments!r:.200}")

    sys.addaudithook(watch)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    refusals = (DamagedModel, NotAModel, OtherVersion, faults.UntrustedModel, faults.TooLargeModel)
    outcomes: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    threads = threading.active_count()
    for path in sorted(folder.glob("*.skops")):
        print(path.name, file=sys.stderr, flush=True)  # the last one, should this process die
        try:
            model = load(path).model
        except refusals as error:
            text = str(error)
            outcomes[type(error).__name__] += 1
            if len(text) > 1000 or not text.isprintable():
                noted.append(f"{path.name}: not fit to be shown: {text[:100]!r}")
            continue
        except MemoryError:
            outcomes["out of memory"] += 1
            continue
        try:
            model.predict(frame if hasattr(model, "named_steps") else plain)
            outcomes["predicted"] += 1
        except (Exception, NotFittedError) as error:
            outcomes["could not predict"] += 1
            del error
    armed = False
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    print(
        json.dumps(
            {
                "outcomes": dict(outcomes),
                "noted": noted,
                "children": len(children),
                "threads": threading.active_count() - threads,
            }
        )
    )


def warm_up(folder: Path, frame: Any) -> None:
    """Import and start what an ordinary model needs, before the watch begins."""
    from crafted import outer, valid
    from robustscn.persistence import load

    for name, content in valid().items():
        path = folder / f"{name}.valid"
        path.write_bytes(outer(content))
        model = load(path).model
        rows = frame if hasattr(model, "named_steps") else frame[["flow"]].fillna(0).to_numpy()
        model.predict(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
