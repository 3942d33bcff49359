"""The model is of discoparse, as data; `discoparse.load("is")` finds it."""
