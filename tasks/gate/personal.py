"""Personal: data of persons is masked, and names of internal machines get a caveat.

A mailbox of a team or a role is nobody's. Whether a person's name may be shared is not ours to know, so a name
counts beside an address or a mention only.
"""

import re

from orgmem.text.personal import find_personal_spans
from orgmem.text.views import views
from schemas.verdict import Status
from tasks.gate.hit import Hit

HINT = "Masked. It tells of one person; a memory does without."
INTERNAL = "It names a machine of an internal network; check that all readers may know of it."
_INTERNAL_HOST = re.compile(
    r"(?i)(?<![\w.-])(?!host\.docker\.|gateway\.docker\.|metadata\.google\.)"
    r"(?:[a-z0-9][a-z0-9-]{0,62}\.){1,5}(?:corp|intranet|internal)(?![\w-]|\.\w|\()"
    r"|(?<=://)(?:[a-z0-9][a-z0-9-]{0,62}\.){1,5}(?:lan|local|home\.arpa)(?![\w-]|\.\w)"
    r"|(?<=[\w]@)(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?!\d)"
)


def find_personal(text: str) -> tuple[Hit, ...]:
    """The kinds of personal data in the text, each once, and whether it names an internal machine."""
    seen = {span.rule: span.view for span in reversed(find_personal_spans(text))}
    hits = [Hit(rule, HINT, view, Status.SAFE_WITH_CAVEATS) for rule, view in sorted(seen.items())]
    named = next((view.name for view in views(text) if _INTERNAL_HOST.search(view.text)), None)
    if named:
        hits.append(Hit("internal-host", INTERNAL, named, Status.SAFE_WITH_CAVEATS))
    return tuple(hits)
