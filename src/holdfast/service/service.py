"""What a worker of the service holds: the folder, who may ask, and the data sets."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.service.folder import Folder, Settings
from holdfast.service.metrics import Metrics
from holdfast.service.pacing import Attempts
from holdfast.service.problems import rejection
from holdfast.service.served import Served
from holdfast.service.tokens import Token, TokenStore

__all__ = ["Service"]

_MOST_FAILURES, _MOST_FROM_ONE_PLACE = 10, 100
_WINDOW = 60.0  # seconds


@dataclass(slots=True)
class Service:
    """One worker. Data sets are found in the folder when they are asked for."""

    folder: Folder
    settings: Settings
    tokens: TokenStore
    metrics: Metrics = field(default_factory=Metrics)
    failures: Attempts = field(
        default_factory=lambda: Attempts(_MOST_FAILURES, _WINDOW, time.monotonic)
    )
    strangers: Attempts = field(
        default_factory=lambda: Attempts(_MOST_FROM_ONE_PLACE, _WINDOW, time.monotonic)
    )
    _served: dict[str, Served] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, path: Path, settings: Settings | None = None) -> Service:
        """The service of a folder."""
        folder = Folder.made(path)
        return cls(folder, settings or folder.settings(), TokenStore(folder.tokens, folder.secret))

    def names_for(self, token: Token) -> list[str]:
        """The data sets that a token is for."""
        return [name for name in self.folder.names if token.allows(name)]

    def served(self, name: str, token: Token) -> Served:
        """A data set, for whoever may know of it."""
        if not token.allows(name):
            raise rejection(403, f"the token is for the data set {token.dataset!r} alone.")
        if not self.folder.serves(name):
            raise rejection(404, "there is no data set of this name.")
        with self._guard:  # requests that find nobody serving it yet come in several threads
            if name not in self._served:
                settings = self.settings
                self._served[name] = Served(
                    name,
                    self.folder.home(name),
                    patience=settings.patience,
                    most_waiting=settings.most_waiting,
                )
            return self._served[name]

    def require_scope(self, token: Token, dataset: str | None) -> None:
        """Refuse tokens for more data sets than one's own, or for none that there is."""
        if token.dataset not in (None, dataset):
            raise rejection(403, f"the token is for the data set {token.dataset!r} alone.")
        if dataset is not None and not self.folder.serves(dataset):
            raise rejection(404, "there is no data set of this name.")

    def verified(self, text: str, client: str) -> Token:
        """Who shows a token; guessing is limited, by place and by the token that is guessed."""
        guessed = f"{client} {text[:19]}"  # hf_ and the ID
        for attempts, who in ((self.failures, guessed), (self.strangers, client)):
            wait = attempts.wait(who)
            if wait is not None:
                raise rejection(429, "too many tokens were wrong.", int(wait) + 1)
        token = self.tokens.verify(text)
        if token is None:
            self.failures.fail(guessed)
            self.strangers.fail(client)
            raise rejection(401, "the token is unknown, expired or revoked.")
        return token

    def close(self) -> None:
        """Finish what is being asked, and let go of all files."""
        for served in self._served.values():
            served.close()
        self.tokens.close()
