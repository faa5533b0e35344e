"""A headless chromium over its DevTools pipe: file descriptors 3 and 4 and JSON, so that nothing need be installed."""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

PATIENCE = 90

# Puts our two ends of the pipes where the browser looks for them.
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """One page of one browser; `with Chromium() as page: page.open(url); page.run("1 + 1")`."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        commands, self.out = os.pipe()
        self.answers, answers = os.pipe()
        options = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "--no-first-run"]
        options += ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--mute-audio"]
        # More than 200 links within ten seconds would not be followed.
        options += ["--disable-ipc-flooding-protection"]
        options += ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no sandbox to give
        launch = [sys.executable, "-c", LAUNCH, str(commands), str(answers), PROGRAM, *options, "about:blank"]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(launch, pass_fds=(commands, answers), stdout=quiet, stderr=quiet)
        for end in (commands, answers):
            os.close(end)
        self.rest = b""
        self.events: list[dict[str, Any]] = []
        self.count = 0
        self.session = ""
        try:
            self.attach()
        except BaseException:
            self.__exit__()
            raise

    def attach(self) -> None:
        """Speak to the one page that is open."""
        targets = self.send("Target.getTargets")["targetInfos"]
        target = next(info["targetId"] for info in targets if info["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        self.session = ""
        try:
            self.send("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        for end in (self.out, self.answers):
            os.close(end)
        self.profile.cleanup()

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer; what else arrives is kept in `events`."""
        self.count += 1
        message: dict[str, Any] = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while (answer := self.receive()).get("id") != self.count:
            if "id" not in answer:  # else the late answer to a call that was given up
                self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer["result"])

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], PATIENCE)
            if not ready:
                raise TimeoutError(f"chromium has been silent for {PATIENCE} seconds.")
            chunk = os.read(self.answers, 1 << 16)
            if not chunk:
                raise EOFError("chromium has gone.")
            self.rest += chunk
        first, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(first))

    def open(self, url: str) -> None:
        """Load a page and wait until it stands."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is awaited."""
        reply = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors, warnings and uncaught exceptions since the page was opened."""
        self.send("Runtime.evaluate", expression="0")
        said = [event for event in self.events if event["method"] == "Runtime.exceptionThrown"]
        said += [event for event in self.events if event["method"] == "Log.entryAdded"]
        return [json.dumps(event["params"]) for event in said]

    def requests(self) -> list[str]:
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]
