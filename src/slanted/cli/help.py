"""The help of commands, in groups and with one name an option, and suggestions for wrong names."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

import click

from slanted.errors import did_you_mean

FIRST, MORE = "Options", "More options"
"""The first and the last group of options in the help."""

EVERY_SETTING = (
    "Every setting is an option as well, as in --matching.method sgbm; `slanted settings` lists "
    "them all."
)


class Option(click.Option):
    """An option in a group of the help, which shows one name however many there are.

    `group` is the heading, and `shown` the name if it is not the first one.
    """

    def __init__(self, *args: Any, group: str = FIRST, shown: str = "", **named: Any) -> None:
        super().__init__(*args, **named)
        self.group = group
        self.others: list[str] = []
        if shown:
            self.others = [name for name in self.opts if name != shown]
            self.opts = [shown]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Accept all names; help and errors mention only those in `opts`."""
        shown, self.opts = self.opts, [*self.opts, *self.others]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


class SuggestsNames(click.Command):
    """A command that answers an unknown option with the nearest one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = [
                name
                for option in self.get_params(ctx)
                if isinstance(option, click.Option)
                for name in (*option.opts, *option.secondary_opts)
            ]
            otherwise = f"`{ctx.command_path} --help` lists all"
            hint = did_you_mean(error.option_name, known, otherwise, cutoff=0.6)  # dashes are alike
            raise click.UsageError(f"No such option: {error.option_name}{hint}", ctx) from None


class Command(SuggestsNames):
    """A command whose help lists its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups: the first, others in the order of their options, then the rest."""
        groups: dict[str, list[tuple[str, str]]] = {FIRST: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(param, "group", FIRST), []).append(record)
        for heading in sorted(groups, key=lambda group: group == MORE):
            with formatter.section(heading):
                formatter.write_dl(groups[heading])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to reach the settings that are not listed."""
        if any(isinstance(param, Option) and param.hidden for param in self.params):
            formatter.write_paragraph()
            formatter.write_text(EVERY_SETTING)


class RecordedCommand(Command):
    """A command that keeps its arguments as typed, for the files that it writes."""

    ARGUMENTS = f"{__name__}.arguments"
    """Where they are in the meta data of the context."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments, then parse them."""
        ctx.meta[self.ARGUMENTS] = shlex.join(["slanted", self.name or "", *args])
        return super().parse_args(ctx, args)


option = partial(click.option, cls=Option)
new_command = partial(click.command, cls=Command)
