# SPDX-License-Identifier: MIT OR Apache-2.0
"""A chromium without a window, driven by the DevTools protocol over two pipes: a
page is opened, scripts are run in it, and what it says is read.

    with Browser() as browser:
        browser.open("file:///tmp/page.html")
        browser.wait("document.title === 'ready'")
        title = browser.ask("document.title")
        browser.complaints   # errors of the page, and what its console says of them
"""
import atexit
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_S = 120 * int(os.environ.get("PATIENCE", "1"))  # a hang becomes a failure with a name


def browser_path():
    return next((path for path in map(shutil.which, NAMES) if path), None)


def browser_profile():
    """A folder for what it keeps, until the test is over. Not the test's own: sockets are in it, whose paths must be short."""
    path = tempfile.mkdtemp(prefix="heapwake-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


class Browser:
    """One browser with one page. Messages are JSON that ends with a zero byte: ours go
    to its descriptor 3, its own come from its descriptor 4."""

    def __init__(self, *options):
        self.complaints, self.number, self.rest = [], 0, b""
        theirs_in, self.to = os.pipe()
        self.of, theirs_out = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"', "sh", browser_path(), "--headless",
             "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--remote-debugging-pipe",
             "--allow-file-access-from-files", "--window-size=1280,800",
             f"--user-data-dir={browser_profile()}", *options, "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")
        # A dialog would wait for somebody to press its button.
        self.send("Page.addScriptToEvaluateOnNewDocument", source="window.alert = (text) => console.error(text)")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)

    def read_message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.of], [], [], max(0, until - time.monotonic()))[0]:
                raise SystemExit("The browser does not answer.")
            more = os.read(self.of, 1 << 16)
            if not more:
                raise SystemExit("The browser is gone.")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, **params):
        """Sends a command and returns its result; notes what the page complains of meanwhile."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.read_message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer.get("method"), answer.get("params"))

    def note(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])

    def open(self, address):
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def ask(self, script):
        """The value of an expression (or of the promise that it is) in the page."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise SystemExit(f"In the page: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, script):
        until = time.monotonic() + TIMEOUT_S
        while not self.ask(script):
            if time.monotonic() > until:
                raise SystemExit(f"The page never comes to {script}; it says {self.complaints}.")
            time.sleep(0.05)

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
