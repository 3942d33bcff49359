"""The model de of discoparse, as data; `discoparse.load("de")` finds it."""
