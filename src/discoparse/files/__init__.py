"""Files and streams, replaced atomically; what a measurement was made with; how wide text is."""
