"""What status may say of a fault: its kind and place, never the text of a file. Standard library only."""

OURS = f"{__package__.partition('.')[0]}."


def reason_of(error: BaseException) -> str:
    """One line: what the system or we ourselves said, else the kind of error and where in our code it arose."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    said = getattr(error, "message", None), getattr(error, "hint", None)
    if _is_ours(error) and isinstance(said[0], str):
        return f"{said[0]}; next: {said[1]}" if said[1] else said[0]
    return f"a mistake of ours: {type(error).__name__}{_place_of(error)}"


def is_storable(text: str) -> bool:
    """Whether the database can hold a text: one with lone surrogates has no UTF-8."""
    return text.isascii() or text == storable(text)


def storable(text: str) -> str:
    """The text with a question mark for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()


def _is_ours(error: BaseException) -> bool:
    return type(error).__module__.startswith(OURS)


def _place_of(error: BaseException) -> str:
    """Innermost place of ours."""
    place, trace = "", error.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "")
        if str(module).startswith(OURS):
            place = f" at {code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
