"""Studies behind numbers that the package ships or the documentation prints; README.md names the command of each."""
