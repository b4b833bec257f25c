"""One owner module for each storage format. Nothing else opens them."""
