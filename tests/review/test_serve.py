import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from proponent.review import Decisions
from proponent.review._serve import _bound, _has_screen

SERVER = """
import sys
sys.path.insert(0, {tests!r})
from review_toys import make_items
from proponent.review import serve
serve(make_items(), {path!r}, open_browser=False, tell=lambda address: print(address, flush=True))
print("ended", flush=True)
"""


@pytest.fixture
def server(tmp_path, request):
    code = SERVER.format(tests=str(request.path.parent), path=str(tmp_path / "review.sqlite"))
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield running
    running.kill()
    running.communicate()


def ask(address, method="GET", path=None, cookie="", body=None, origin=None):
    parts = urlsplit(address)
    headers = {"Cookie": cookie} if cookie else {}
    if body is not None:
        headers |= {"Content-Type": "application/json", "Origin": origin or f"http://{parts.netloc}"}
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    with closing(connection):
        connection.request(method, path or f"{parts.path}?{parts.query}", body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def test_it_serves_until_it_is_interrupted(server, tmp_path):
    address = server.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
    status, headers, page = ask(address)
    assert status == 200
    assert b"<!doctype html>" in page
    assert "server" not in {name.lower() for name in headers}
    cookie = headers["set-cookie"].split(";")[0]
    assert ask(address, path="/api/state")[0] == 401
    body = '{"i": 2, "verdict": "discard"}'
    assert ask(address, "POST", "/api/decide", cookie, body)[0] == 200
    assert ask(address, "POST", "/api/decide", cookie, body, "http://evil.example")[0] == 403
    held = http.client.HTTPConnection(*urlsplit(address).netloc.split(":"))  # a browser keeps its connection
    held.request("GET", "/api/state", headers={"Cookie": cookie})
    assert held.getresponse().status == 200
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=30)
    held.close()
    assert (out, err, server.returncode) == ("ended\n", "", 0)
    with closing(Decisions(tmp_path / "review.sqlite")) as decisions:
        assert decisions.current() == {"photos/002.png": "discard"}


def test_it_listens_on_loopback_alone(server):
    address = server.stdout.readline()
    with socket.socket() as other:
        other.settimeout(5)
        # Another address of this machine.
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            other.connect((_own_address(), urlsplit(address).port))


def _own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no other address")
        address = probe.getsockname()[0]
    if address.startswith("127."):
        pytest.skip("this machine has no other address")
    return address


def test_a_killed_server_is_taken_up(server, tmp_path):
    address = server.stdout.readline().strip()
    cookie = ask(address)[1]["set-cookie"].split(";")[0]
    for i in range(5):
        assert ask(address, "POST", "/api/decide", cookie, f'{{"i": {i}, "verdict": "keep"}}')[0] == 200
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    with closing(Decisions(tmp_path / "review.sqlite")) as decisions:
        assert len(decisions.current()) == 5


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=rf"can't be served at 127\.0\.0\.1, port {port}: .*Name another"):
            _bound("127.0.0.1", port)


def test_without_the_packages_it_says_what_to_install():
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from proponent.review import serve\n"
        "try:\n    serve(None, 'nowhere')\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "The review page needs uvicorn. Install it with `pip install 'proponent[review]'`.\n"
    )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="where a screen is told by a variable")
def test_a_screen_is_told_by_its_variable(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not _has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert _has_screen()


def test_a_browser_gets_a_ticket_not_the_token(tmp_path, request):
    """A browser that writes its arguments down stands for the person's; it may ask once."""
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > "{tmp_path}/asked.part"\nmv "{tmp_path}/asked.part" "{tmp_path}/asked"\n'
    )
    browser.chmod(0o755)
    code = SERVER.format(tests=str(request.path.parent), path=str(tmp_path / "review.sqlite"))
    running = subprocess.Popen(
        [sys.executable, "-c", code.replace("open_browser=False", "open_browser=True")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"DISPLAY": ":0", "BROWSER": f"{browser} %s"},
    )
    try:
        address = running.stdout.readline().strip()
        for _ in range(200):
            if (tmp_path / "asked").exists():
                break
            time.sleep(0.05)
        asked = (tmp_path / "asked").read_text().strip()
        assert asked.split("?")[0] == address.split("?")[0]
        assert asked != address
        assert ask(asked)[0] == 200
        assert ask(asked)[0] == 401
        assert ask(address)[0] == ask(address)[0] == 200
    finally:
        running.kill()
        running.communicate()
