"""Contract suites for designs, methods, stores and engines; plug-ins import them too."""
