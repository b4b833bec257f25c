"""One Settings object, built at the entry points and passed down. The only reader of the environment.

Sources, strongest first: arguments, `ORGMEM_*` variables, `orgmem.toml` in ORGMEM_HOME, defaults.
Unknown keys are errors in each.
"""

import logging
import os
import re
import tomllib
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from orgmem.errors import ConfigurationError

PREFIX = "ORGMEM_"


class Settings(BaseSettings):
    """Every setting, with its default."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    home: Path = Path("~/.orgmem")
    """The folder of all data."""
    tenant: str = Field("default", pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    """Prefix of every table; tenants never see each other."""
    batch_size: int = Field(500, ge=1, le=10_000)
    """Learnings a task run."""
    on_unsafe: Literal["drop", "quarantine"] = "drop"
    """What becomes of an unsafe memory that no redaction can mend. No verb releases a held one yet."""
    policy: Path | None = None
    """File with the gate's policy, relative to ORGMEM_HOME: docs/policy.md."""
    max_row_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    """A staged or imported row over this size is rejected."""
    question_weight: float = Field(0.7, ge=0, le=1)
    """Share of the question's similarity against the answer's."""
    keyword_weight: float = Field(0.6, ge=0, le=1)
    """Share of the keyword score against the vector score. Measured: 0.6 finds most, 0.5 to 0.7 are close."""
    relevance_floor: float = Field(0.35, ge=0, le=1)
    """Least cosine of the nearest question or answer; below, only a memory with all words of the query counts.
    Measured: 324 queries with an answer reach 0.41 at least, those about other things 0.36 as a rule at most."""
    embed_threads: int = Field(1, ge=1, le=64)
    """Threads of the embedder. Two are faster on a machine with nothing else to do, slower on a busy one."""
    tag_boost: float = Field(0.05, ge=0, le=1)
    """Added to the score of a memory whose tags the query names."""
    project_boost: float = Field(0.2, ge=0, le=1)
    """Added to the score of a memory of the asking project."""
    vector_index_rows: int = Field(20_000, ge=256)
    """From this many rows on, maintenance builds vector indices; below, flat search is exact and faster."""
    keep_versions_days: int = Field(7, ge=0)
    """Maintenance deletes table versions older than this."""
    capture: bool = True
    """Off: hooks do nothing. Set it for programs of ours that start an assistant themselves."""
    endpoint: str = ""
    """Where approved learnings go: empty for the staging folder of this home, another one's staging folder,
    or the address of a server: https, or http on this machine."""
    token: SecretStr = SecretStr("")
    """Bearer token for the server."""
    watch: tuple[str, ...] = ()
    """Further memory files, as globs inside a project: `docs/agents/**/*.md`."""
    watch_ignore: tuple[str, ...] = ()
    """Globs inside a project of files that are never looked at."""
    watch_personal: bool = False
    """Watch personal memory, too: the user's own CLAUDE.md and rules, CLAUDE.local.md, auto-memory."""
    watch_outside: bool = False
    """Follow a memory file that is a symlink out of its project."""
    watch_max_bytes: int = Field(1024 * 1024, ge=1)
    """A memory file over this size is skipped, and status says so."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - a repository could plant one
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - part of the signature
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments over variables over the file beside the data; no dotenv: a repository could plant one."""
        toml = _home_of(init_settings) / "orgmem.toml"
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml)

    @property
    def root(self) -> Path:
        """The tenant's folder."""
        return self.home / self.tenant

    @property
    def policy_file(self) -> Path | None:
        """The gate's policy; a relative path is meant from `home`, since any repository could plant one."""
        return self.home / self.policy if self.policy else None

    @property
    def staging(self) -> Path:
        """Where learnings wait for ingest."""
        return self.root / "staging"

    @property
    def lake(self) -> Path:
        """Parquet of learnings, hunks, sightings, rejects and dispositions."""
        return self.root / "lake"

    @property
    def tables(self) -> Path:
        """LanceDB."""
        return self.root / "tables"

    @property
    def journal(self) -> Path:
        """Batches on their way through the stages; empty when nothing runs."""
        return self.root / "journal"

    @property
    def snapshot_file(self) -> Path:
        """The published DuckDB snapshot."""
        return self.root / "snapshot.duckdb"

    @property
    def capture_folder(self) -> Path:
        """The Contributor Client's own: spool, database, outbox. One for all tenants of this home."""
        return self.home / "capture"

    @property
    def locks(self) -> Path:
        """Lock files."""
        return self.root / "locks"

    @classmethod
    def load(cls, **overrides: object) -> Self:
        """Settings from every source, or a one-line ConfigurationError that names key and problem."""
        _refuse_unknown_variables()
        try:
            settings = cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ConfigurationError(
                f"setting {key!r}: {first['msg']}",
                f"set {PREFIX}{key.upper()} or mend orgmem.toml in ORGMEM_HOME",
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"orgmem.toml is not TOML: {error}", "mend orgmem.toml in ORGMEM_HOME"
            ) from error
        return settings.model_copy(update={"home": _usable(settings.home)})


def _usable(home: Path) -> Path:
    """The home as an absolute path.

    Raises:
        ConfigurationError: it is empty, an address, or has characters that mean something in stores' addresses.
    """
    text = str(home)
    if text == "." or re.match(r"[a-z0-9+]+:/", text) or re.search(r"[?#%]", text) or not text.isprintable():
        raise ConfigurationError(
            f"ORGMEM_HOME {text!r} can't be used: no address, none of ? # %, no control characters",
            "set ORGMEM_HOME to a local folder",
        )
    try:
        return home.expanduser().absolute()
    except RuntimeError as error:
        raise ConfigurationError(f"ORGMEM_HOME {text!r}: {error}", "set ORGMEM_HOME to a local folder") from error


def ensure_home(settings: Settings) -> None:
    """Make the folder of all data, for its owner only; one that is there keeps its rights."""
    settings.home.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        settings.home.mkdir(mode=0o700)


def _home_of(init_settings: PydanticBaseSettingsSource) -> Path:
    given = init_settings().get("home") or os.environ.get(f"{PREFIX}HOME") or Settings.model_fields["home"].default
    return _usable(Path(str(given)))


def _refuse_unknown_variables() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise ConfigurationError(f"unknown setting {name}", f"unset {name}; README lists every setting")


def quiet_libraries(settings: Settings) -> None:
    """Point every library's state below ORGMEM_HOME and switch its telemetry off.

    Must run before prefect, dlt or great_expectations is imported; a value the user has set stays.
    """
    values = {
        "PREFECT_HOME": str(settings.home / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_CLI_CHECK_FOR_UPDATES": "false",
        "DO_NOT_TRACK": "1",
        "RUNTIME__DLTHUB_TELEMETRY": "false",
        "RUNTIME__LOG_LEVEL": "CRITICAL",
        "DLT_DATA_DIR": str(settings.home / "dlt"),
        # dlt would read .dlt/config.toml and secrets.toml of whatever folder the user stands in.
        "DLT_PROJECT_DIR": str(settings.home / "dlt"),
        "GX_ANALYTICS_ENABLED": "false",
        "ORT_DISABLE_TELEMETRY": "1",  # else onnxruntime queues events for its maker below ~/.cache
        "FASTMCP_CHECK_FOR_UPDATES": "off",
        "TOKENIZERS_PARALLELISM": "false",
        # What libraries start with `python -m` must not import from the user's current folder.
        "PYTHONSAFEPATH": "1",
        # A failed run is one line of ours; the full story is in Prefect's own log.
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    }
    for name, value in values.items():
        os.environ.setdefault(name, value)
    # Prefect makes its folder when it is imported, or says that it can't; a verb that writes says so itself.
    warnings.filterwarnings("ignore", message="Failed to create the Prefect home directory")
    # A log handler that fails (Prefect's, on a full disk) keeps quiet: what failed is said once, by us.
    logging.raiseExceptions = False


def has_prefect_server() -> bool:
    """Whether the user has told Prefect where its server is, by variable or by profile."""
    told = {"PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"} & set(os.environ)
    return bool(told) or (prefect_home() / "profiles.toml").exists()


def prefect_home() -> Path:
    """Prefect's folder, as `quiet_libraries` or the user has set it."""
    return Path(os.environ["PREFECT_HOME"]).expanduser()


def use_prefect_server(url: str) -> None:
    """Tell Prefect, in this process and its children, where its server is: `http://host:port/api`."""
    os.environ["PREFECT_API_URL"] = url
    os.environ.update({"PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1", "PREFECT_UI_ENABLED": "0"})
