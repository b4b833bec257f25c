"""The one error tree. A message says what failed and on what value; the hint is the next command to run."""

from typing import ClassVar


class OrgmemError(Exception):
    """Anything a user can be told in one line. `code` names the kind, `exit_code` follows CONTRACT."""

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(OrgmemError):
    """The call's words are off."""

    code = "usage"
    exit_code = 2


class NotFoundError(OrgmemError):
    """What was asked for by name or id is not there."""

    code = "not_found"
    exit_code = 3


class ConfigurationError(OrgmemError):
    """A setting is unknown, missing or of the wrong shape."""

    code = "configuration"
    exit_code = 4


class InputError(OrgmemError):
    """A file or a row can't be read as what it should be."""

    code = "bad_input"


class StoreError(OrgmemError):
    """A store can't be opened, read or written."""

    code = "store"


class BusyError(OrgmemError):
    """Another process holds the lock."""

    code = "busy"


class IntegrityError(OrgmemError):
    """A shipped or stored file is not what its checksum says."""

    code = "integrity"
