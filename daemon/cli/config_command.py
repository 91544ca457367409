"""``millpond config``: show the configuration in force, or check it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import translated
from daemon.cli.output.table_output import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.config import LoadedConfig

EX_CONFIG = 78
"""Exit code of a wrong configuration (``sysexits.h``)."""


@click.group("config")
def config() -> None:
    """Show or check the configuration."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON: file, values, sources, warnings.")
@click.option("--defaults", is_flag=True, help="Also print the configuration keys that are not set.")
@click.pass_context
def show(ctx: click.Context, *, as_json: bool, defaults: bool) -> None:
    """Print the current configuration and the source of each value. Secrets are shown as asterisks."""
    # Imported here: the help of every command would wait for it.
    import msgspec

    from daemon.config import config_output as showing
    from daemon.config import load

    loaded = _loaded(ctx, load)
    if not as_json:
        click.echo(showing.toml(loaded, defaults=defaults), nl=False)
        return
    content = {
        "file": str(loaded.path) if loaded.path else None,
        "values": showing.values(loaded, defaults=defaults),
        "sources": loaded.sources,
        "warnings": loaded.warnings,
    }
    click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))


@config.command()
@click.pass_context
def check(ctx: click.Context) -> None:
    """Check the configuration. If the configuration has errors, list them and exit with code 78."""
    from daemon.cli.preflight import missing_programs, usable
    from daemon.config.config_keys import readable

    loaded = _loaded(ctx, usable)
    tell(
        f"ok: {readable(str(loaded.path))}"
        if loaded.path
        else "ok: no configuration file was found, so only defaults and environment variables are used"
    )
    for warning in (*loaded.warnings, *(f"{each.path}: {each.text}" for each in missing_programs(loaded.config))):
        tell(f"warning: {warning}")


def _loaded(ctx: click.Context, load: "Callable[[Path | None], LoadedConfig]") -> "LoadedConfig":
    from daemon.errors import ConfigError

    path: Path | None = getattr(ctx.obj, "config_path", None)
    try:
        return load(path)
    except ConfigError as error:
        click.echo(f"millpond: {translated(str(error))}", err=True)
        ctx.exit(EX_CONFIG)
