"""Other pages are kept out, whatever they call themselves."""

import pytest

from slanted.viewer.guard import Guard, allowed_hosts


def request(**headers):
    pairs = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return {"type": "http", "method": "GET", "path": "/", "headers": pairs}


GUARD = Guard(None, allowed_hosts("127.0.0.1", 8650))
OWN = "127.0.0.1:8650"
LINK = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}


@pytest.mark.parametrize(
    "headers",
    [
        {"host": OWN},
        {"host": "localhost:8650"},
        {"host": "LOCALHOST:8650"},
        {"host": "[::1]:8650"},
        {"host": OWN, "origin": f"http://{OWN}"},
        {
            "host": "localhost:8650",
            "origin": "http://localhost:8650",
            "sec_fetch_site": "same-origin",
        },
        {"host": OWN, "sec_fetch_site": "none"},
        {"host": OWN, **LINK},
    ],
)
def test_its_own_pages_are_answered(headers):
    assert GUARD.problem(request(**headers)) is None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "evil.example"},
        {"host": "evil.example:8650"},  # a name that was pointed at 127.0.0.1
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8651"},
        {"host": f"{OWN}.evil.example"},
        {"host": OWN, "origin": "http://evil.example"},
        {"host": OWN, "origin": "null"},
        {"host": OWN, "origin": f"file://{OWN}"},
        {"host": OWN, "origin": "http://localhost:8651"},
        {"host": OWN, "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"host": OWN, "sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
        {"host": OWN, **LINK, "sec_fetch_dest": "iframe"},
        {"host": OWN, **LINK, "sec_fetch_dest": "object"},
    ],
)
def test_others_are_refused(headers):
    assert GUARD.problem(request(**headers))


def test_two_hosts_in_one_request_are_refused():
    scope = request(host=OWN)
    scope["headers"].append((b"host", b"evil.example"))
    assert GUARD.problem(scope)


def test_a_form_of_another_page_cannot_be_sent():
    assert GUARD.problem({**request(host=OWN, **LINK), "method": "POST"})


@pytest.mark.parametrize("path", ["/api/state", "/api/frames/0-0/exports/mesh.glb", "/assets/x"])
def test_links_of_others_lead_to_the_page_only(path):
    assert GUARD.problem({**request(host=OWN, **LINK), "path": path})


def test_names_can_be_allowed():
    hosts = allowed_hosts("0.0.0.0", 80, ["box.lab", "other.lab:9000"])
    assert {"box.lab", "box.lab:80", "other.lab:9000", "127.0.0.1", "localhost:80"} <= hosts
    assert "other.lab" not in hosts
    assert "0.0.0.0:80" not in hosts
    assert "[fe80::1]:7" in allowed_hosts("fe80::1", 7)
