"""``millpond data``: backups, restoring them, and a look at every rule that the data keeps."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from daemon.cli.command_setup import FAILED, PATIENCE_S, loaded, with_process
from daemon.cli.output.table_output import print_json, say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.config import Config
    from daemon.data import BackupContents, DataReport, Flaw, Loss, Manifest
    from daemon.process import Process

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LISTED = 20
"""Sessions, memories or files that are listed for people."""

FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


@click.group()
def data() -> None:
    """Back up, restore and check all stored data."""


@data.command()
@FOLDER
@click.option("--with-config", is_flag=True, help="Include the configuration and its secrets in the backup.")
@click.option(
    "--verify/--no-verify", default=True, help="Restore the backup into a temporary server and compare the data."
)
@click.option(
    "--leave-out",
    multiple=True,
    metavar="NAME",
    help="Omit this damaged session, memory, key or file from the backup. To omit several names, repeat the option.",
)
@JSON
@click.pass_context
def backup(
    ctx: click.Context, folder: Path, *, with_config: bool, verify: bool, leave_out: tuple[str, ...], as_json: bool
) -> None:
    """Write a backup to the new folder FOLDER. Millpond keeps running meanwhile.

    The backup contains the data in Redis, the archive, and the workspaces of the configured bots. The workspaces
    include the bots' memory and received files. The backup contains the configuration only if you add --with-config.

    The exit code is 1 if the backup is incomplete because messages were not found or data could not be read.
    """
    from daemon.data import VerificationResult, back_up
    from daemon.data import verify as verify_backup

    found = loaded(ctx)
    folder = folder.expanduser().absolute()

    async def work(process: "Process") -> tuple[Any, VerificationResult | None]:
        wanted = _wanted(process, found.path if with_config else None, found.config, leave_out)
        done = await back_up(process.bus, wanted, folder, clock=process.clock, tell=_tell(as_json))
        if not verify:
            return done, None
        return done, await verify_backup(folder, server=process.config.redis.server, tell=_tell(as_json))

    done, verified = with_process(ctx, work, makes=False)
    manifest = done.manifest
    if as_json:
        print_json({"folder": str(folder), "manifest": manifest, "verified": verified})
    else:
        tell(
            f"{folder}: {manifest.sessions} sessions with {manifest.messages:,} messages, {manifest.scopes} memories, "
            f"{manifest.files} files ({manifest.file_bytes:,} bytes in total)"
        )
        _say_verified(verified, folder)
    _end(ctx, manifest, verified.losses if verified else manifest.losses)


def _say_verified(verified: Any, folder: Path) -> None:
    if verified is None:
        tell(f"not verified. Run `millpond data verify {folder}` to verify the backup.")
        return
    tell(f"verified by restoring into a temporary server: {verified.records:,} records are identical to the original")
    for flaw in verified.flaws:
        tell(f"inconsistency that was also found in the original database: {_line(flaw)}")


@data.command()
@FOLDER
@JSON
@click.pass_context
def verify(ctx: click.Context, folder: Path, *, as_json: bool) -> None:
    """Restore the backup in FOLDER into a temporary server, and compare the data.

    The exit code is 1 if the backup is incomplete.
    """
    import anyio

    from daemon.data import verify as verify_backup

    config, folder = loaded(ctx).config, folder.expanduser().absolute()
    found = anyio.run(lambda: verify_backup(folder, server=config.redis.server, tell=_tell(as_json)))
    if as_json:
        print_json({"folder": str(folder), "verified": found})
    else:
        _say_verified(found, folder)
    _end(ctx, found.manifest, found.losses)


def _end(ctx: click.Context, manifest: "Manifest", losses: "Sequence[Loss]") -> None:
    """Tell what a backup lacks, on standard error, and exit with 1 if it lacks anything."""
    if manifest.left_out:
        tell(f"left out, as requested: {', '.join(manifest.left_out)}", err=True)
    for kind in sorted({each.kind for each in losses}):
        of_kind = sorted((each for each in losses if each.kind == kind), key=lambda each: -each.count)
        records = "messages" if kind == "messages" else f"entries of the {kind}"
        tell(f"{sum(each.count for each in of_kind):,} {records} are missing from the backup:", err=True)
        _list([f"{each.owner}: {each.count:,}" for each in of_kind])
    if losses:
        tell(
            f"Neither Redis nor the archive in {manifest.archive} contains the missing data. Keep the older backups, "
            "and restore the missing archive files from an older backup.",
            err=True,
        )
    if manifest.damaged:
        tell("The backup does not contain the following data, which cannot be read:", err=True)
        _list([f"{name}: {why}" for name, why in manifest.damaged.items()])
        tell(
            "Keep the older backups. Run `millpond data check` and repair the data, or run the backup again with "
            "`--leave-out NAME` for each of these names.",
            err=True,
        )
    if losses or manifest.damaged:
        ctx.exit(FAILED)


def _list(lines: "Sequence[str]") -> None:
    for line in lines[:LISTED]:
        click.echo(f"  {line}", err=True)
    if len(lines) > LISTED:
        tell(f"  and {len(lines) - LISTED:,} more (`--json` lists all)", err=True)


@data.command()
@FOLDER
@click.option(
    "--partitions",
    type=click.IntRange(1, 16_384),
    help="New number of partitions. Default: the number of partitions in the backup.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Delete the existing data first. Without --replace, the database must be empty.",
)
@click.option("--files/--no-files", default=True, help="Also restore the archive and the workspaces.")
@JSON
@click.pass_context
def restore(
    ctx: click.Context, folder: Path, *, partitions: int | None, replace: bool, files: bool, as_json: bool
) -> None:
    """Restore the database and its files from the backup in FOLDER.

    First stop all processes that use this database. If the restore is interrupted, run the command again.
    """
    import anyio

    from daemon import log
    from daemon.bus import open_bus
    from daemon.config import data_path
    from daemon.data import RestoreResult, RestoreTarget
    from daemon.data import restore as restore_backup
    from daemon.errors import ConfigError

    config, folder = loaded(ctx).config, folder.expanduser().absolute()
    log.configure("warning")
    wanted = config.redis.partitions
    if partitions is not None and wanted not in (None, partitions):
        raise ConfigError(
            f"redis.partitions is {wanted} and --partitions is {partitions}. Set both to the same number of partitions."
        )

    async def work() -> RestoreResult:
        async with open_bus(config.redis, data_path(config), patience_s=PATIENCE_S, restoring=True) as bus:
            target = RestoreTarget(
                workspace_of=lambda bot: _workspace(config, bot),
                archive=_storage(config) if files else None,
                partitions=partitions or wanted,
                replaces=replace,
            )
            return await restore_backup(bus, folder, target, tell=_tell(as_json))

    done = anyio.run(work)
    if as_json:
        print_json(
            {"folder": str(folder), "partitions": done.partitions, "files": done.files, "manifest": done.manifest}
        )
        return
    tell(
        f"restored: {done.manifest.sessions} sessions with {done.manifest.messages:,} messages, {done.manifest.scopes} "
        f"memories, {done.partitions} partitions, {done.files} files"
    )


@data.command()
@click.option(
    "--repair",
    is_flag=True,
    help="Repair all problems that Millpond can repair. Without --repair, problems are only listed.",
)
@click.option("--deep", is_flag=True, help="Also read every archive file and compare its messages with Redis.")
@JSON
@click.pass_context
def check(ctx: click.Context, *, repair: bool, deep: bool, as_json: bool) -> None:
    """Check the stored data against every consistency rule. Millpond keeps running meanwhile.

    The exit code is 1 if a rule is violated.
    """
    from daemon.data import DataCheck

    async def work(process: "Process") -> "DataReport":
        look = DataCheck(process.bus, process.archive, deep=deep, repairs=repair, workspace_of=process.workspace)
        return await look.run()

    found = with_process(ctx, work, makes=False)
    if as_json:
        flaws = [_row(flaw, mended=False) for flaw in found.flaws] + [_row(flaw, mended=True) for flaw in found.mended]
        print_json({"flaws": flaws, "sessions": found.sessions, "scopes": found.scopes, "keys": found.keys})
    else:
        _say_checked(found, repair=repair)
    if found.flaws:
        ctx.exit(FAILED)


def _say_checked(found: "DataReport", *, repair: bool) -> None:
    for flaw in found.flaws:
        say(_line(flaw))
        if flaw.mend is not None and not repair:
            tell(f"  --repair would {flaw.mend.what}")
    for flaw in found.mended:
        say(f"repaired: {_line(flaw)}")
    looked = f"{found.sessions} sessions with {found.messages:,} messages, {found.scopes} memories, {found.keys:,} keys"
    tell(f"{looked}: {len(found.flaws)} problems" if found.flaws else f"{looked}: no problems found")


def _line(flaw: "Flaw") -> str:
    return f"{flaw.rule} {flaw.where}: {flaw.text}"


def _row(flaw: "Flaw", *, mended: bool) -> dict[str, Any]:
    mend = flaw.mend.what if flaw.mend else ""
    return {"rule": flaw.rule, "where": flaw.where, "text": flaw.text, "mend": mend, "mended": mended}


def _tell(as_json: bool) -> "Callable[[str], None]":
    """Tells a person about progress."""

    def tell(line: str) -> None:
        if not as_json:
            click.echo(f"{line} …", err=True)

    return tell


def _wanted(
    process: "Process", config_path: Path | None, config: "Config", leave_out: "Sequence[str]"
) -> "BackupContents":
    from daemon.data import BackupContents

    secrets = frozenset(_secret_files(config))
    own = (config_path, *sorted(secrets)) if config_path is not None else ()
    return BackupContents(
        workspaces={bot: process.workspace(bot) for bot in config.bots},
        archive=process.archive.storage,
        config=tuple(path for path in own if path.is_file()),
        secret=secrets,
        without=frozenset(leave_out),
    )


def _secret_files(config: object) -> "list[Path]":
    """Every file that the configuration names for a secret."""
    import msgspec

    found: list[Path] = []
    if isinstance(config, msgspec.Struct):
        for name in config.__struct_fields__:
            value = getattr(config, name)
            if name.endswith("_file") and isinstance(value, str) and value:
                found.append(Path(value).expanduser().absolute())
            found += _secret_files(value)
    elif isinstance(config, dict):
        found += [path for value in cast("dict[str, object]", config).values() for path in _secret_files(value)]
    elif isinstance(config, tuple):
        found += [path for value in cast("tuple[object, ...]", config) for path in _secret_files(value)]
    return found


def _workspace(config: "Config", bot: str) -> Path:
    """Where a bot's files are put back to; of one that is not configured here, where they lie by default."""
    from daemon.config import data_path

    configured = config.bots[bot].workspace if bot in config.bots else ""
    return Path(configured).expanduser() if configured else data_path(config) / "bots" / bot


def _storage(config: "Config") -> Any:
    from daemon.archive.storage_factory import storage_of
    from daemon.config import data_path

    return storage_of(config.archive, data_path(config))
