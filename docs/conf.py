"""Configuration of the documentation site: ``sphinx-build -W docs site`` (see CONTRIBUTING.md)."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from myst_parser.parsers.sphinx_ import MystParser

import slanted
from slanted.cli import COMMANDS
from slanted.cli import slanted as command_line

sys.path.insert(0, str(Path(__file__).parent))
from notebook_pages import as_markdown

project = "slanted"
copyright = "the slanted developers, BSD-3-Clause"
version = release = slanted.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["**.ipynb_checkpoints"]
nitpicky = False  # types of other libraries have no link targets here

myst_heading_anchors = 4  # the same anchors as on GitHub
myst_links_external_new_tab = False

default_role = "py:obj"  # `Result` in a docstring becomes a link
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
napoleon_use_param = False  # types of dataclass fields are not valid reStructuredText
napoleon_use_rtype = False

# The site downloads nothing: furo ships its own style and uses no web fonts.
html_theme = "furo"
html_title = f"slanted {version}"
html_copy_source = False
html_show_sphinx = False


class Commands(Directive):
    """The help text of every command."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each command."""
        return [node for name in COMMANDS for node in self._section(name)]

    def _section(self, name: str) -> list[nodes.Node]:
        context = click.Context(command_line, info_name="slanted", terminal_width=96)
        command = command_line.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name, terminal_width=96)
        title = f"slanted {name}"
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        text = command.get_help(inner).strip()
        section += [nodes.title(title, title), nodes.literal_block(text, text, language="text")]
        return [section]


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown that it becomes when it runs."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Run the notebook in a folder of its own, because it may write files, and read it."""
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = as_markdown(inputstring)
        super().parse(text, document)


def setup(app: Any) -> None:
    """Register the directive and the notebooks."""
    app.add_directive("commands", Commands)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
