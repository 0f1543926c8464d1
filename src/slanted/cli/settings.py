"""``slanted settings``: every setting, with its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.cli import options
from slanted.cli.help import new_command
from slanted.cli.terminal import say

if TYPE_CHECKING:
    from slanted.settings import Settings


@new_command(name="settings", short_help="List every setting with its meaning.")
@options.settings
def command(settings: Settings) -> None:
    """Print all settings as TOML with their documentation, ready for --settings FILE."""
    for line in settings.to_toml(documented=True).splitlines():
        say(line)
