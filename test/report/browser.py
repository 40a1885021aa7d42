"""A headless Chromium that opens reports: what they ask for, what they say on their console, what is drawn."""
import base64
import json
import os
import shutil
import subprocess


def chromium():
    """Its program, or None."""
    return os.environ.get("PONDAGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """Speaks the DevTools protocol over two pipes; one page."""

    def __init__(self, program, folder):
        to_browser, self.sending = os.pipe()
        self.receiving, from_browser = os.pipe()
        # Numbers above 4, so that neither overwrites the other.
        high = [os.dup(fd) for fd in (to_browser, from_browser)]
        while min(high) < 10:
            high = [os.dup(fd) for fd in high]
        to_browser, from_browser = high
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}"],
            preexec_fn=lambda: (os.dup2(to_browser, 3), os.dup2(from_browser, 4)), pass_fds=(3, 4),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.buffer, self.next_id, self.events, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.receiving, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def await_event(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def open(self, url, width):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url="about:blank")
        self.events.clear()
        self.ask("Page.navigate", url=url)
        self.await_event("Page.loadEventFired")
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self, path):
        height = self.value("Math.ceil(document.documentElement.scrollHeight)")
        width = self.value("innerWidth")
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=30)


def troubles(browser, page):
    """What must not happen: requests other than the page itself and data:, console messages, exceptions."""
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != page and not url.startswith("data:"):
                yield f"request to {url}"
        elif method == "Runtime.consoleAPICalled":
            yield f"console: {params['args']}"
        elif method == "Runtime.exceptionThrown":
            yield f"exception: {params['exceptionDetails']}"
        elif method == "Log.entryAdded":
            yield f"log: {params['entry']['text']}"


# A canvas counts as drawn when it holds more than one colour.
DRAWN = """[...document.querySelectorAll('canvas')].map(c => {
  const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  const seen = new Set();
  for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 0) seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]);
  return seen.size;
})"""


# Of each chart, which runs' colours are seen in it: a curve is drawn when its colour is there.
CURVES = """[...document.querySelectorAll('canvas')].map(c => {
  const near = (a, b) => Math.abs(a - b) < 3;
  const style = getComputedStyle(document.documentElement);
  const wanted = [...Array(6).keys()].map(i => style.getPropertyValue(`--run${i}`).trim())
    .map(hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)));
  const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  const seen = wanted.map(() => 0);
  for (let i = 0; i < p.length; i += 4) {
    if (p[i + 3] < 255) continue;
    wanted.forEach((rgb, run) => { if (near(p[i], rgb[0]) && near(p[i + 1], rgb[1]) && near(p[i + 2], rgb[2])) ++seen[run]; });
  }
  return [...seen.keys()].filter(run => seen[run] > 40);  // a letter's smooth edge may have the colour of one
})"""


def faults_of(browser, path, look, width, runs, picture=None):
    """Opens the page and gives what is wrong with how it looks, and its headline. `runs`: how many it shows."""
    url = path.resolve().as_uri()
    browser.open(f"{url}#{look}", width)
    faults = list(troubles(browser, url))
    drawn, curves = browser.value(DRAWN), browser.value(CURVES)
    if len(drawn) != 3 or min(drawn) < 3:
        faults.append(f"charts drawn: {drawn}")
    # The curve of one run may hide another's behind it, not all of them.
    if any(not seen or max(seen) >= runs for seen in curves) or (runs > 1 and len(curves[0]) < 2):
        faults.append(f"curves drawn, of {runs} runs: {curves}")
    headline = browser.value("document.getElementById('headline').textContent")
    chinese = any("\u4e00" <= c <= "\u9fff" for c in headline)
    if chinese != ("lang=zh" in look):
        faults.append(f"headline in the wrong language: {headline}")
    text = browser.value("document.body.innerText")
    for bad in ("undefined", "NaN", "{"):
        if bad in text:
            faults.append(f"the page says {bad!r}")
    # Nothing may stick out sideways: the table scrolls in its own box.
    if browser.value("document.documentElement.scrollWidth > innerWidth"):
        faults.append("the page is wider than its window")
    if picture:
        browser.picture(picture)
    return faults, headline
