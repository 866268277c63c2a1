"""P(y | x) directly: losses say what a row adds, solvers never see a row."""
