"""The Contributor Client: notices edits of memory files, asks once, and delivers what was approved."""
