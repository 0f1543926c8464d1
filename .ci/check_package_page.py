"""Render the page that a package index will show, and check where its links lead.

python .ci/check_package_page.py dist/*.whl dist/*.tar.gz

A link that is relative leads nowhere there. One into our repository must name the tag of the
version, and a file that is there.
"""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]


class Links(HTMLParser):
    """Collects where the links and pictures of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the targets of a tag, and its name."""
        self.names |= {f"#{value}" for name, value in attrs if name == "id"}
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def metadata_of(package: Path) -> bytes:
    """Return the metadata of a wheel or of a source archive."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
            return wheel.read(name)
    with tarfile.open(package) as archive:
        (member,) = (m for m in archive if m.name.count("/") == 1 and m.name.endswith("/PKG-INFO"))
        file = archive.extractfile(member)
        assert file is not None
        return file.read()


def links_of(metadata: bytes) -> list[str]:
    """Return the links of the page, rendered as the package index does."""
    from readme_renderer.markdown import render

    page = render(message_from_bytes(metadata).get_payload(decode=True).decode("utf-8"))
    if page is None:
        return ["(the description cannot be rendered)"]
    links = Links()
    links.feed(page)
    return [link for link in links.found if link not in links.names]  # headings link to themselves


def problems(links: list[str], repository: str, tag: str, root: Path = ROOT) -> list[str]:
    """Return a sentence for each link that leads nowhere."""
    found = [] if links else ["the page has no links"]
    for link in links:
        path = urlsplit(link).path
        if not urlsplit(link).scheme:
            found.append(f"{link}: expected an absolute link; hatch_build.py makes them")
        elif link.startswith(f"{repository}/"):
            kind, _, rest = path.removeprefix(urlsplit(repository).path + "/").partition("/")
            in_tree = rest.removeprefix(f"{tag}/")
            if kind in ("blob", "raw") and (in_tree == rest or not (root / in_tree).exists()):
                found.append(f"{link}: expected a file that is there at {tag}")
    return found


def main(packages: list[Path]) -> int:
    """Print what was found; return 1 if a link leads nowhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    failed = False
    for package in packages:
        metadata = metadata_of(package)
        version = message_from_bytes(metadata)["Version"]
        tag = "main" if "dev" in version else f"v{version}"
        links = links_of(metadata)
        wrong = problems(links, project["urls"]["Repository"], tag)
        failed = failed or bool(wrong)
        lines = [f"error: {package.name}: {line}" for line in wrong]
        summary = f"{package.name}: {len(links)} links, all absolute, into {tag}"
        sys.stdout.write("\n".join(lines or [summary]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
