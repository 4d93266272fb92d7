from contextlib import closing

import pytest
from review_toys import make_items
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from proponent.review import Decisions
from proponent.review._app import create_app
from proponent.review._review import Review
from proponent.review._security import Access

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
EVERY_ADDRESS = [
    "/",
    "/static/app.js",
    "/thumb/0",
    "/full/0",
    "/export/csv",
    "/api/state",
    "/api/queue",
    "/api/grid",
    "/api/sample/0",
    "/api/summary",
    "/nothing",
]


@pytest.fixture
def access():
    return Access()


@pytest.fixture
def app(access, tmp_path):
    with closing(Decisions(tmp_path / "review.sqlite")) as decisions:
        yield create_app(Review(make_items(), decisions), access)


@pytest.fixture
def stranger(app):
    return TestClient(app, base_url=ORIGIN)


@pytest.fixture
def page(app, access):
    return TestClient(app, base_url=ORIGIN, cookies={access.cookie: access.token})


def discard(client, **headers):
    return client.post("/api/decide", json={"i": 0, "verdict": "discard"}, headers=headers)


def test_the_token_becomes_a_cookie(stranger, access):
    answer = stranger.get("/", params={"token": access.token})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert cookie == f"{access.cookie}={access.token}; Path=/; HttpOnly; SameSite=Strict"
    assert stranger.get("/api/state").status_code == 200
    assert stranger.get("/").status_code == 200
    assert "set-cookie" not in stranger.get("/").headers


def test_a_ticket_is_good_once(app, access):
    ticket = access.ticket()
    first, second = TestClient(app, base_url=ORIGIN), TestClient(app, base_url=ORIGIN)
    assert first.get("/", params={"token": ticket}).status_code == 200
    assert second.get("/", params={"token": ticket}).status_code == 401
    assert first.get("/api/state").status_code == 200
    assert access.token not in ticket


def test_tokens_differ():
    assert len({Access().token for _ in range(20)}) == 20
    assert len(Access().token) >= 43


@pytest.mark.parametrize("address", EVERY_ADDRESS)
def test_nothing_is_answered_without_the_token(stranger, address):
    answer = stranger.get(address)
    assert answer.status_code == 401
    assert answer.text == "This needs the token. Open the address that `proponent review` printed."
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "x", "é\x00", "x" * 60_000])
def test_wrong_tokens_are_refused(stranger, access, token):
    assert stranger.get("/", params={"token": token}).status_code == 401
    assert stranger.get("/", params={"token": access.token + token + "y"}).status_code == 401
    assert stranger.get("/", params={"token": [access.token, token or "x"]}).status_code == 401
    assert stranger.get("/api/state", params={"token": access.token}).status_code == 401


def test_a_flood_of_fields_is_no_token(stranger, access):
    assert stranger.get(f"/?token={access.token}" + "&a=1" * 200).status_code == 401


@pytest.mark.parametrize("value", ["{token}x", "x", "", '"', "{token}; x=1; {cookie}=y", "é"])
def test_wrong_cookies_are_refused(stranger, access, value):
    cookie = f"{access.cookie}={value.format(token=access.token, cookie=access.cookie)}"
    assert stranger.get("/api/state", headers={"cookie": cookie.encode()}).status_code == 401
    assert stranger.get("/api/state", headers={"cookie": f"other={access.token}"}).status_code == 401


def test_odd_cookies_of_others_do_no_harm(stranger, access):
    cookie = f'a=b"c; [x]=1; {access.cookie}={access.token}; =; bad name=é'
    assert stranger.get("/api/state", headers={"cookie": cookie.encode()}).status_code == 200


@pytest.mark.parametrize("host", [HOST, "127.0.0.1", "localhost:9000", "LOCALHOST:1", "[::1]:8000"])
def test_this_machine_has_several_names(page, host):
    assert page.get("/api/state", headers={"host": host}).status_code == 200
    assert discard(page, host=host, origin=f"http://{host}").status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example:8000",
        "localhost.evil.example",
        "evil.example@127.0.0.1.x",
        "192.168.0.7:8000",
        "0.0.0.0:8000",
        "",
        "[",
        "[::1",
    ],
)
@pytest.mark.parametrize("address", EVERY_ADDRESS)
def test_foreign_hosts_are_refused(page, access, address, host):
    answer = page.get(address, params={"token": access.token}, headers={"host": host})
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers


def test_two_hosts_are_refused(page):
    headers = [("host", HOST), ("host", "evil.example")]
    assert page.get("/api/state", headers=headers).status_code == 421


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:9999",
        "http://localhost:8000",
        f"https://{HOST}",
        HOST,
    ],
)
def test_foreign_origins_are_refused(page, origin):
    assert discard(page, origin=origin).status_code == 403
    assert page.get("/api/state", headers={"origin": origin}).status_code == 403
    assert page.get("/api/state").json()["seq"] == 0


def test_a_change_without_an_origin_is_refused(page):
    assert discard(page).status_code == 403


def test_two_origins_are_refused(page):
    headers = [("origin", ORIGIN), ("origin", "http://evil.example")]
    assert page.post("/api/undo", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_what_a_browser_says_is_foreign_is_refused(page, site):
    assert page.get("/thumb/0", headers={"sec-fetch-site": site}).status_code == 403
    assert (
        page.get("/api/state", headers={"sec-fetch-site": site, "sec-fetch-mode": "navigate"}).status_code
        == 403
    )
    assert page.get("/", headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert discard(page, **{"origin": ORIGIN, "sec-fetch-site": site}).status_code == 403


def test_a_link_from_elsewhere_opens_the_page(stranger, access):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert stranger.get("/", params={"token": access.token}, headers=headers).status_code == 200
    assert stranger.post("/", params={"token": access.token}, headers=headers).status_code == 403


@pytest.mark.parametrize("address", EVERY_ADDRESS)
@pytest.mark.parametrize("who", ["page", "stranger"])
def test_every_answer_has_the_headers(request, who, address):
    headers = request.getfixturevalue(who).get(address).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy
    assert "'unsafe-eval'" not in policy
    assert "script-src 'self';" in policy or "sandbox" in policy
    assert "access-control-allow-origin" not in headers


def test_what_is_private_is_not_stored(page):
    assert page.get("/api/state").headers["cache-control"] == "no-store"
    assert page.get("/export/csv").headers["cache-control"] == "no-store"


def test_there_are_no_web_sockets(page):
    with pytest.raises(WebSocketDisconnect), page.websocket_connect("/"):
        pass


def test_other_protocols_pass_through(app):
    with TestClient(app):  # which sends the start and the end of a lifespan
        pass


def test_a_page_that_is_open_to_the_network_goes_by_number_and_name(tmp_path):
    access = Access(hosts=("server.example",), any_address=True)
    with closing(Decisions(tmp_path / "review.sqlite")) as decisions:
        page = TestClient(
            create_app(Review(make_items(), decisions), access), cookies={access.cookie: access.token}
        )
        for host in ("192.168.0.7:8000", "[fe80::1]:8000", "server.example", "localhost"):
            assert page.get("/api/state", headers={"host": host}).status_code == 200
        assert page.get("/api/state", headers={"host": "evil.example"}).status_code == 421
