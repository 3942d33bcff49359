"""The network of the paper (Section 3), and how it decides for many sentences at once.

`network` is Sections 3.1 to 3.3; `lockstep` is the transition system for a batch as tensors; `decoder` puts them
together. Nothing here trains: see `discoparse.training`.
"""
