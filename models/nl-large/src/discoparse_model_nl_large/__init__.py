"""The model nl-large of discoparse, as data; `discoparse.load("nl-large")` finds it."""
