"""The network in C++ for CPUs: the same decisions as PyTorch's, in half the time.

`native` is the C++, `library` finds what the build made of it, `network` passes parameters and arrays, `limits`
constraints, and `decoder` turns sentences into decisions and beliefs. None of it imports PyTorch. Where the library is
missing (no compiler at installation, an unknown system), PyTorch does the same.
"""
