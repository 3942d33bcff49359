"""The model nl of discoparse, as data; `discoparse.load("nl")` finds it."""
