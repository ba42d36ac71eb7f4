"""The command line with a face: a page on this machine for those who have no terminal.

The page runs the commands that a user would type, each in a process of its own, and shows them.
Nothing is served to other machines, and nothing is asked of them.
"""
