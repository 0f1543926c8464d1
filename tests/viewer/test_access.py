"""Nobody gets in without the token, on any route and in any way of asking."""

import asyncio
import re
import subprocess
import sys

import pytest

from slanted.viewer.access import Access, Keys
from slanted.viewer.responses import ASSETS
from slanted.viewer.serve import address_of
from viewer.client import TOKEN, Client, served
from viewer.waiting import PATIENCE
from viewer.worlds import estimated, scene, session

FRAME = "/api/frames/0-0"
PATHS = (
    *("/", "/api/state", FRAME, f"{FRAME}/tiles/image/0/0/0", f"{FRAME}/textures/image"),
    *(f"{FRAME}/pixels/3/4", f"{FRAME}/cloud?points=9", f"{FRAME}/mesh", "/nothing"),
    *(f"{FRAME}/exports/cloud.ply", *(f"/assets/{name}" for name in ASSETS)),
)


@pytest.fixture(scope="module")
def client():
    with served(session()) as found:
        yield found


@pytest.fixture
def stranger(client):
    return Client(client.port, None)


def cookie_of(client, token=TOKEN):
    return {"Cookie": f"slanted-token-{client.port}={token}"}


@pytest.mark.parametrize("path", PATHS)
def test_every_route_needs_the_token(client, stranger, path):
    refused = stranger.get(path)
    assert refused.status_code == 403
    assert refused.text.startswith("the token is missing or wrong: open the whole address that")
    assert len(refused.text.splitlines()) == 1
    assert refused.headers["cache-control"] == "no-store"
    assert TOKEN not in refused.text + str(refused.headers)
    assert client.get(path).status_code == (404 if path == "/nothing" else 200)


def test_nothing_is_started_or_stopped_without_it(client, stranger):
    for path in ("/api/run", "/api/cancel", "/api/run?replace=true"):
        assert stranger.post(path, {"segmentation.count": 20}).status_code == 403
    assert client.get("/api/state").json()["job"]["number"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {TOKEN}"},
        {"Authorization": f"bearer  {TOKEN}"},
        {"Authorization": f"token {TOKEN}"},
    ],
)
def test_scripts_send_it_as_a_header(stranger, headers):
    assert stranger.get("/api/state", headers).status_code == 200
    assert stranger.get(f"/api/state?token={TOKEN}").status_code == 200


@pytest.mark.parametrize(
    "wrong", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ä", "\xff"]
)
def test_another_token_is_refused(client, stranger, wrong):
    for headers in (
        {"Authorization": f"Bearer {wrong}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        cookie_of(client, wrong),
        {"Cookie": f"slanted-token={TOKEN}"},
        {"Cookie": f"slanted-token-{client.port + 1}={TOKEN}"},
    ):
        assert stranger.get("/api/state", headers).status_code == 403
    assert stranger.get("/?token=" + wrong.encode().hex()).status_code == 403


def test_the_address_becomes_a_cookie_and_is_left(client, stranger):
    answer = stranger.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "./")
    assert answer.headers["cache-control"] == "no-store"
    pair, *rest = answer.headers["set-cookie"].split("; ")
    assert pair == f"slanted-token-{client.port}={TOKEN}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(rest)
    for cookies in (pair, f"other=1; {pair}", f"slanted-token-1=x;{pair}; more=2"):
        assert stranger.get("/", {"Cookie": cookies}).status_code == 200


def test_a_link_of_another_page_gets_its_cookie_by_a_refresh(stranger):
    """Browsers leave strict cookies out of a redirect that began at another page."""
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = stranger.get(f"/?token={TOKEN}", {**link, "Sec-Fetch-Dest": "document"})
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=./")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert answer.content == b""


def test_other_pages_are_refused_even_with_it(client):
    assert client.get("/api/state", {"Origin": "http://evil.example"}).status_code == 403
    assert client.get("/api/state", {"Host": "evil.example"}).status_code == 403


def test_without_a_token_everybody_is_let_in():
    with served(session(), token=None) as client:
        assert client.get("/").status_code == 200
        assert client.get("/api/state").status_code == 200


def test_the_page_and_the_state_do_not_tell_the_token(client):
    for path in ("/", "/api/state", FRAME, "/nothing"):
        answer = client.get(path)
        assert TOKEN not in answer.text + str(answer.headers)


def test_the_key_of_a_browser_works_once():
    keys = Keys()
    once = keys.make_single_use()
    assert len({once, keys.token, Keys().token}) == 3
    assert len(keys.token) >= 40
    assert not keys.fits("")
    assert keys.fits(once)
    assert not keys.fits(once)
    assert keys.fits(keys.token)
    assert keys.fits(keys.token)
    assert keys.fits(keys.make_single_use())


def test_other_kinds_of_connection_are_refused():
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b""}
    asyncio.run(Access(None, Keys())(scope, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_addresses_have_the_key_in_them():
    assert address_of("127.0.0.1", 9, "abc") == "http://127.0.0.1:9/?token=abc"
    assert address_of("::1", 9, "abc") == "http://[::1]:9/?token=abc"


@pytest.mark.parametrize("options", [[], ["--no-token"]])
def test_the_command_asks_for_a_token_of_its_own(tmp_path, options):
    estimated()[0].save(tmp_path / "out", scene().left, scene().right)
    command = [sys.executable, "-m", "slanted", "view", "out", "--no-browser", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--quiet", *options], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        port, token = re.search(
            r"http://127\.0\.0\.1:(\d+)/(?:\?token=(\S{40,}))?", server.stdout.readline()
        ).groups()
        assert Client(int(port), None).get("/").status_code == (200 if options else 403)
        assert (token is None) == bool(options)
        assert Client(int(port), token).get("/").status_code == 200
    finally:
        server.terminate()
        server.wait(PATIENCE)
        server.stdout.close()
