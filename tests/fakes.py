"""Hand-written stand-ins for what tests must not have: models, clocks, vendors."""
