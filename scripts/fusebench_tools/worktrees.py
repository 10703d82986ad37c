"""Programs of given revisions: two git worktrees in the build folder, built in turn, each kept for the next night."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fusebench_tools.records import ROOT, BadFile

FOLDER = ROOT / "build/nightly"
# Prints the program's path last; run in the worktree.
BUILDER = 'source scripts/common.sh && prepare >&2 && build --target fusebench && echo "$build_folder/fusebench"'


def git(*arguments: str, where: Path = ROOT) -> str:
    """What git says. Raises BadFile with its last line when it refuses."""
    result = subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BadFile(f"git {' '.join(arguments)}: {last}")
    return result.stdout.strip()


def revision_of(name: str) -> str:
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except BadFile:
        raise BadFile(f"'{name}' is no revision of {ROOT}, no results CSV and no program; git log --oneline has revisions") from None


class Worktrees:
    """At most two, so that the last good revision and the current one both stay built. `call` runs a command."""

    def __init__(self, builder: str, call, spare: set[str]) -> None:  # noqa: ANN001
        self._builder, self._call, self._spare = builder, call, spare

    def program(self, revision: str) -> Path:
        """The built program of a revision. Raises BadFile when it cannot be built."""
        slot = self._slot(revision)
        tree, built = FOLDER / slot, FOLDER / f"{slot}.built"
        if self._built(slot) != revision:
            built.unlink(missing_ok=True)
            git("worktree", "prune")
            if not (tree / ".git").exists():
                git("worktree", "add", "--force", "--detach", str(tree), revision)
            git("checkout", "--quiet", "--force", "--detach", revision, where=tree)
        code, out = self._call(["bash", "-c", self._builder], cwd=tree, capture=True)
        path = Path((out.strip().splitlines() or [""])[-1])
        if code == 0 and not path.is_file():
            raise BadFile(f"revision {revision[:10]}: the builder's last line, '{path}', is no program; it must print the program's path last")
        if code != 0:
            raise BadFile(f"revision {revision[:10]} could not be built (exit code {code}); see above, and {tree}")
        built.write_text(revision + "\n", encoding="utf-8")
        return path

    def _slot(self, revision: str) -> str:
        FOLDER.mkdir(parents=True, exist_ok=True)
        slots = ["a", "b"]
        for slot in slots:
            if self._built(slot) == revision:
                return slot
        # Not the one that is needed tonight too.
        return next(slot for slot in slots if self._built(slot) not in self._spare)

    @staticmethod
    def _built(slot: str) -> str:
        path = FOLDER / f"{slot}.built"
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
