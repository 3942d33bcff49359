"""The model en of discoparse, as data; `discoparse.load("en")` finds it."""
