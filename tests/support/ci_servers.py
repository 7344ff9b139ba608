# SPDX-License-Identifier: MIT
"""What GitHub and GitLab do with the file that `rtqual ci` writes: they run its shell steps in their order, in a bare
folder, and answer the few requests of these, here over HTTP on this machine."""

import fnmatch
import io
import json
import os
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

_TOKEN = "T"  # noqa: S105 - of nobody
_ARTIFACTS = "/repos/them/theirs/actions/artifacts"
_JOB = "/projects/7/jobs/artifacts/main/download?job=rtqual"


@dataclass
class Server:
    """Keeps the artefact of the main branch's last green job, and the comments."""

    folder: Path  # of a repository
    env: Mapping[str, str]  # of its runner
    baseline: bytes = b""
    comments: list[str] = field(default_factory=list)
    cache: Path | None = None  # of GitLab; GitHub's is what the runner's home keeps
    said: str = ""  # by the last job
    _http: ThreadingHTTPServer = field(init=False)

    def __post_init__(self) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def end(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def github(self, event: str, *, accept: bool = False) -> int:
        """Run the job for a push, a pull_request or a workflow_dispatch; its exit code."""
        workflow = yaml.safe_load((self.folder / ".github/workflows/rtqual.yml").read_text())
        (job,) = workflow["jobs"].values()
        place = self._fresh()
        files = {name: place.parent / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        ref = "4/merge" if event == "pull_request" else "main"
        base = {"GITHUB_API_URL": self.url, "GITHUB_REPOSITORY": "them/theirs", **job["env"]}
        names: dict[str, Any] = {
            "github": SimpleNamespace(token=_TOKEN, event=SimpleNamespace(number=4), event_name=event, ref_name=ref),
            "env": SimpleNamespace(**job["env"]),
            "inputs": SimpleNamespace(accept="true" if accept else ""),
            "steps": SimpleNamespace(),
            "always": lambda: True,
        }
        code, said = 0, ""
        for step in job["steps"]:
            wanted = step.get("if", "True").replace("&&", "and")
            if (code and "always()" not in wanted) or not eval(wanted, {}, names):  # noqa: S307 - our own file's
                continue
            given = {name: _evaluated(str(text), names) for name, text in step.get("with", {}).items()}
            uses = step.get("uses", "").partition("@")[0]
            if uses == "actions/checkout":
                shutil.copytree(self.folder, place, dirs_exist_ok=True)
            elif uses == "actions/upload-artifact" and given["name"] == "rtqual-baseline":
                self.baseline = _zipped(place / "out/ci", ["*"], ["scratch/*"])
            elif "run" in step and step.get("name") != "Packages":  # which `make test` has installed
                env = base | {name: _evaluated(str(text), names) for name, text in step.get("env", {}).items()}
                path = ":".join([*files["GITHUB_PATH"].read_text().split("\n")[:-1], os.environ["PATH"]])
                done = self._bash(step["run"], place, env | {"PATH": path} | {n: str(f) for n, f in files.items()})
                said += done.stdout
                code = code or done.returncode
                lines = [line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines()]
                if "id" in step:
                    outputs = SimpleNamespace(**{name: value for name, _, value in lines})
                    setattr(names["steps"], step["id"], SimpleNamespace(outputs=outputs))
        self.said = said + files["GITHUB_STEP_SUMMARY"].read_text()
        return code

    def gitlab(self, event: str, *, accept: bool = False) -> int:
        """Run the job for a push, or a merge_request_event; its exit code."""
        (job,) = yaml.safe_load((self.folder / ".gitlab-ci.yml").read_text()).values()
        place = self._fresh()
        shutil.copytree(self.folder, place, dirs_exist_ok=True)
        env = {"CI_API_V4_URL": self.url, "CI_PROJECT_ID": "7", "CI_JOB_NAME": "rtqual", "CI_DEFAULT_BRANCH": "main",
               "CI_JOB_TOKEN": _TOKEN, "CI_PROJECT_DIR": str(place)}  # fmt: skip
        env |= {name: str(text).replace("$CI_PROJECT_DIR", str(place)) for name, text in job["variables"].items()}
        env |= {"ACCEPT": "true"} if accept else {}
        env |= {"CI_MERGE_REQUEST_IID": "4", "RTQUAL_COMMENTS": _TOKEN} if event == "merge_request_event" else {}
        steps = [step for step in job["script"] if not step.startswith("apt-get ")]  # which `make test` has installed
        if self.cache:
            shutil.copytree(self.cache, place / ".cache/rtqual", symlinks=True)
        done = self._bash("\n".join(steps), place, env)
        self._bash("\n".join(job["after_script"]), place, env)
        self.cache = place / ".cache/rtqual"
        if done.returncode == 0 and event == "push":
            self.baseline = _zipped(place, [f"{path}/*" for path in job["artifacts"]["paths"]],
                                    [path.replace("**/*", "*") for path in job["artifacts"]["exclude"]])  # fmt: skip
        self.said = done.stdout
        return done.returncode

    def _fresh(self) -> Path:
        number = sum(1 for _ in self.folder.parent.glob("job-*"))
        place = self.folder.parent / f"job-{number}/work"
        place.mkdir(parents=True)
        return place

    def _bash(self, script: str, place: Path, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        kept = {"PATH": os.environ["PATH"], **self.env}
        return subprocess.run(
            command, cwd=place, env=kept | env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(server._get(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if re.search(r"/(4/comments|merge_requests/4/notes)$", self.path):
                    server.comments.append(body["body"])
                else:
                    server.comments[int(self.path.rpartition("/")[2])] = body["body"]
                self._answer(b"{}")

            do_PATCH = do_PUT = do_POST

            def _answer(self, content: bytes | None) -> None:
                self.send_response(404 if content is None else 200)
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _get(self, path: str) -> bytes | None:
        if path.startswith(_ARTIFACTS + "?"):
            return json.dumps({"artifacts": [*self._artefacts()]}).encode()
        if path in (_JOB, "/rtqual-baseline.zip"):
            return self.baseline or None
        if re.search(r"/(comments|notes)\?", path):
            return json.dumps([{"id": n, "body": body} for n, body in enumerate(self.comments)]).encode()
        return None

    def _artefacts(self) -> Iterator[Mapping[str, object]]:
        """A stranger's first, from a fork whose branch has the same name."""
        strange = {"head_branch": "main", "head_repository_id": 8, "repository_id": 7}
        yield {"expired": False, "archive_download_url": f"{self.url}/strange.zip", "workflow_run": strange}
        if self.baseline:
            run = {"head_branch": "main", "head_repository_id": 7, "repository_id": 7}
            yield {"expired": False, "archive_download_url": f"{self.url}/rtqual-baseline.zip", "workflow_run": run}


def _evaluated(text: str, names: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: str(eval(found[1], {}, dict(names))), text)  # noqa: S307 - likewise


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _zipped(folder: Path, wanted: Sequence[str], left_out: Sequence[str]) -> bytes:
    """As servers do: no empty folders, no hidden files, no modes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            is_wanted = _fits(name, wanted) and not _fits(name, left_out)
            if is_wanted and path.is_file() and not path.name.startswith("."):
                archive.write(path, name)
    return held.getvalue()
