"""A Hub on this machine: the few answers of its HTTP interface that a download needs."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class FakeHub:
    """What is published, what goes wrong, and what was asked for.

    Attributes:
        files: the content of a repository's files, by (repository, revision).
        gated: repositories whose files nobody may have.
        broken: HTTP status instead of a file's content, by file.
        cuts: after how many bytes the connection ends, once, by file.
        fetched: the files that were sent, or begun, with the byte they started at.
        asked: paths of all requests.
    """

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.broken: dict[str, int] = {}
        self.cuts: dict[str, int] = {}
        self.fetched: list[tuple[str, int]] = []
        self.asked: list[str] = []

    def publish(self, repository: str, files: dict[str, bytes], revision: str = "main") -> None:
        self.files[repository, revision] = files
        self.files[repository, commit(repository, revision)] = files


def commit(repository: str, revision: str) -> str:
    """The commit that a branch or tag of a fake repository stands for."""
    return revision if re.fullmatch("[0-9a-f]{40}", revision) else (repository + revision).encode().hex()[:40].ljust(40, "0")


def _oid(name: str, content: bytes) -> str:
    return sha256(name.encode() + content).hexdigest()


@contextmanager
def serving(hub: FakeHub) -> Iterator[str]:
    """Serves a hub on 127.0.0.1; yields its address."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.asked.append(path)
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        repository, revision = (api[1], api[3] or "main") if api else (file[1], file[2]) if file else ("", "")
        if not any(name == repository for name, _ in self.hub.files):
            self._answer(404, error="RepoNotFound")
        elif (repository, revision) not in self.hub.files:
            self._answer(404, error="RevisionNotFound")
        elif file and repository in self.hub.gated:
            self._answer(403, error="GatedRepo")
        elif file:
            self._file(file[3], self.hub.files[repository, revision][file[3]], commit(repository, revision))
        else:
            files = self.hub.files[repository, revision]
            if api and api[2] == "tree":
                found: object = [
                    {"type": "file", "path": n, "size": len(c), "oid": f"{hash((n, c)):x}"} for n, c in files.items()
                ]
            else:
                siblings = [{"rfilename": n, "size": len(c), "blobId": "0"} for n, c in files.items()]
                found = {"id": repository, "sha": commit(repository, revision), "siblings": siblings}
            self._answer(200, json.dumps(found).encode(), {"Content-Type": "application/json"})

    def _file(self, name: str, content: bytes, sha: str) -> None:
        headers = {"X-Repo-Commit": sha, "ETag": f'"{_oid(name, content)}"', "Accept-Ranges": "bytes"}
        if self.command == "HEAD":
            self._answer(200, content, headers)
        elif name in self.hub.broken:
            self._answer(self.hub.broken[name])
        else:
            start = int((self.headers["Range"] or "bytes=0-")[6:].rstrip("-"))
            self.hub.fetched.append((name, start))
            self._answer(206 if start else 200, content[start:], headers, self.hub.cuts.pop(name, None))

    def _answer(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, cut: int | None = None, error: str = ""
    ) -> None:
        self.send_response(status)
        for name, value in ({"X-Error-Code": error} if error else headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True
