"""Linguistic changes to trees, one concern a module; every transform takes a tree and returns a new one."""
