"""The folder of a service: `holdfast.toml`, the ledgers with their secrets, and who may ask.

Every ledger in it is a data set that is served, by its name, and so is every ledger in a database
that the settings name: no data set is in two lists. It is for its owner alone.
"""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.data.database import DatabaseUrl, is_database_url
from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.secret import SECRET_BYTES
from holdfast.ledger.side_files import sync_folder, write_new
from holdfast.ledger.store import home_of
from holdfast.service.logs import LOG_FORMATS, LOG_LEVELS, LogFormat, LogLevel

if TYPE_CHECKING:
    from holdfast.certificate.signing import SigningKey

NAME_RULE = (
    "1 to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FIRST_LINES = """\
# Settings of `holdfast serve`; every ledger in this folder is a data set that is served.
[service]
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """What `holdfast.toml` may say under [service].

    Answers are released at steps of time that do not depend on the data: `release_step` seconds
    after the request, or twice, four times, ... that; 0 turns it off. `patience` is how long a
    request waits for another program that holds the ledger. A request may have `largest_request`
    bytes, one with a list of values `largest_list`, one with a file `largest_column`, and so many
    may wait for a data set as `most_waiting` says. Certificates are signed for `person` and
    `organisation`. A log of `log_level` info has a line for every request. When told to stop, the
    service has `graceful_timeout` seconds for what it is doing. Of what `trusted_proxies`
    (addresses or networks) say of those who sent a request through them, the last is believed.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1
    release_step: float = 0.05
    patience: float = 10.0
    largest_request: int = 262_144
    largest_list: int = 8_388_608
    largest_column: int = 67_108_864
    most_waiting: int = 1_000
    person: str = ""
    organisation: str = ""
    log_level: LogLevel = "warning"
    log_format: LogFormat = "text"
    graceful_timeout: float = 8.0
    trusted_proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require.text("host", self.host)
        for name in ("person", "organisation"):
            if getattr(self, name):
                require.text(name, getattr(self, name))
        object.__setattr__(self, "trusted_proxies", _networks(self.trusted_proxies))
        require.integer_between("port", self.port, 0, 65_535)
        require.integer_between("workers", self.workers, 1, 64)
        require.between("release_step", self.release_step, 0.0, 60.0)
        require.between("patience", self.patience, 0.0, 3600.0)
        require.one_of("log_level", LOG_LEVELS, self.log_level)
        require.one_of("log_format", LOG_FORMATS, self.log_format)
        require.between("graceful_timeout", self.graceful_timeout, 1.0, 3600.0)
        for name in ("largest_request", "largest_list", "largest_column", "most_waiting"):
            require.positive_integer(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is served, or will be; `elsewhere` are addresses of ledgers, by their names."""

    path: Path
    elsewhere: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def create(cls, path: Path) -> Folder:
        """The folder, made if it is not there: with a secret of its own, and settings to edit."""
        folder = cls(Path(os.path.abspath(path)))
        try:
            folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.path.chmod(0o700)
            for file, content in (
                (folder._secret_file, secrets.token_bytes(SECRET_BYTES)),
                (folder._settings_file, _FIRST_LINES.encode()),
            ):
                with suppress(FileExistsError):
                    write_new(file, content)
            sync_folder(folder.path)
        except OSError as error:
            raise LedgerUnavailable(
                f"the folder {str(path)!r} cannot be used ({error}); choose another one."
            ) from error
        return cls(folder.path, folder._named_elsewhere())

    @property
    def secret(self) -> bytes:
        """What keys the hashes of tokens and the cookies of sessions."""
        return self._secret_file.read_bytes()

    def signing_key(self, settings: Settings) -> SigningKey:
        """What signs the certificates of the service, with the names that the settings say."""
        from holdfast.certificate.signing import SigningKey

        key = SigningKey.create(self.path / "service.key")
        return replace(key, person=settings.person, organisation=settings.organisation)

    @property
    def tokens(self) -> Path:
        """The file of those who may ask."""
        return self.path / "service.tokens"

    @property
    def names(self) -> list[str]:
        """The data sets that are served."""
        here = [path.stem for path in self.path.glob("*.ledger") if path.is_file()]
        return sorted(name for name in (*here, *self.elsewhere) if _NAME.fullmatch(name))

    def serves(self, name: str) -> bool:
        """Whether there is a data set of this name."""
        file = f"{self.path}/{name}.ledger"  # every request asks: a Path takes ten times as long
        here = _NAME.fullmatch(name) is not None and os.path.isfile(file)
        return here or name in self.elsewhere

    def ledger(self, name: str) -> Path:
        """The ledger of a data set that is kept here, which may not be there yet."""
        return self.path / f"{require_name(name)}.ledger"

    def home(self, name: str) -> LedgerHome:
        """The ledger of a data set, here or elsewhere."""
        return home_of(self.elsewhere.get(name) or self.ledger(name))

    def settings(self, **options: Any) -> Settings:
        """What `holdfast.toml` says, unless `options` say otherwise."""
        stated = {name: value for name, value in options.items() if value is not None}
        return Settings(**{**self._written("service"), **stated})

    def _named_elsewhere(self) -> dict[str, str]:
        """What `holdfast.toml` says under [ledgers]; no name is that of a ledger of the folder."""
        named = self._written("ledgers")
        for name, address in named.items():
            if self.ledger(name).exists():
                raise InvalidArgument(
                    f"holdfast.toml names a ledger {name!r}, and {name}.ledger is in the folder; "
                    "give one of them another name."
                )
            if not is_database_url(address) or DatabaseUrl.read(name, address).open_secret:
                raise InvalidArgument(
                    f"holdfast.toml names a ledger {name!r}; its address must be as "
                    "postgresql://USER@HOST/DATABASE?ledger=NAME, with the password left to "
                    "~/.pgpass or PGPASSWORD."
                )
            home_of(address)
        return named

    def _written(self, part: str) -> dict[str, Any]:
        try:
            body = tomllib.loads(self._settings_file.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidArgument(f"holdfast.toml cannot be read: {error}.") from None
        names = [field.name for field in fields(Settings)]
        parts = {"service": body.pop("service", {}), "ledgers": body.pop("ledgers", {})}
        unknown = sorted([*body, *(parts["service"].keys() - set(names))])
        if unknown:
            raise InvalidArgument(
                f"holdfast.toml says {', '.join(unknown)}; under [service] it may say "
                f"{', '.join(names)}, and under [ledgers] the addresses of ledgers in databases."
            )
        return dict(parts[part])

    @property
    def _settings_file(self) -> Path:
        return self.path / "holdfast.toml"

    @property
    def _secret_file(self) -> Path:
        return self.path / "service.secret"


def _networks(text: Any) -> tuple[str, ...]:
    """Addresses and networks, as they are compared with where a request comes from."""
    if not isinstance(text, list | tuple) or not all(isinstance(each, str) for each in text):
        raise InvalidArgument(
            f"trusted_proxies is {text!r}; it must be a list of addresses or networks, as "
            '["127.0.0.1", "10.0.0.0/8"].'
        )
    try:
        return tuple(str(ip_network(each, strict=False)) for each in text)
    except ValueError as error:
        raise InvalidArgument(
            f"trusted_proxies is {list(text)!r}: {error}; name addresses or networks."
        ) from None


def require_name(name: str) -> str:
    """A name that is the same in addresses, files and on the command line."""
    if not _NAME.fullmatch(name):
        raise InvalidArgument(f"the name is {name[:100]!r}; it must be {NAME_RULE}.")
    return name
