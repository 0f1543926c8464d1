"""The package index's page: the README with links that lead out of the package index.

GitHub resolves the README's relative links by itself; a package index does not. When a package is
built, this hook gives it a README in which they name the repository of ``[project.urls]``, at the
tag of the version. The file in the repository stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

README = "README.md"
CODE = re.compile(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
TARGETS = (
    re.compile(r"(?<=\]\()()([^)\s]+)"),  # [text](target) and ![text](target)
    re.compile(r"(?<=\]: )()(\S+)"),  # [name]: target
    re.compile(r"""\b((?:href|src|srcset)=["'])([^"']+)"""),  # HTML, for widths and dark pictures
)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class PackagePage(MetadataHookInterface):
    """Sets the package's long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README, with links to the sources of this version."""
        text = (Path(self.root) / README).read_text("utf-8")
        version = metadata["version"]
        tag = "main" if "dev" in version else f"v{version}"
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, metadata["urls"]["Repository"], tag),
        }


def with_absolute_links(text: str, repository: str, tag: str) -> str:
    """Return Markdown with relative links made absolute, outside code."""
    parts = CODE.split(text)
    for pattern in TARGETS:
        parts[::2] = [
            pattern.sub(lambda found: found[1] + absolute(found[2], repository, tag), part)
            for part in parts[::2]
        ]
    return "".join(parts)


def absolute(target: str, repository: str, tag: str) -> str:
    """Return where a link of the README leads: a page of the repository, or a picture's file."""
    if SCHEME.match(target):
        return target
    if target.startswith("#"):  # the package index gives headings other names
        target = README + target
    path = target.removeprefix("./")
    kind = "raw" if path.lower().endswith(PICTURES) else "blob"
    return f"{repository}/{kind}/{tag}/{path}"
