"""The peers of PyPI, tuned, beside `RobustSCNRegressor()` on its defaults; see command.py."""
