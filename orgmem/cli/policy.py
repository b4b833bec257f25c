"""The gate's policy of today, for the verbs that judge."""

from typing import TYPE_CHECKING

from orgmem.cli.console import remark
from orgmem.settings import Settings

if TYPE_CHECKING:
    from tasks.gate.policy import Policy


def todays_policy(settings: Settings) -> "Policy":
    """The policy; exceptions that no longer hold are said on stderr.

    Raises:
        ConfigurationError: the file can't be read, or says something that a policy can't.
    """
    from orgmem.identity import now
    from tasks.gate.policy import policy_of

    policy, expired = policy_of(settings, now().date())
    for line in expired:
        remark(line)
    return policy
